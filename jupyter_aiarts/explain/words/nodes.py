"""What a node did to a job: it ran short of something, was emptied, went away, or is not well itself."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Doing, Text, Words

_AGAIN: tuple[Doing, Doing] = (("Run it again", "aiarts rerun {job}"), ("重新运行", "aiarts rerun {job}"))
_ADMIN: tuple[Doing, Doing] = (("Tell the admin of the cluster", None), ("告知集群管理员", None))
_CLUSTER: tuple[Doing, Doing] = (("See the nodes", "aiarts cluster"), ("查看节点", "aiarts cluster"))
_VOLUME: tuple[Doing, Doing] = (
    ("Write to a mounted volume instead of the container", "aiarts show {job}"),
    ("写入挂载的卷，而不是容器内部", "aiarts show {job}"),
)


def _text(en: tuple[str, str], zh: tuple[str, str], *doings: tuple[Doing, Doing]) -> Text:
    return Text(Words(*en, tuple(one for one, _ in doings)), Words(*zh, tuple(one for _, one in doings)))


TEXTS = {
    "evicted-memory": _text(
        ("Evicted: the node ran short of memory", "The node {node} ended pods to save itself."),
        ("被驱逐：节点内存不足", "节点 {node} 为自保结束了容器组。"),
        _AGAIN,
    ),
    "evicted-memory-used": _text(
        (
            "Evicted: the node ran short of memory",
            "The node {node} ended pods to save itself. This one used {used} and had asked for {asked}; others may "
            "have used more.",
        ),
        (
            "被驱逐：节点内存不足",
            "节点 {node} 为自保结束了容器组。它使用了 {used}，申请了 {asked}；其他任务可能用得更多。",
        ),
        _AGAIN,
    ),
    "evicted-disk": _text(
        ("Evicted: the node's disk ran full", "The node {node} ended pods to get space; who filled it is not said."),
        ("被驱逐：节点磁盘不足", "节点 {node} 为腾出空间结束了容器组；没有说明是谁占满的。"),
        _VOLUME,
        _AGAIN,
    ),
    "evicted-disk-used": _text(
        (
            "Evicted: the node's disk ran full",
            "The node {node} ended pods to get space. This one used {used} and had reserved {asked}, so it was chosen; "
            "that does not mean that it filled the disk.",
        ),
        (
            "被驱逐：节点磁盘不足",
            "节点 {node} 为腾出空间结束了容器组。它使用了 {used}，预留了 {asked}，因而被选中；这不代表是它占满了磁盘。",
        ),
        _VOLUME,
        _AGAIN,
    ),
    "evicted-own-disk": _text(
        ("It wrote more into its container than it may", "The limit for that is {limit}."),
        ("写入容器的数据超出上限", "上限为 {limit}。"),
        _VOLUME,
        _AGAIN,
    ),
    "evicted-folder-full": _text(
        ("Its folder {volume} is full", "It wrote more than {limit} into it, and the node ended it."),
        ("它的目录 {volume} 已满", "写入超过 {limit}，节点将其结束。"),
        _VOLUME,
        _AGAIN,
    ),
    "evicted-pids": _text(
        ("Evicted: the node ran out of process numbers", "Too many processes and threads run on {node}."),
        ("被驱逐：节点的进程号用尽", "{node} 上运行的进程和线程过多。"),
        (("Start fewer workers and threads", None), ("减少工作进程和线程", None)),
        _AGAIN,
    ),
    "evicted-low": _text(
        ("Evicted: the node ran short of {resource}", "The node {node} ended pods to save itself."),
        ("被驱逐：节点 {resource} 不足", "节点 {node} 为自保结束了容器组。"),
        _AGAIN,
    ),
    "node-strained": _text(
        ("The node takes nothing new", "It has the condition {condition}, and refused the pod that was sent to it."),
        ("节点不接收新的容器组", "其状况为 {condition}，拒绝了分配给它的容器组。"),
        _AGAIN,
        _ADMIN,
    ),
    "shm-limit": _text(
        (
            "Shared memory is full",
            "It wrote more than {limit} into /dev/shm, and the node ended it. Data loaders with many workers do that.",
        ),
        ("共享内存已满", "写入 /dev/shm 超过 {limit}，节点将其结束。工作进程较多的数据加载器常会如此。"),
        (
            ("Set shm_gb to {shm_gb}, or use fewer loader workers", {"shm_gb": "{shm_gb}"}),
            ("将 shm_gb 设为 {shm_gb}，或减少加载进程", {"shm_gb": "{shm_gb}"}),
        ),
        _AGAIN,
    ),
    "evicted-drained": _text(
        (
            "Evicted from {node}",
            "Somebody asked for that, as when a node is emptied for maintenance. The pod is replaced and the whole job "
            "starts again; that is not counted as a restart.",
        ),
        ("被 {node} 驱逐", "有人要求如此，例如为维护而清空节点。容器组会被替换，整个任务重新开始，不计入重启次数。"),
        _CLUSTER,
    ),
    "evicted-shutdown": _text(
        (
            "The node {node} was shut down",
            "It ended its pods before it went. The pod is replaced and the whole job starts again; that is not counted "
            "as a restart.",
        ),
        ("节点 {node} 已关机", "它在关机前结束了容器组。容器组会被替换，整个任务重新开始，不计入重启次数。"),
        _CLUSTER,
    ),
    "node-emptied": _text(
        (
            "The node {node} is gone or being emptied",
            "It does not report any more, or an admin put a mark on it that ends its pods. The pod is replaced and the "
            "whole job starts again; that is not counted as a restart.",
        ),
        (
            "节点 {node} 已失联或正在被清空",
            "它不再上报，或管理员为其设置了会结束容器组的标记。容器组会被替换，整个任务重新开始，不计入重启次数。",
        ),
        (
            ("Give up on the old pod if nothing moves", "aiarts release {job}"),
            ("若长时间无进展，放弃旧的容器组", "aiarts release {job}"),
        ),
    ),
    "card-lost": _text(
        (
            "A card of the node is lost",
            "The node could not give the job its cards, because one of them does not answer; that blocks the others.",
        ),
        ("节点的一张加速卡丢失", "节点无法把卡分给任务，因为其中一张没有响应，其他卡也因此受阻。"),
        _ADMIN,
        _AGAIN,
    ),
    "cards-not-given": _text(
        (
            "The node could not give it its cards",
            "The scheduler sent it there, and the node's device plugin refused; the evidence has its words.",
        ),
        ("节点未能分配加速卡", "调度器将其分配到该节点，但节点的设备插件拒绝了；证据是其原话。"),
        _AGAIN,
        _ADMIN,
    ),
    "cards-not-passed-in": _text(
        (
            "The node could not pass its cards into the container",
            "The part of its runtime that does this failed: mostly the driver is missing or does not fit.",
        ),
        ("节点无法将加速卡传入容器", "运行时中负责此事的部分出错：多为驱动缺失或不匹配。"),
        _ADMIN,
        _AGAIN,
    ),
    "node-unhealthy": _text(
        ("The node cannot start it", "Something on the node itself is not well; the evidence has its words."),
        ("节点无法启动它", "节点本身有问题；证据是其原话。"),
        _ADMIN,
        _CLUSTER,
    ),
    "runtime-stuck": _text(
        (
            "The node's container runtime is stuck",
            "An earlier try to make the container has not ended and still holds its name: the node is overloaded, or "
            "its runtime has to be restarted.",
        ),
        ("节点的容器运行时卡住", "先前创建容器的尝试尚未结束，仍占用其名称：节点过载，或需要重启运行时。"),
        _ADMIN,
        _CLUSTER,
    ),
    "network-missing": _text(
        ("The node cannot give it a network", "The pod was placed, and the node's network part failed."),
        ("节点无法为其提供网络", "容器组已安排，但节点的网络组件出错。"),
        _ADMIN,
        _CLUSTER,
    ),
}
