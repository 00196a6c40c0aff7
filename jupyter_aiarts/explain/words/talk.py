"""What cards say of their talk with each other, through HCCL, NCCL and their like."""

from __future__ import annotations

from jupyter_aiarts.explain.words.program import AGAIN, LOG, said

TEXTS = {
    # -- HCCL and its table
    "table-refused": said(
        "HCCL refused the rank table",
        "The rank table of rank {rank} is not valid: {said}",
        "HCCL 拒绝了 rank table",
        "进程 {rank} 的 rank table 无效：{said}",
        ("Check the table", "检查该表", "aiarts doctor ranktable FILE --log {job}"),
        LOG,
    ),
    "table-refused-plain": said(
        "HCCL refused the rank table",
        "The rank table of rank {rank} is not valid.",
        "HCCL 拒绝了 rank table",
        "进程 {rank} 的 rank table 无效。",
        ("Check the table", "检查该表", "aiarts doctor ranktable FILE --log {job}"),
        LOG,
    ),
    "table-differs": said(
        "The rank table is not about these cards",
        "What the rank table of rank {rank} says differs from the cards that are really there (EI0014).",
        "rank table 与实际的卡不符",
        "进程 {rank} 的 rank table 内容与实际的卡不一致（EI0014）。",
        ("Check the table", "检查该表", "aiarts doctor ranktable FILE --log {job}"),
        AGAIN,
    ),
    "ring-crossed": said(
        "The cards are of both halves of the board",
        "Cards [{said}) were asked for; on this board 0–3 and 4–7 are separate rings that one table may not mix.",
        "所选的卡跨越了两个环",
        "请求的卡为 [{said})；该主板上 0–3 与 4–7 是两个独立的环，不能混用。",
        ("Take [0,4), [4,8) or all eight", "使用 [0,4)、[4,8) 或全部八张", None),
    ),
    "cards-without-ip": said(
        "The cards' addresses are not known",
        "Rank {rank} on node {node} found them neither in /etc/hccn.conf nor through hccn_tool; a rank table needs "
        "them.",
        "不知道加速卡的 IP 地址",
        "节点 {node} 上的进程 {rank} 在 /etc/hccn.conf 和 hccn_tool 中都没有找到；rank table 需要它们。",
        ("See what is configured", "查看配置", "cat /etc/hccn.conf"),
        ("Else the admin must mount the file, or set the addresses", "否则请管理员挂载该文件或设置地址", None),
    ),
    "hccl-timeout": said(
        "Another rank did not come",
        "Rank {rank} waited for the others in HCCL until its time was up. It is not the one to blame: the rank "
        "without this error, or the one that ended first, is.",
        "其他进程没有到达",
        "进程 {rank} 在 HCCL 中等待其他进程直到超时。问题不在它：应查看没有该错误或最先结束的进程。",
        ("Search all ranks for the first error", "在所有进程中查找最早的错误", "aiarts logs {job} --grep Error"),
        ("Check the rank table", "检查 rank table", "aiarts doctor ranktable FILE --log {job}"),
    ),
    "hccl-rank-silent": said(
        "Rank {peer} did not answer",
        "Rank {rank} waited in HCCL for rank {peer} until its time was up: look at rank {peer}, not at this one.",
        "进程 {peer} 没有应答",
        "进程 {rank} 在 HCCL 中等待进程 {peer} 直到超时：应查看进程 {peer}，而不是这一个。",
        ("Read the log of rank {peer}", "查看进程 {peer} 的日志", "aiarts logs {job} --rank {peer}"),
    ),
    "hccl-card-lost": said(
        "Card {card} of server {server} stopped",
        "Rank {rank} only waited: the process on card {card} of {server} ended, or its network is gone.",
        "服务器 {server} 的卡 {card} 已停止",
        "进程 {rank} 只是在等待：{server} 上使用卡 {card} 的进程已结束，或其网络断开。",
        ("Search all ranks for the first error", "在所有进程中查找最早的错误", "aiarts logs {job} --grep Error"),
        ("Find its rank in the table", "在表中查找对应的进程", "aiarts doctor ranktable FILE --log {job}"),
    ),
    "hccl-disagree": said(
        "The ranks do not do the same",
        "Rank {rank} called HCCL with other arguments than another rank (EI0005): shapes, types or order differ.",
        "各进程的操作不一致",
        "进程 {rank} 调用 HCCL 的参数与其他进程不同（EI0005）：形状、类型或顺序不一致。",
        LOG,
    ),
    # -- NCCL and its like
    "nccl-error": said(
        "The GPUs could not talk to each other",
        "Rank {rank} on node {node} got an error from NCCL.",
        "GPU 之间无法通信",
        "节点 {node} 上的进程 {rank} 收到 NCCL 错误。",
        LOG,
    ),
    "nccl-rank-zero": said(
        "Rank 0 was not there",
        "Rank {rank} waited for rank 0, which gathers the others, until its time was up: it ended, or was still busy "
        "loading.",
        "进程 0 没有到达",
        "进程 {rank} 等待负责汇合的进程 0 直到超时：它已结束，或仍在加载数据。",
        ("Read the log of rank 0", "查看进程 0 的日志", "aiarts logs {job} --rank 0"),
    ),
    "nccl-unsaid": said(
        "NCCL failed and does not say why",
        "A call below NCCL failed for rank {rank} on node {node}; the text does not say which. It tells when asked to.",
        "NCCL 失败，原因不明",
        "节点 {node} 上进程 {rank} 的 NCCL 底层调用失败；日志没有说明是哪一个。打开调试后会说明。",
        ("Run it once with NCCL_DEBUG=INFO", "设置 NCCL_DEBUG=INFO 运行一次", {"env": {"NCCL_DEBUG": "INFO"}}),
        LOG,
    ),
    "nccl-interface": said(
        "NCCL found no network interface",
        "NCCL_SOCKET_IFNAME names an interface that rank {rank} does not have on node {node}, or there is none at all.",
        "NCCL 找不到网络接口",
        "NCCL_SOCKET_IFNAME 指定的接口在节点 {node} 的进程 {rank} 中不存在，或没有任何接口。",
        ("See the job's variables", "查看任务的环境变量", "aiarts env {job} --rank {rank}"),
        (
            "Leave NCCL_SOCKET_IFNAME unset, or name one that is there",
            "不要设置 NCCL_SOCKET_IFNAME，或写存在的接口",
            None,
        ),
    ),
    "nccl-same-card": said(
        "Ranks {a} and {b} use the same GPU",
        "Each rank must take its own card; both took the same one.",
        "进程 {a} 和 {b} 使用了同一张 GPU",
        "每个进程应使用自己的卡，而它们用了同一张。",
        (
            "In PyTorch: torch.cuda.set_device(int(os.environ['LOCAL_RANK']))",
            "PyTorch 中：torch.cuda.set_device(int(os.environ['LOCAL_RANK']))",
            None,
        ),
    ),
    "nccl-memlock": said(
        "The network card may not lock memory",
        "InfiniBand needs to lock memory and rank {rank} on node {node} may not: the limit (ulimit -l) is too low.",
        "网卡无法锁定内存",
        "InfiniBand 需要锁定内存，而节点 {node} 上的进程 {rank} 不被允许：上限（ulimit -l）过低。",
        (
            "The admin must raise it; until then use the ordinary network",
            "需由管理员提高；在此之前使用普通网络",
            {"env": {"NCCL_IB_DISABLE": "1"}},
        ),
    ),
    "nccl-peer-gone": said(
        "Another rank ended",
        "Rank {rank} lost its connection to another rank: that one ended first, or the network between them broke.",
        "其他进程已结束",
        "进程 {rank} 与另一个进程的连接中断：对方先结束了，或网络中断。",
        ("Search all ranks for the first error", "在所有进程中查找最早的错误", "aiarts logs {job} --grep Error"),
        LOG,
    ),
    "nccl-waited": said(
        "The ranks waited for each other until time was up",
        "Rank {rank} waited in a step that all ranks must join; another one ended, hangs, or took another way.",
        "进程相互等待直到超时",
        "进程 {rank} 在需要所有进程参与的步骤中等待；另一个进程已结束、卡住，或走了不同的分支。",
        ("Search all ranks for the first error", "在所有进程中查找最早的错误", "aiarts logs {job} --grep Error"),
        LOG,
    ),
    "peer-gone": said(
        "A connection of rank {rank} was closed",
        "The other side ended first; what ended it is not told here.",
        "进程 {rank} 的连接被关闭",
        "对方先结束了；这里没有说明原因。",
        ("Search all ranks for the first error", "在所有进程中查找最早的错误", "aiarts logs {job} --grep Error"),
        LOG,
    ),
}
