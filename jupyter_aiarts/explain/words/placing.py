"""Why a scheduler finds no node, in forms of `no-node-fits`: which of the reasons in its count decides."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Doing, Text, Words

_SEE: tuple[Doing, Doing] = (("See who holds what", "aiarts cluster"), ("查看谁在占用", "aiarts cluster"))


def _form(en: tuple[str, str], zh: tuple[str, str], *more: tuple[Doing, Doing]) -> Text:
    """A title and its reason; the sum over all nodes stands behind, and the way to see them comes last."""
    doings = (*more, _SEE)
    return Text(
        Words(en[0], f"{en[1]} The count over all {{total}}: {{sum}}.", tuple(one for one, _ in doings)),
        Words(zh[0], f"{zh[1]}共 {{total}} 个节点：{{sum}}。", tuple(one for _, one in doings)),
    )


TEXTS = {
    "no-node-cards": _form(
        (
            "No node has enough {about} free",
            "The cards of each pod must be free on one machine. Where they are too few, others hold them, or the "
            "machine offers none.",
        ),
        (
            "没有节点空闲足够的 {about}",
            "每个容器组所需的卡必须在同一台机器上空闲；不足的原因是被占用，或该机器未提供。",
        ),
        (
            ("Ask for fewer cards per node, or wait", "aiarts edit {job} devices=N"),
            ("减少每个节点的卡数，或等待", "aiarts edit {job} devices=N"),
        ),
    ),
    "no-node-memory": _form(
        ("No node has enough memory free", "What it asks for must be free on one machine at once."),
        ("没有节点空闲足够的内存", "所申请的内存必须在同一台机器上空闲。"),
        (
            ("Ask for less memory, or wait", "aiarts edit {job} memory_gb=N"),
            ("减少内存，或等待", "aiarts edit {job} memory_gb=N"),
        ),
    ),
    "no-node-cpu": _form(
        ("No node has enough CPUs free", "What it asks for must be free on one machine at once."),
        ("没有节点空闲足够的 CPU", "所申请的 CPU 必须在同一台机器上空闲。"),
        (
            ("Ask for fewer CPUs, or wait", "aiarts edit {job} cpu=N"),
            ("减少 CPU，或等待", "aiarts edit {job} cpu=N"),
        ),
    ),
    "no-node-amount": _form(
        ("No node has enough {about} free", "What it asks for must be free on one machine at once."),
        ("没有节点空闲足够的 {about}", "所申请的资源必须在同一台机器上空闲。"),
    ),
    "no-node-pods": _form(
        ("The nodes are full of pods", "A node runs a limited number of pods, whatever they use."),
        ("节点的容器组数量已满", "每个节点的容器组数量有上限，与其用量无关。"),
        (
            ("Delete jobs that have ended, if their pods are still there", "aiarts jobs"),
            ("若已结束任务的容器组仍在，请删除这些任务", "aiarts jobs"),
        ),
    ),
    "no-node-volume": _form(
        (
            "Its volume is on another node",
            "A volume that it mounts can be reached only from a node or zone where it finds no place, or no more "
            "volumes fit on a node.",
        ),
        ("卷在其他节点上", "它挂载的卷只能从某个节点或区域访问，而那里放不下它，或节点不能再挂载更多的卷。"),
        (
            ("Use a volume that every node can mount", "aiarts show {job}"),
            ("改用所有节点都能挂载的卷", "aiarts show {job}"),
        ),
    ),
    "no-node-ports": _form(
        ("A port that it needs is taken on every node", "Pods on the network of the host cannot share a port."),
        ("所需端口在各节点上已被占用", "使用主机网络的容器组不能共用端口。"),
    ),
    "no-node-cordoned": _form(
        (
            "The nodes take no new jobs now",
            "An admin has closed them, mostly for maintenance; it starts by itself when they open.",
        ),
        ("节点目前不接收新任务", "管理员关闭了这些节点，多为维护；重新开放后会自动启动。"),
        (("Ask the admin when they open again", None), ("询问管理员何时开放", None)),
    ),
    "no-node-down": _form(
        ("The nodes are not ready", "They do not report, or are still starting."),
        ("节点未就绪", "它们没有上报，或仍在启动。"),
        (("Tell the admin of the cluster, if it lasts", None), ("如持续如此，请告知集群管理员", None)),
    ),
    "no-node-strained": _form(
        ("The nodes are short of memory or disk", "They take nothing new until they have recovered."),
        ("节点内存或磁盘紧张", "在恢复之前不接收新任务。"),
        (("Tell the admin of the cluster, if it lasts", None), ("如持续如此，请告知集群管理员", None)),
    ),
    "no-node-tainted": _form(
        (
            "The nodes are reserved for others",
            "They have the taint {about}, and pods of this device are not let in there.",
        ),
        ("节点已被保留", "它们带有污点 {about}，该设备的容器组不能进入。"),
        (
            ("Ask the admin to add the toleration to the device's configuration", None),
            ("请管理员在设备配置中加入容忍", None),
        ),
    ),
    "no-node-reserved": _form(
        ("The nodes are reserved for others", "They have a taint, and pods of this device are not let in there."),
        ("节点已被保留", "它们带有污点，该设备的容器组不能进入。"),
        (
            ("See the taints", "kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints"),
            ("查看污点", "kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints"),
        ),
        (
            ("Ask the admin to add the toleration to the device's configuration", None),
            ("请管理员在设备配置中加入容忍", None),
        ),
    ),
    "no-node-apart": _form(
        (
            "Too few machines for its nodes",
            "Each node of a distributed job has a machine of its own, and some hold one of them already.",
        ),
        ("机器数量不足", "分布式任务的每个节点独占一台机器，而有些机器上已有它的节点。"),
        (
            ("Ask for fewer nodes, or wait", "aiarts edit {job} nodes=N"),
            ("减少节点数，或等待", "aiarts edit {job} nodes=N"),
        ),
    ),
    "no-node-near": _form(
        ("No node is where it has to be", "A rule of its pods wants them near, or spread over, certain nodes."),
        ("没有位置合适的节点", "其容器组的规则要求靠近或分散在特定节点上。"),
        (("Ask the admin who set the rule", None), ("询问设置规则的管理员", None)),
    ),
    "no-node-selector": _form(
        (
            "No node is of the kind it asks for",
            "The device of the job stands for labels of nodes, and no node has them.",
        ),
        ("没有所要求类型的节点", "任务的设备对应节点的标签，而没有节点带有这些标签。"),
        (
            ("Choose a device that this cluster has", "aiarts edit {job} device=DEVICE"),
            ("选择该集群具有的设备", "aiarts edit {job} device=DEVICE"),
        ),
    ),
    "no-node-label": Text(
        Words(
            "The cards of {machine} are of another type",
            "The node has {label}={value}, and the job asks for another value.",
            (("Ask the admin to set this value for the device in the configuration", None), _SEE[0]),
        ),
        Words(
            "{machine} 的加速卡类型不符",
            "该节点的标签为 {label}={value}，而任务要求其他值。",
            (("请管理员在设备配置中设置该值", None), _SEE[1]),
        ),
    ),
    "gang-waits": Text(
        Words(
            "Waiting as a group",
            "{waiting} of its {tasks} pods have no place yet, and they start together; the scheduler has not said why.",
            (("See the pod group's own events", "kubectl describe podgroup"), _SEE[0]),
        ),
        Words(
            "整组等待",
            "{tasks} 个容器组中有 {waiting} 个尚未安排，而它们须一起启动；调度器没有说明原因。",
            (("查看 PodGroup 的事件", "kubectl describe podgroup"), _SEE[1]),
        ),
    ),
    "volcano-overused": Text(
        Words(
            "Its queue has used up its share",
            "Volcano counts everything that the queue was given, also groups whose pods have ended and that were "
            "never removed; the nodes themselves may be free.",
            (("Look for pod groups that are over and ask their owners to delete them", "kubectl get podgroups"),),
        ),
        Words(
            "队列的份额已用完",
            "Volcano 会计算分给该队列的全部资源，包括容器组已结束但未删除的 PodGroup；节点本身可能是空闲的。",
            (("查找已结束的 PodGroup，并请其所有者删除", "kubectl get podgroups"),),
        ),
    ),
    "node-filled-up": Text(
        Words(
            "The node had no {resource} left when it arrived",
            "The scheduler had counted on it, and another pod was quicker.",
            (("Run it again", "aiarts rerun {job}"),),
        ),
        Words(
            "到达时节点已没有 {resource}",
            "调度器认为尚有空闲，但被另一个容器组抢先占用。",
            (("重新运行", "aiarts rerun {job}"),),
        ),
    ),
    "half-placed": Text(  # stands behind the reason why the others are not up
        Words("A part of it is up", "Of its {nodes} nodes these are up and wait for the others: {up}."),
        Words("已有一部分启动", "在 {nodes} 个节点中，以下已启动并在等待其余节点：{up}。"),
    ),
}
