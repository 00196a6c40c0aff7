"""Quotas: of a queue, which Kueue counts, and of a namespace, which the API server counts; with the sum done."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Doing, Text, Words

_WHO: tuple[Doing, Doing] = (
    ("See what holds it", "aiarts jobs --phase running"),
    ("查看谁在占用", "aiarts jobs --phase running"),
)
_QUEUES: tuple[Doing, Doing] = (("See the queues", "aiarts queues"), ("查看队列", "aiarts queues"))
_ADMIN: tuple[Doing, Doing] = (("Ask the admin of the cluster", None), ("联系集群管理员", None))
_KEYS = {
    "devices": ("cards per node", "每个节点的卡数"),
    "memory_gb": ("GB of memory", "GB 内存"),
    "cpu": ("CPUs", "CPU"),
}


def _text(en: tuple[str, str], zh: tuple[str, str], *doings: tuple[Doing, Doing]) -> Text:
    return Text(Words(*en, tuple(one for one, _ in doings)), Words(*zh, tuple(one for _, one in doings)))


def _with_change(name: str, en: tuple[str, str], zh: tuple[str, str], *doings: tuple[Doing, Doing]) -> dict[str, Text]:
    """The same words with the change of each key that would make it fit, and without one."""
    found = {name: _text(en, zh, *doings)}
    for key, (what, what_zh) in _KEYS.items():
        value = {key: f"{{{key}}}"}
        fix = ((f"Ask for at most {{{key}}} {what}", value), (f"最多申请 {{{key}}}（{what_zh}）", value))
        found[f"{name}-{key}"] = _text(en, zh, fix, *doings)
    return found


TEXTS = {
    "queue-busy": _text(
        (
            "The quota of the queue is in use",
            "{missing} more of {resource} ({flavor}) must come free; then it starts by itself.",
        ),
        ("队列的配额正在使用中", "还需空出 {missing} 的 {resource}（{flavor}），之后会自动启动。"),
        _QUEUES,
        _WHO,
    ),
    **_with_change(
        "queue-too-small",
        (
            "The queue can never hold it",
            "It asks for {asked} of {resource} in all, and the queue has at most {most} ({flavor}).",
        ),
        ("该队列永远放不下它", "共申请 {asked} 的 {resource}，而队列最多只有 {most}（{flavor}）。"),
        _QUEUES,
    ),
    "queue-lacks": _text(
        ("The queue gives out no {resource}", "No part of it has a quota for that."),
        ("该队列不提供 {resource}", "其中没有任何部分有该资源的配额。"),
        (
            ("Choose a queue that has it", "aiarts edit {job} queue=OTHER"),
            ("选择有该资源的队列", "aiarts edit {job} queue=OTHER"),
        ),
        _QUEUES,
    ),
    "queue-other-nodes": _text(
        ("The queue is for other nodes", "No part of it leads to nodes of the kind that this job asks for."),
        ("该队列对应其他节点", "其中没有任何部分对应该任务所要求的节点类型。"),
        (
            ("Choose a queue for this device", "aiarts edit {job} queue=OTHER"),
            ("选择对应该设备的队列", "aiarts edit {job} queue=OTHER"),
        ),
        _QUEUES,
    ),
    "queue-lost-race": _text(
        (
            "Another job was quicker",
            "There was room, and another job took it in the same round. Kueue tries this one again.",
        ),
        ("被其他任务抢先", "本来有空闲，但同一轮中被其他任务占用。Kueue 会再次尝试。"),
        _QUEUES,
    ),
    "queue-waits-start": _text(
        (
            "The queue waits for a job before it to start",
            "There may be quota, but Kueue lets the next job go only when all pods of those before it are up.",
        ),
        ("队列在等待前面的任务启动", "可能有配额，但 Kueue 要等前面任务的所有容器组就绪后才放行下一个。"),
        (
            ("See what is starting", "aiarts jobs --phase starting"),
            ("查看正在启动的任务", "aiarts jobs --phase starting"),
        ),
    ),
    "queue-preempting": _text(
        (
            "Its place is being made",
            "Kueue has asked jobs of lower priority to end; it starts as soon as they have.",
        ),
        ("正在为它腾出位置", "Kueue 已请求低优先级的任务结束；它们结束后即启动。"),
        _QUEUES,
    ),
    "queue-untried": _text(
        (
            "Waiting in the queue {queue}",
            "Kueue has not tried it yet: others are before it, or it has only just come.",
        ),
        ("在队列 {queue} 中等待", "Kueue 尚未尝试启动它：前面还有其他任务，或它刚刚提交。"),
        _QUEUES,
    ),
    "workload-off": _text(
        (
            "Kueue was told not to start it",
            "Its workload was switched off: by somebody, or by Kueue after too many tries.",
        ),
        ("Kueue 被告知不要启动它", "它的 Workload 已被停用：由某人停用，或 Kueue 多次尝试后停用。"),
        (("Stop it and run it again", "aiarts stop {job}"), ("停止后重新运行", "aiarts stop {job}")),
        _ADMIN,
    ),
    "queue-not-for-namespace": _text(
        (
            "The queue is not for this namespace",
            "The cluster queue behind {queue} takes jobs of other namespaces only.",
        ),
        ("该队列不面向此命名空间", "{queue} 背后的集群队列只接收其他命名空间的任务。"),
        (
            ("Choose another queue", "aiarts edit {job} queue=OTHER"),
            ("选择其他队列", "aiarts edit {job} queue=OTHER"),
        ),
        _ADMIN,
    ),
    "queue-stopped": _text(
        (
            "An admin has stopped the queue {queue}",
            "Jobs that ran were taken back; it starts again from its own checkpoint when the queue opens. That is not "
            "counted as a restart.",
        ),
        ("管理员已停用队列 {queue}", "运行中的任务被收回；队列重新开放后从自己的检查点继续，不计入重启次数。"),
        _ADMIN,
        (
            ("Or choose another queue", "aiarts edit {job} queue=OTHER"),
            ("或选择其他队列", "aiarts edit {job} queue=OTHER"),
        ),
    ),
    "queue-missing": _text(
        ("There is no queue {queue}", "The namespace has no queue of this name."),
        ("没有队列 {queue}", "该命名空间中没有这个名称的队列。"),
        (
            ("Choose one that is there", "aiarts edit {job} queue=OTHER"),
            ("选择已有的队列", "aiarts edit {job} queue=OTHER"),
        ),
        _QUEUES,
    ),
    "queue-unconnected": _text(
        ("The queue {queue} leads nowhere", "The cluster queue behind it does not exist."),
        ("队列 {queue} 没有去处", "它背后的集群队列不存在。"),
        (
            ("Choose another queue", "aiarts edit {job} queue=OTHER"),
            ("选择其他队列", "aiarts edit {job} queue=OTHER"),
        ),
        _ADMIN,
    ),
    "queue-off": _text(
        (
            "The queue {queue} takes no jobs now",
            "It, or the cluster queue behind it, is switched off or not complete. Jobs in it keep their places.",
        ),
        ("队列 {queue} 目前不接收任务", "它或其背后的集群队列已停用或配置不完整。其中的任务保留排位。"),
        (
            ("Choose another queue", "aiarts edit {job} queue=OTHER"),
            ("选择其他队列", "aiarts edit {job} queue=OTHER"),
        ),
        _ADMIN,
    ),
    "not-ready-in-time": _text(
        (
            "The queue took it back: it did not start in time",
            "It was let go, and not all of its pods were up within the time that Kueue allows (image, storage, or no "
            "node). Kueue tries again by itself.",
        ),
        (
            "未能及时启动，被队列收回",
            "放行后，容器组未在 Kueue 允许的时间内全部就绪（镜像、存储或没有节点）。Kueue 会自动重试。",
        ),
        (
            ("See what its pods waited for", "kubectl get events --sort-by=.lastTimestamp"),
            ("查看容器组在等待什么", "kubectl get events --sort-by=.lastTimestamp"),
        ),
    ),
    "queue-evicted": _text(
        ("The queue took it back", "Kueue ended it, and lets it go again when it may."),
        ("被队列收回", "Kueue 结束了它，条件允许时会再次放行。"),
        _QUEUES,
    ),
    **_with_change(
        "namespace-quota",
        (
            "The namespace has not enough quota left",
            "It asks for {asked} of {resource}; the quota {quota} has {most}, {used} are in use, so {left} are left.",
        ),
        ("命名空间的剩余配额不足", "申请 {asked} 的 {resource}；配额 {quota} 共 {most}，已用 {used}，剩余 {left}。"),
        _WHO,
    ),
    **_with_change(
        "namespace-quota-small",
        (
            "The quota of the namespace can never hold it",
            "It asks for {asked} of {resource}, and the quota {quota} has {most} in all ({used} in use, {left} left).",
        ),
        (
            "命名空间的配额永远不够",
            "申请 {asked} 的 {resource}，而配额 {quota} 总共只有 {most}（已用 {used}，剩余 {left}）。",
        ),
        _ADMIN,
    ),
    "namespace-quota-used": _text(
        (
            "The quota of the namespace is used up",
            "It asks for {asked} of {resource}; all of the {most} of the quota {quota} are in use. It starts when that "
            "much is free again.",
        ),
        ("命名空间的配额已用完", "申请 {asked} 的 {resource}；配额 {quota} 的 {most} 已全部使用。释放后即可启动。"),
        _WHO,
    ),
}
