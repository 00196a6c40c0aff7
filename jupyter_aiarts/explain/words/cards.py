"""What cards and their drivers do to a program."""

from __future__ import annotations

from jupyter_aiarts.explain.words.program import AGAIN, LOG, said

TEXTS = {
    # -- memory of a card
    "card-full": said(
        "The card's memory is full",
        "Rank {rank} on node {node} needs more memory than its card has.",
        "加速卡显存不足",
        "节点 {node} 上的进程 {rank} 需要的显存超过了卡的容量。",
        ("Use a smaller batch, or spread the model over more cards", "减小批大小，或将模型分到更多卡上", None),
        LOG,
    ),
    "card-memory-held": said(
        "Another process holds the card's memory",
        "Card {card} has {total} GiB: rank {rank} uses {mine}, {free} are free, so {held} GiB belong to another "
        "process, perhaps another rank of this job on the same card. A smaller batch does not help.",
        "显存被其他进程占用",
        "卡 {card} 共 {total} GiB：进程 {rank} 使用 {mine}，空闲 {free}，其余 {held} GiB 属于其他进程，"
        "也可能是本任务的另一个进程用了同一张卡。减小批大小没有帮助。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        (
            "Let each rank take its own card (LOCAL_RANK), or use a free one",
            "让每个进程使用自己的卡（LOCAL_RANK），或换用空闲的卡",
            None,
        ),
    ),
    "card-memory-held-by": said(
        "Process {by} holds the card's memory",
        "Card {card} has {total} GiB: rank {rank} uses {mine}, others hold {held}, most of it process {by}, perhaps "
        "another rank of this job on the same card; {free} are free. A smaller batch does not help.",
        "显存被进程 {by} 占用",
        "卡 {card} 共 {total} GiB：进程 {rank} 使用 {mine}，其他进程占用 {held}，其中大部分属于进程 {by}，"
        "也可能是本任务的另一个进程用了同一张卡；空闲 {free}。减小批大小没有帮助。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        (
            "Let each rank take its own card (LOCAL_RANK), or use a free one",
            "让每个进程使用自己的卡（LOCAL_RANK），或换用空闲的卡",
            None,
        ),
    ),
    "card-half-free": said(
        "Another process holds the card's memory",
        "Of card {card}'s {total} GiB only {free} were free when rank {rank} started: {held} GiB belong to somebody "
        "else.",
        "显存被其他进程占用",
        "进程 {rank} 启动时，卡 {card} 的 {total} GiB 中只有 {free} 空闲：{held} GiB 属于其他进程。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        AGAIN,
    ),
    "card-held": said(
        "Somebody else uses the card",
        "The card of rank {rank} on node {node} is held by another process.",
        "加速卡正被他人使用",
        "节点 {node} 上进程 {rank} 的卡被其他进程占用。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        AGAIN,
    ),
    "card-left-behind": said(
        "An earlier job still holds the card",
        "The card of rank {rank} on node {node} is not free yet: the process that used it before has not ended, or "
        "ended seconds ago.",
        "之前的任务仍占用该卡",
        "节点 {node} 上进程 {rank} 的卡尚未释放：之前使用它的进程没有结束，或刚刚结束。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        ("Run it again ten seconds later", "十秒后重新运行", "aiarts rerun {job}"),
    ),
    # -- drivers and what does not fit them
    "cann-mismatch": said(
        "CANN and the driver do not fit each other",
        "The operators in the image do not belong to the driver of node {node}, so the card of rank {rank} did not "
        "start.",
        "CANN 与驱动版本不匹配",
        "镜像中的算子包与节点 {node} 的驱动不匹配，因此进程 {rank} 的卡无法启动。",
        ("Choose an image whose CANN the driver supports", "选择驱动支持的 CANN 版本的镜像", None),
        ("See the driver's version", "查看驱动版本", "cat /usr/local/Ascend/driver/version.info"),
    ),
    "cuda-build": said(
        "This build has no code for the GPU",
        "The framework that rank {rank} uses was not built for the generation of the GPU in node {node}.",
        "该版本不支持此 GPU",
        "进程 {rank} 使用的框架没有为节点 {node} 的 GPU 这一代架构编译。",
        (
            "See which ones it was built for",
            "查看支持的架构",
            "python -c 'import torch; print(torch.cuda.get_arch_list())'",
        ),
        ("Install a build that lists it, or choose another image", "安装支持它的版本，或换用其他镜像", None),
    ),
    "cuda-driver-old": said(
        "The GPU driver is too old for this CUDA",
        "Rank {rank} uses a CUDA that needs a newer driver than node {node} has.",
        "GPU 驱动版本过旧",
        "进程 {rank} 使用的 CUDA 需要比节点 {node} 更新的驱动。",
        ("Choose an image with an older CUDA", "选择 CUDA 版本较低的镜像", None),
        ("See the driver's version", "查看驱动版本", "nvidia-smi"),
    ),
    "driver-reload": said(
        "The node's GPU driver was changed under way",
        "The driver that runs on node {node} and its libraries have different versions: it was updated and not loaded "
        "again.",
        "节点的 GPU 驱动正在更新",
        "节点 {node} 上运行的驱动与其库的版本不同：更新之后尚未重新加载。",
        ("Ask the admin to restart the node", "请管理员重启该节点", None),
    ),
    "torch-without-cuda": said(
        "This PyTorch was built without CUDA",
        "Rank {rank} uses a PyTorch for CPUs only.",
        "该 PyTorch 不支持 CUDA",
        "进程 {rank} 使用的是仅支持 CPU 的 PyTorch。",
        ("Install the build for CUDA, or choose another image", "安装支持 CUDA 的版本，或换用其他镜像", None),
    ),
    # -- cards that cannot be seen, or are unwell
    "card-out-of-range": said(
        "There is no card {card}",
        "Rank {rank} asked for card {card}; it sees cards 0 to {last}. Inside a job numbers begin at 0 again.",
        "没有第 {card} 号卡",
        "进程 {rank} 请求了卡 {card}，而它能看到的是 0 到 {last}。任务内的编号从 0 开始。",
        ("Take the number from LOCAL_RANK or DEVICE_ID", "从 LOCAL_RANK 或 DEVICE_ID 取卡号", None),
        ("See the job's variables", "查看任务的环境变量", "aiarts env {job} --rank {rank}"),
    ),
    "gpu-ordinal": said(
        "The program asked for a card that it does not have",
        "Rank {rank} named a GPU by a number that it does not see; inside a job numbers begin at 0 again.",
        "程序请求了不存在的卡",
        "进程 {rank} 使用的 GPU 编号不存在；任务内的编号从 0 开始。",
        ("Take the number from LOCAL_RANK", "从 LOCAL_RANK 取卡号", None),
        ("See the job's variables", "查看任务的环境变量", "aiarts env {job} --rank {rank}"),
    ),
    "card-refused": said(
        "The driver refused to open card {card}",
        "The driver of node {node} did not open card {card} for rank {rank} and does not say why: its device files are "
        "not passed in, or somebody else holds it.",
        "驱动拒绝打开卡 {card}",
        "节点 {node} 的驱动没有为进程 {rank} 打开卡 {card}，也没有说明原因：设备文件没有传入，或卡被他人占用。",
        (
            "See the device files",
            "查看设备文件",
            "ls -l /dev/davinci* /dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc",
        ),
        ("See who uses it", "查看占用者", "aiarts usage"),
    ),
    "npu-unseen": said(
        "The NPU driver did not answer",
        "Rank {rank} on node {node} could not ask the driver (-8005). The cards may be fine: device files not passed "
        "in, driver not mounted, held by another container, or only root may ask.",
        "NPU 驱动没有应答",
        "节点 {node} 上的进程 {rank} 无法查询驱动（-8005）。卡本身可能正常：设备文件没有传入、驱动没有挂载、"
        "被其他容器占用，或只有 root 可以查询。",
        ("See the device files", "查看设备文件", "ls -l /dev/davinci* /dev/davinci_manager"),
        ("See who uses the cards", "查看占用者", "aiarts usage"),
    ),
    "gpu-unseen": said(
        "The program sees no GPU",
        "Rank {rank} on node {node} was given no GPU that it can use: none was asked for, CUDA_VISIBLE_DEVICES hides "
        "it, or no driver is passed in.",
        "程序看不到 GPU",
        "节点 {node} 上的进程 {rank} 没有可用的 GPU：没有申请、被 CUDA_VISIBLE_DEVICES 隐藏，或没有传入驱动。",
        ("See the job's variables", "查看任务的环境变量", "aiarts env {job} --rank {rank}"),
        ("Ask for GPUs", "申请 GPU", None),
    ),
    "gpu-xid": said(
        "A GPU of node {node} reported Xid {xid}",
        "The driver saw a fault of the card itself (Xid {xid}) under rank {rank}.",
        "节点 {node} 的 GPU 报告 Xid {xid}",
        "驱动在进程 {rank} 运行时发现卡本身的故障（Xid {xid}）。",
        (
            "Run it again on another node, and tell the admin",
            "在其他节点上重新运行，并告知管理员",
            "aiarts rerun {job}",
        ),
    ),
    "gpu-ecc": said(
        "A GPU of node {node} has broken memory",
        "The card of rank {rank} found an error in its memory that it could not mend.",
        "节点 {node} 的 GPU 显存损坏",
        "进程 {rank} 的卡发现了无法纠正的显存错误。",
        (
            "Run it again on another node, and tell the admin",
            "在其他节点上重新运行，并告知管理员",
            "aiarts rerun {job}",
        ),
    ),
    "gpu-lost": said(
        "A GPU of node {node} is lost",
        "The system no longer reaches the card of rank {rank}; only a restart of the node brings it back.",
        "节点 {node} 的 GPU 丢失",
        "系统已无法访问进程 {rank} 的卡；只有重启节点才能恢复。",
        (
            "Run it again on another node, and tell the admin",
            "在其他节点上重新运行，并告知管理员",
            "aiarts rerun {job}",
        ),
    ),
    "npu-aicpu": said(
        "The card's own processor failed",
        "The AI CPU of rank {rank}'s card on node {node} ended with an exception (507018). If other jobs fail on the "
        "same card too, it is the card.",
        "卡上处理器异常",
        "节点 {node} 上进程 {rank} 的卡的 AI CPU 发生异常（507018）。如果其他任务在同一张卡上也失败，则是卡的问题。",
        ("See the driver's own errors", "查看驱动日志", "aiarts logs {job} --npu --rank {rank}"),
        ("Run it again on another card", "换一张卡重新运行", "aiarts rerun {job}"),
    ),
    "npu-memory-broken": said(
        "An NPU of node {node} has broken memory",
        "The card of rank {rank} found errors in its memory that it could not mend.",
        "节点 {node} 的 NPU 显存损坏",
        "进程 {rank} 的卡发现了无法纠正的显存错误。",
        (
            "Run it again on another node, and tell the admin",
            "在其他节点上重新运行，并告知管理员",
            "aiarts rerun {job}",
        ),
    ),
    "npu-silent": said(
        "An NPU of node {node} no longer answers",
        "The driver lost the heartbeat of rank {rank}'s card.",
        "节点 {node} 的 NPU 没有响应",
        "驱动收不到进程 {rank} 的卡的心跳。",
        (
            "Run it again on another node, and tell the admin",
            "在其他节点上重新运行，并告知管理员",
            "aiarts rerun {job}",
        ),
    ),
    "npu-start-failed": said(
        "The card could not be started",
        "The card of rank {rank} on node {node} did not start (507033); the lines do not say why. The driver's own "
        "errors may.",
        "无法启动加速卡",
        "节点 {node} 上进程 {rank} 的卡无法启动（507033）；日志没有说明原因。驱动日志可能有说明。",
        ("See the driver's own errors", "查看驱动日志", "aiarts logs {job} --npu --rank {rank}"),
        LOG,
    ),
    "npu-operator": said(
        "An operator failed on the card",
        "An operator of rank {rank} ended with an exception on the card of node {node}: mostly an index or a shape "
        "that does not fit, sometimes the card.",
        "算子在卡上执行失败",
        "进程 {rank} 的算子在节点 {node} 的卡上执行异常：多为下标或形状不合适，有时是卡的问题。",
        ("See the driver's own errors", "查看驱动日志", "aiarts logs {job} --npu --rank {rank}"),
        LOG,
    ),
    "profiler-path": said(
        "The profiler does not take this path",
        "It accepts only plain letters, digits, - and _ in its output path: {path}.",
        "性能分析器不接受该路径",
        "输出路径只能包含字母、数字、- 和 _：{path}。",
        ("Choose another folder", "换一个目录", None),
    ),
    "device-assert": said(
        "A check on the GPU failed",
        "Code of rank {rank} that ran on the GPU found a value that is not allowed, mostly an index or a label out of "
        "range. Where is only known when each step is waited for.",
        "GPU 上的检查失败",
        "进程 {rank} 在 GPU 上运行的代码遇到了不允许的值，多为下标或标签越界。逐步执行才能知道位置。",
        (
            "Run it once with CUDA_LAUNCH_BLOCKING=1",
            "设置 CUDA_LAUNCH_BLOCKING=1 运行一次",
            {"env": {"CUDA_LAUNCH_BLOCKING": "1"}},
        ),
        LOG,
    ),
    "illegal-memory": said(
        "Code on the GPU used memory that is not its own",
        "A kernel of rank {rank} on node {node} read or wrote outside its memory: mostly an error of the program or a "
        "library. Where is only known when each step is waited for.",
        "GPU 代码访问了非法内存",
        "节点 {node} 上进程 {rank} 的 GPU 代码读写越界：多为程序或库的错误。逐步执行才能知道位置。",
        (
            "Run it once with CUDA_LAUNCH_BLOCKING=1",
            "设置 CUDA_LAUNCH_BLOCKING=1 运行一次",
            {"env": {"CUDA_LAUNCH_BLOCKING": "1"}},
        ),
        LOG,
    ),
}
