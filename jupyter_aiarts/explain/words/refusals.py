"""Rules of a cluster that refuse a job, and rights that are missing."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Doing, Text, Words

_BIND = "kubectl create rolebinding aiarts-user-{user} --role=aiarts-user --user={user} -n {namespace}"
_CHANGES: dict[str, tuple[Doing, Doing]] = {
    "memory_gb": (
        ("Set memory_gb to {memory_gb}", {"memory_gb": "{memory_gb}"}),
        ("将 memory_gb 设为 {memory_gb}", {"memory_gb": "{memory_gb}"}),
    ),
    "cpu": (("Set cpu to {cpu}", {"cpu": "{cpu}"}), ("将 cpu 设为 {cpu}", {"cpu": "{cpu}"})),
    "cpu-memory_gb": (
        ("Set cpu to {cpu} and memory_gb to {memory_gb}", {"cpu": "{cpu}", "memory_gb": "{memory_gb}"}),
        ("将 cpu 设为 {cpu}，memory_gb 设为 {memory_gb}", {"cpu": "{cpu}", "memory_gb": "{memory_gb}"}),
    ),
}
_ADMIN: tuple[Doing, Doing] = (("Else ask the admin of the cluster", None), ("否则请联系集群管理员", None))


def _limit(name: str, en: str, zh: str) -> dict[str, Text]:
    """What a LimitRange says, with the change that satisfies it where the numbers are known."""
    titles = ("The namespace limits what a pod may ask for", "命名空间限制了单个容器组的申请量")
    found = {name: Text(Words(titles[0], en, (_ADMIN[0],)), Words(titles[1], zh, (_ADMIN[1],)))}
    for keys, (fix, fix_zh) in _CHANGES.items():
        english, chinese = Words(titles[0], en, (fix, _ADMIN[0])), Words(titles[1], zh, (fix_zh, _ADMIN[1]))
        found[f"{name}-{keys}"] = Text(english, chinese)
    return found


TEXTS = {
    **_limit(
        "limit-most",
        "It asks for {asked} of {resource}, and one {per} may have at most {bound} there.",
        "它申请 {asked} 的 {resource}，而那里单个 {per} 最多允许 {bound}。",
    ),
    **_limit(
        "limit-least",
        "It asks for {asked} of {resource}, and one {per} must ask for at least {bound} there.",
        "它申请 {asked} 的 {resource}，而那里单个 {per} 至少要申请 {bound}。",
    ),
    "quota-unsaid": Text(
        Words(
            "The quota {quota} wants an amount that jobs do not name",
            "Every pod in the namespace has to say how much {resource} it wants.",
            (("Ask the admin to set a default with a LimitRange", None),),
        ),
        Words(
            "配额 {quota} 要求写明任务未给出的数量",
            "该命名空间的每个容器组都必须写明 {resource} 的用量。",
            (("请管理员用 LimitRange 设置默认值", None),),
        ),
    ),
    "rights-missing": Text(
        Words(
            "Not allowed",
            "“{user}” may not {verb} {resource} in the namespace {namespace}.",
            (("Ask the admin for the role aiarts-user", _BIND),),
        ),
        Words(
            "没有权限",
            "“{user}”无权在命名空间 {namespace} 中对 {resource} 执行 {verb}。",
            (("请管理员授予角色 aiarts-user", _BIND),),
        ),
    ),
    "rights-missing-everywhere": Text(
        Words(
            "Not allowed",
            "“{user}” may not {verb} {resource} in this cluster.",
            (("Ask the admin of the cluster for that right", None),),
        ),
        Words("没有权限", "“{user}”无权在该集群中对 {resource} 执行 {verb}。", (("请集群管理员授予该权限", None),)),
    ),
    "account-missing": Text(
        Words(
            "The service account {account} is missing",
            "Pods of the namespace run as it, and it is not there. That is not about your rights.",
            (("Ask the admin to make it", "kubectl create serviceaccount {account}"),),
        ),
        Words(
            "缺少服务账户 {account}",
            "该命名空间的容器组以它的身份运行，但它不存在。这与您的权限无关。",
            (("请管理员创建", "kubectl create serviceaccount {account}"),),
        ),
    ),
    "webhook-refused": Text(
        Words(
            "A rule of the cluster refuses it",
            "The rule {rule} says: {reason}",
            (("Change what the rule is about, or ask the admin of the cluster", None),),
        ),
        Words("集群规则不允许", "规则 {rule} 说：{reason}", (("修改规则所涉及的内容，或联系集群管理员", None),)),
    ),
    "webhook-away": Text(
        Words(
            "A part of the cluster that has to agree does not answer",
            "Nothing can be made while {rule} is away; the cluster tries again by itself.",
            (("Tell the admin of the cluster, if it lasts", None),),
        ),
        Words(
            "集群中需要批准的部件没有响应",
            "{rule} 离线期间无法创建任何内容；集群会自动重试。",
            (("如持续如此，请告知集群管理员", None),),
        ),
    ),
    "security-refused": Text(
        Words(
            "A rule of the cluster refuses it",
            "The namespace does not allow pods of this form; the evidence names each setting. Who it runs as is not "
            "among them.",
            (("Leave out mounts of the host's folders, if it has any", "aiarts show {job}"), _ADMIN[0]),
        ),
        Words(
            "集群规则不允许",
            "该命名空间不允许这种形式的容器组；证据列出了各项设置，其中不涉及运行身份。",
            (("若挂载了主机目录，请去掉", "aiarts show {job}"), _ADMIN[1]),
        ),
    ),
}
