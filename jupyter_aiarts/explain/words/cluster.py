"""What a cluster's own machinery does to a job: queues, nodes, storage, policies, and the cluster being away."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

TEXTS = {
    "queued": Text(
        Words("Accepted", "The cluster has it and has not said yet what it waits for."),
        Words("已接受", "集群已接受该任务，尚未说明在等待什么。"),
    ),
    "queue-waiting": Text(  # queue-position where nobody tells the position
        Words("Waiting in the queue {queue}", "Kueue starts it in its turn; its position cannot be seen from here."),
        Words("在队列 {queue} 中等待", "Kueue 会按顺序启动它；在这里看不到具体排位。"),
    ),
    "quota-exceeded": Text(
        Words(
            "The quota is used up",
            "It starts when enough of the quota is free again; the evidence says whose quota and how much is missing.",
            (("See what holds it", "aiarts jobs --phase running"), ("See the queues", "aiarts queues")),
        ),
        Words(
            "配额已用完",
            "配额释放后即可启动；证据说明了是哪个配额以及还缺多少。",
            (("查看谁在占用", "aiarts jobs --phase running"), ("查看队列", "aiarts queues")),
        ),
    ),
    "queue-inactive": Text(
        Words(
            "The queue {queue} takes no jobs",
            "It does not exist, or its admin has stopped it.",
            (("Choose another queue, or ask the admin of the cluster", None),),
        ),
        Words(
            "队列 {queue} 不接收任务",
            "该队列不存在，或已被管理员停用。",
            (("选择其他队列，或联系集群管理员", None),),
        ),
    ),
    "no-node-found": Text(  # no-node-fits in a scheduler's words
        Words(
            "No node has room for it",
            "The scheduler found no node that fits; the evidence is its own count.",
            (("Ask for less, or wait until something ends; see who holds what", "aiarts cluster"),),
        ),
        Words(
            "没有合适的节点",
            "调度器没有找到合适的节点；证据是调度器自己的统计。",
            (("减少申请，或等待其他任务结束；查看谁在占用", "aiarts cluster"),),
        ),
    ),
    "ring-controller-wait": Text(
        Words(
            "Waiting for the ring controller",
            "Its pods are up; the ranks start as soon as the cluster's controller has completed the rank table "
            "{table}. A pod may see that up to a minute and a half later.",
            (("See the table", "kubectl get configmap {table} -o yaml"), ("Else ask the admin of the cluster", None)),
        ),
        Words(
            "等待环控制器",
            "Pod 均已启动；集群的控制器完成 rank table {table} 后，进程即启动。Pod 看到变化最多可能晚一分半钟。",
            (("查看该表", "kubectl get configmap {table} -o yaml"), ("否则请联系集群管理员", None)),
        ),
    ),
    "gives-way": Text(
        Words(
            "Lets the job {to} go first",
            "Each of the two held a part of the cards that the other needs, so neither could start. This one came "
            "later or has the lower priority: it gave its part back and starts by itself when the other is complete.",
            (("See the other one", "aiarts show {to}"),),
        ),
        Words(
            "让任务 {to} 先启动",
            "两个任务各占用了对方需要的一部分卡，谁也无法启动。本任务提交较晚或优先级较低，因此先交还已占用的卡，"
            "待对方就绪后会自动启动。",
            (("查看对方任务", "aiarts show {to}"),),
        ),
    ),
    "mount-missing": Text(
        Words(
            "Storage is missing",
            "A volume, secret or folder that it mounts is not there.",
            (("Check the sources of its mounts", "aiarts show {job}"),),
        ),
        Words("缺少存储", "它挂载的卷、密钥或目录不存在。", (("检查挂载来源", "aiarts show {job}"),)),
    ),
    "mount-denied": Text(
        Words(
            "Storage does not let it in",
            "A volume that it mounts refused the mount.",
            (("Ask whoever owns the storage for access", None),),
        ),
        Words("存储拒绝访问", "它挂载的卷拒绝了挂载。", (("向存储的所有者申请权限", None),)),
    ),
    "policy-refused": Text(
        Words(
            "A rule of the cluster refuses it",
            "The evidence is what the cluster says.",
            (("Change what the rule is about, or ask the admin of the cluster", None),),
        ),
        Words(
            "集群规则不允许",
            "证据是集群给出的原话。",
            (("修改规则所涉及的内容，或联系集群管理员", None),),
        ),
    ),
    "class-missing": Text(  # policy-refused for a class that the admin's configuration names
        Words(
            "The cluster has no {policy} {missing}",
            "The configuration of the Jupyter server names it for jobs like this one, and it is not there.",
            (("Ask the admin to make it, or to correct the configuration", None),),
        ),
        Words(
            "集群中没有 {policy} {missing}",
            "Jupyter 服务器的配置为这类任务指定了它，但集群中不存在。",
            (("请管理员创建它，或更正配置", None),),
        ),
    ),
    "limit-refused": Text(  # policy-refused by a LimitRange
        Words(
            "The namespace limits what a pod may ask for",
            "It asks for more or less than one pod may have there; the evidence names the limit.",
            (("Ask for what the limit allows", "aiarts show {job}"),),
        ),
        Words(
            "命名空间限制了单个容器组的申请量",
            "它的申请超出了该命名空间对单个容器组的限制；证据给出了具体限制。",
            (("按限制调整申请", "aiarts show {job}"),),
        ),
    ),
    "form-refused": Text(  # policy-refused by Pod Security
        Words(
            "A rule of the cluster refuses it",
            "The namespace does not allow pods of this form; the evidence names the rule.",
            (("Run it as yourself instead of as the image's user", {"run_as": "user"}),),
        ),
        Words(
            "集群规则不允许",
            "该命名空间不允许这种形式的容器组；证据给出了具体规则。",
            (("以自己的身份而不是镜像的用户运行", {"run_as": "user"}),),
        ),
    ),
    "not-allowed": Text(
        Words("Not allowed", "{message}", (("{hint}", None),)),
        Words("没有权限", "{message}", (("{hint}", None),)),
    ),
    "node-gone": Text(  # node-lost as the cluster sees it
        Words(
            "The node {node} is gone",
            "It no longer reports; the pod is replaced and the whole job starts again. That is not counted as a "
            "restart.",
            (("Give up on the old pod if nothing moves", "aiarts release {job}"),),
        ),
        Words(
            "节点 {node} 已失联",
            "该节点不再上报；容器组会被替换，整个任务重新开始，不计入重启次数。",
            (("若长时间无进展，放弃旧的容器组", "aiarts release {job}"),),
        ),
    ),
    "pod-stuck": Text(
        Words(
            "The pod {pod} does not end",
            "It should be gone since {since}, and nobody on the node {node} says that it is. Its process may still "
            "run there.",
            (("Give up on it; only if the node is really dead", "aiarts release {job}"),),
        ),
        Words(
            "容器组 {pod} 无法结束",
            "它应在 {since} 结束，但节点 {node} 一直没有确认；进程可能仍在那里运行。",
            (("放弃它（仅当节点确实已死）", "aiarts release {job}"),),
        ),
    ),
    "evicted": Text(
        Words(
            "Evicted from {node}",
            "The node needed its resources, or was emptied; the pod is replaced and the whole job starts again. That "
            "is not counted as a restart.",
        ),
        Words("被 {node} 驱逐", "节点需要收回资源，或正在被清空；容器组会被替换，整个任务重新开始，不计入重启次数。"),
    ),
    "preempted": Text(
        Words(
            "Its place was taken",
            "A job of higher priority got its resources; it starts again when there is room. That is not counted as a "
            "restart.",
        ),
        Words("资源被抢占", "更高优先级的任务占用了它的资源；有空闲时会重新开始，不计入重启次数。"),
    ),
    "cluster-unreachable": Text(
        Words("The cluster is away", "It has not answered since {since}; what is shown is what was last seen."),
        Words("集群无法访问", "自 {since} 起没有响应；显示的是最后一次看到的情况。"),
    ),
}
