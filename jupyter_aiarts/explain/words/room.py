"""Why a job finds no room on the nodes of a cluster, and what of a cluster cannot be seen."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

_CLUSTER = "aiarts cluster"

TEXTS = {
    "no-room-now": Text(  # no-node-fits where the nodes can be seen
        Words(
            "No node has room for it now",
            "It needs {count} × {need} {device}; the most that is free on a node is {free}, on {node}.",
            (("See who holds what", _CLUSTER),),
        ),
        Words(
            "现在没有节点放得下它",
            "需要 {count} × {need} {device}；单个节点最多空闲 {free}，在 {node} 上。",
            (("查看谁在占用", _CLUSTER),),
        ),
    ),
    "no-room-ever": Text(  # never-fits where the nodes can be seen
        Words(
            "This cluster can never run it",
            "It needs {count} × {need} {device}; the largest node has {have}, or there are fewer such nodes.",
            (("Ask for less, or choose another cluster", _CLUSTER),),
        ),
        Words(
            "该集群永远无法运行它",
            "需要 {count} × {need} {device}；最大的节点只有 {have}，或这样的节点不够。",
            (("减少申请，或选择其他集群", _CLUSTER),),
        ),
    ),
    "rings-in-pieces": Text(  # ring-fragmented where the nodes can be seen
        Words(
            "Free cards are split across rings",
            "{node} has {free} free {device} cards, but {rings} across its rings: not {need} inside one.",
            (("Wait for a ring, or ask for fewer cards", _CLUSTER),),
        ),
        Words(
            "空闲卡分散在两个环上",
            "{node} 有 {free} 张 {device} 空闲，但在各环上为 {rings}：没有一个环内有 {need} 张。",
            (("等待整环空闲，或减少卡数", _CLUSTER),),
        ),
    ),
    "cards-not-visible": Text(
        Words(
            "Free cards of {cluster} are unknown",
            "The user “{user}” may not list there: {missing}. What own pods hold is shown, and nothing is guessed.",
            (
                (
                    "Ask the admin for the role {role}",
                    "kubectl create clusterrolebinding {role}-{user} --clusterrole={role} --user={user}",
                ),
            ),
        ),
        Words(
            "{cluster} 的空闲卡数未知",
            "用户“{user}”无权在那里列出：{missing}。只显示自己的容器组占用的卡，不作猜测。",
            (
                (
                    "请管理员授予角色 {role}",
                    "kubectl create clusterrolebinding {role}-{user} --clusterrole={role} --user={user}",
                ),
            ),
        ),
    ),
    "still-listing": Text(
        Words("The nodes are still being listed", "The first look at a large cluster takes a while; ask again."),
        Words("仍在读取节点列表", "首次查看大型集群需要一些时间；请稍后再试。"),
    ),
}
