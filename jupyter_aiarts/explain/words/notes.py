"""What whoever looks at a job should know, in Chinese: notes are kept as plain text, and found by their shape."""

from __future__ import annotations

NOTES = {
    "Node {node}: {sentence}": "节点 {node}：{sentence}",
    "It runs in a container and ends when that ends.": "它在容器中运行，容器结束时它也会结束。",
    "It runs in a service and ends when that ends.": "它在系统服务中运行，服务结束时它也会结束。",
    "The {device} cards of this machine are declared in its configuration, not found.": (
        "本机的 {device} 卡是在配置中声明的，并非实际探测到的。"
    ),
    "It asks for {asked} CPUs and shares the {there} of this machine.": (
        "它要求 {asked} 个 CPU，将与其他任务共用本机的 {there} 个。"
    ),
    "It will be removed after {end}: finished jobs are kept for {days} days here.": (
        "它将在 {end} 之后被删除：这里已结束的任务保留 {days} 天。"
    ),
    "{more} more notes of its launchers are among its events.": "其启动器另有 {more} 条说明，见事件。",
    "priority has no effect: {cluster} maps no priorities.": "priority 不起作用：{cluster} 没有配置优先级。",
    "preemptible has no effect: {cluster} maps no class for it.": "preemptible 不起作用：{cluster} 没有为它配置类别。",
    "The image {image} has no tag: it is whatever latest is when a pod starts. Name a version.": (
        "镜像 {image} 没有标签：pod 启动时的 latest 是什么就用什么。请写明版本。"
    ),
    "SAVE_PATH is a folder in the pod and goes with it; set output_path to keep results.": (
        "SAVE_PATH 是 pod 中的目录，会随 pod 消失；请设置 output_path 以保留结果。"
    ),
    "Shipped with the job: {files}.": "随任务发送的文件：{files}。",
    "The nodes are still being listed: ask again in a moment.": "仍在列出节点：请稍后再试。",
    "There is room for it; the queue {queue} decides when it starts.": "放得下；何时启动由队列 {queue} 决定。",
    "The environment {path} is not on this server; the job looks for it in its image and mounts.": (
        "环境 {path} 不在本服务器上；任务会在其镜像和挂载中查找它。"
    ),
    "The environment {path} is {place} in the pod: programs that keep the name of their own folder, such as "
    "torchrun and pip, may not start there. Run them with python -m.": (
        "环境 {path} 在 pod 中是 {place}：torchrun、pip 等记录自身目录的程序在那里可能无法启动。"
        "请用 python -m 运行它们。"
    ),
    "The Python of the environment {path} is {python}, which no mount of the job has: the image must have it.": (
        "环境 {path} 的 Python 是 {python}，任务的挂载中都没有它：镜像中必须有。"
    ),
    "No IP address is known for card {cards}: the rank table has none for them, which is enough for one machine with "
    "most versions of CANN. To give them one, as root on {node}: {lines}": (
        "卡 {cards} 的 IP 地址未知：rank table 中没有它们的地址；对大多数 CANN 版本，单机运行这已足够。"
        "如需配置地址，请在 {node} 上以 root 身份运行：{lines}"
    ),
    "Nothing says which cards {pod} holds: the rank table counts them, {cards}": (
        "没有信息说明 {pod} 持有哪些卡：rank table 按顺序编号为 {cards}"
    ),
    "Cards {cards} of node {node} lie on both rings of their board, 0-3 and 4-7: HCCL does not connect {count} cards "
    "across them": "节点 {node} 的卡 {cards} 分布在板上的两个环（0-3 和 4-7）：HCCL 不会跨环连接 {count} 张卡",
    "The rank tables are in {folder}, since {wanted} says: {why}": (
        "rank table 放在 {folder}，因为写入 {wanted} 时出错：{why}"
    ),
    "{unused} of its {cards} cards were never used ({ids}): ask for fewer next time": (
        "它的 {cards} 张卡中有 {unused} 张从未使用（{ids}）：下次请少申请一些"
    ),
}
