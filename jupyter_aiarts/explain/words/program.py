"""What a failed program lacked, or ran into, on its machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_aiarts.explain.words.text import Text, Words

Act = tuple[str, str, "str | Mapping[str, Any] | None"]


def said(title: str, why: str, zh_title: str, zh_why: str, *acts: Act) -> Text:
    """Both languages of one text; an action is its two labels and what it does."""
    return Text(
        Words(title, why, tuple((label, what) for label, _, what in acts)),
        Words(zh_title, zh_why, tuple((label, what) for _, label, what in acts)),
    )


LOG: Act = ("Read its log", "查看日志", "aiarts logs {job} --rank {rank}")
AGAIN: Act = ("Run it again", "重新运行", "aiarts rerun {job}")
PATH: Act = ("See where this path is visible", "查看该路径在哪里可见", "aiarts doctor path {path}")

TEXTS = {
    # -- what is full, or may not be done
    "disk-full-at": said(
        "The disk is full",
        "Rank {rank} on node {node} could not write to {path}: no room is left there.",
        "磁盘已满",
        "节点 {node} 上的进程 {rank} 无法写入 {path}：没有剩余空间。",
        ("See how full it is", "查看占用情况", "df -h {path}"),
        ("Delete old checkpoints, or write to another place", "删除旧的检查点，或写到其他位置", None),
    ),
    "disk-full-somewhere": said(
        "The disk is full",
        "Rank {rank} on node {node} could not write: no room is left, or no more files are allowed. The line does not "
        "say where; look at its output folder, its home, /tmp and /dev/shm.",
        "磁盘已满",
        "节点 {node} 上的进程 {rank} 无法写入：没有剩余空间，或文件数已达上限。该行没有说明位置；请检查输出目录、"
        "主目录、/tmp 和 /dev/shm。",
        ("See how full they are", "查看占用情况", "df -h"),
        ("Delete old checkpoints, or write to another place", "删除旧的检查点，或写到其他位置", None),
    ),
    "disk-quota": said(
        "The storage quota is used up",
        "Rank {rank} on node {node} could not write ({path}): the disk has room, but this user's share of it is used.",
        "存储配额已用完",
        "节点 {node} 上的进程 {rank} 无法写入（{path}）：磁盘仍有空间，但该用户的配额已用完。",
        ("See the quota", "查看配额", "quota -s"),
        ("Delete old files, or ask the admin for more", "删除旧文件，或向管理员申请更多", None),
    ),
    "watch-limit": said(
        "Too many files are watched",
        "Not the disk: rank {rank} watches more files for changes than node {node} allows.",
        "监视的文件过多",
        "不是磁盘问题：进程 {rank} 监视变化的文件数超过了节点 {node} 的上限。",
        ("The admin may raise the limit", "管理员可以提高上限", "sysctl fs.inotify.max_user_watches=524288"),
        ("Or watch fewer folders", "或减少监视的目录", None),
    ),
    "too-many-open-files": said(
        "Too many open files",
        "Rank {rank} on node {node} has as many files open as it may; data loaders that share tensors by files do "
        "that.",
        "打开的文件过多",
        "节点 {node} 上的进程 {rank} 打开的文件数已达上限；用文件共享张量的数据加载进程常会如此。",
        (
            "In PyTorch: torch.multiprocessing.set_sharing_strategy('file_system')",
            "PyTorch 中：torch.multiprocessing.set_sharing_strategy('file_system')",
            None,
        ),
        ("Or raise the limit in the start file", "或在启动脚本中提高上限", "ulimit -n 65535"),
    ),
    "too-many-processes": said(
        "No more processes or threads may be started",
        "Rank {rank} on node {node} reached the number of processes and threads that it may have.",
        "无法再启动进程或线程",
        "节点 {node} 上的进程 {rank} 已达到进程和线程数上限。",
        (
            "Use fewer loader workers, and one thread each",
            "减少数据加载进程，并限制线程数",
            {"env": {"OMP_NUM_THREADS": "1"}},
        ),
        LOG,
    ),
    "port-taken": said(
        "Port {port} is taken",
        "Rank {rank} on node {node} wanted to listen on port {port}, where another program already listens.",
        "端口 {port} 已被占用",
        "节点 {node} 上的进程 {rank} 要监听端口 {port}，而另一个程序已在使用。",
        ("See who listens there", "查看占用者", "ss -ltnp sport = :{port}"),
        ("Take the port that the job was given: MASTER_PORT", "使用任务分配的端口：MASTER_PORT", None),
    ),
    "port-taken-somewhere": said(
        "A port is taken",
        "Rank {rank} on node {node} wanted to listen on a port where another program already listens; the line does "
        "not say which.",
        "端口已被占用",
        "节点 {node} 上的进程 {rank} 要监听的端口已被另一个程序使用；该行没有说明是哪个端口。",
        ("See who listens", "查看占用者", "ss -ltnp"),
        ("Take the port that the job was given: MASTER_PORT", "使用任务分配的端口：MASTER_PORT", None),
    ),
    "stale-file-handle": said(
        "The network drive lost a file",
        "A file that rank {rank} had open on a network drive was removed or moved by another machine, or the drive's "
        "server was restarted.",
        "网络存储丢失了文件",
        "进程 {rank} 在网络存储上打开的文件被其他机器删除或移动，或存储服务器重启过。",
        AGAIN,
        ("Save locally first, then copy", "先保存到本地，再复制", None),
    ),
    "permission-at": said(
        "Not allowed: {path}",
        "The user that rank {rank} runs as may not use {path} on node {node} in this way.",
        "无权访问：{path}",
        "进程 {rank} 的用户在节点 {node} 上无权这样使用 {path}。",
        ("See who may", "查看权限", "ls -ld {path}"),
        PATH,
    ),
    "permission-somewhere": said(
        "Permission denied",
        "The user that rank {rank} runs as was refused on node {node}; the line does not say which file it was.",
        "权限不足",
        "进程 {rank} 的用户在节点 {node} 上被拒绝；该行没有说明是哪个文件。",
        LOG,
    ),
    "permission-card": said(
        "Not allowed to use the card {path}",
        "The user that rank {rank} runs as may not open {path} on node {node}: it must be in the group that owns it.",
        "无权使用加速卡 {path}",
        "进程 {rank} 的用户在节点 {node} 上无权打开 {path}：该用户须属于拥有它的用户组。",
        ("See which group owns it", "查看所属用户组", "ls -l {path}"),
        ("Ask the admin to add that group to the cluster's device", "请管理员将该组加入集群设备配置", None),
    ),
    "read-only": said(
        "A place that can only be read",
        "Rank {rank} on node {node} wanted to write to {path}, which is mounted read-only.",
        "位置只读",
        "节点 {node} 上的进程 {rank} 要写入 {path}，而它是只读挂载的。",
        PATH,
        ("Write to the job's output folder", "写到任务的输出目录", None),
    ),
    # -- starting
    "script-crlf": said(
        "The script has Windows line breaks",
        "Its first line ends with a carriage return, so the system looks for an interpreter of that odd name.",
        "脚本使用了 Windows 换行符",
        "首行以回车符结尾，系统因此去找一个名字带回车的解释器。",
        ("Convert it", "转换换行符", "sed -i 's/\\r$//' SCRIPT"),
        AGAIN,
    ),
    "interpreter-missing": said(
        "The script's interpreter {name} is missing",
        "The script's first line names {name}, which is not there on node {node}.",
        "脚本的解释器 {name} 不存在",
        "脚本首行指定了 {name}，而节点 {node} 上没有它。",
        ("Change the first line, or choose an image that has it", "修改首行，或换用包含它的镜像", None),
    ),
    "interpreter-hidden": said(
        "{path} could not be started",
        "The file is there; what its first line names is not: Windows line breaks in it, or an interpreter that the "
        "image does not have.",
        "无法启动 {path}",
        "文件存在，但其首行指定的解释器不存在：文件使用了 Windows 换行符，或镜像中没有该解释器。",
        ("See the first line as it is", "查看首行内容", "head -n 1 {path} | cat -A"),
        ("Convert the line breaks", "转换换行符", "sed -i 's/\\r$//' {path}"),
    ),
    "script-missing": said(
        "{path} does not exist where the job runs",
        "Python was told to run {path} and did not find it on node {node}.",
        "任务运行处没有 {path}",
        "Python 要运行 {path}，但在节点 {node} 上没有找到。",
        PATH,
    ),
    "wrong-binary": said(
        "A program for another kind of machine",
        "The system of node {node} cannot run it: it was built for another processor (amd64 or arm64), or it is a "
        "script without a first line that names its interpreter.",
        "程序与机器类型不符",
        "节点 {node} 的系统无法运行它：它是为其他处理器（amd64 或 arm64）构建的，或是首行没有指定解释器的脚本。",
        ("See what this node is", "查看节点类型", "uname -m"),
        LOG,
    ),
    "command-missing": said(
        "The command {name} was not found",
        "{name} is not in the PATH of rank {rank} on node {node}: not installed there, or its environment is not "
        "active.",
        "找不到命令 {name}",
        "{name} 不在节点 {node} 上进程 {rank} 的 PATH 中：没有安装，或没有激活相应的环境。",
        ("Compare the job's environment", "查看任务的环境变量", "aiarts env {job} --rank {rank}"),
        LOG,
    ),
    "file-missing": said(
        "{path} does not exist where the job runs",
        "Rank {rank} wanted to open {path}, and there is nothing of that name on node {node}.",
        "任务运行处没有 {path}",
        "进程 {rank} 要打开 {path}，而节点 {node} 上没有它。",
        PATH,
        LOG,
    ),
    "wrong-arguments": said(
        "The program does not know the argument {said}",
        "Rank {rank} was started with {said}, which its start file does not take.",
        "程序不认识参数 {said}",
        "进程 {rank} 启动时带有启动文件不接受的 {said}。",
        ("See how it was started", "查看启动参数", "aiarts show {job}"),
        LOG,
    ),
    "arguments-missing": said(
        "An argument is missing: {said}",
        "The start file of rank {rank} needs {said} and was started without.",
        "缺少参数：{said}",
        "进程 {rank} 的启动文件需要 {said}，但启动时没有提供。",
        ("See how it was started", "查看启动参数", "aiarts show {job}"),
    ),
    "arguments-unfit": said(
        "An argument does not fit",
        "The start file of rank {rank} refused an argument: {said}.",
        "参数不合适",
        "进程 {rank} 的启动文件拒绝了一个参数：{said}。",
        ("See how it was started", "查看启动参数", "aiarts show {job}"),
    ),
    "no-network": said(
        "A server outside could not be reached",
        "Rank {rank} on node {node} wanted to fetch something and could not reach the server; many clusters have no "
        "way to the internet.",
        "无法访问外部服务器",
        "节点 {node} 上的进程 {rank} 要下载内容，但无法访问服务器；许多集群不能访问互联网。",
        ("Fetch it beforehand to a place that the job sees", "事先下载到任务可见的位置", None),
        LOG,
    ),
}
