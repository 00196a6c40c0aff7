"""How a job ended, and why."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

TEXTS = {
    "succeeded": Text(
        Words("Succeeded", "Every rank ended with exit code 0 after {seconds} s."),
        Words("已成功", "所有进程均以退出码 0 结束，用时 {seconds} 秒。"),
    ),
    "exit-code": Text(
        Words(
            "Rank {rank} ended with exit code {exit_code}",
            "Rank {rank} on node {node} was the first to fail; its last lines are the evidence.",
            (("Read its log", "aiarts logs {job} --rank {rank}"), ("Run it again", "aiarts rerun {job}")),
        ),
        Words(
            "进程 {rank} 以退出码 {exit_code} 结束",
            "节点 {node} 上的进程 {rank} 最先失败；证据是它的最后几行输出。",
            (("查看日志", "aiarts logs {job} --rank {rank}"), ("重新运行", "aiarts rerun {job}")),
        ),
    ),
    "killed": Text(
        Words(
            "Rank {rank} was killed by {signal}",
            "Rank {rank} on node {node} was the first to end, by {signal} (exit code {exit_code}); nothing here tells "
            "who sent it.",
            (("Read its log", "aiarts logs {job} --rank {rank}"), ("Run it again", "aiarts rerun {job}")),
        ),
        Words(
            "进程 {rank} 被 {signal} 终止",
            "节点 {node} 上的进程 {rank} 最先结束，被 {signal} 终止（退出码 {exit_code}）；这里看不出是谁发送的信号。",
            (("查看日志", "aiarts logs {job} --rank {rank}"), ("重新运行", "aiarts rerun {job}")),
        ),
    ),
    "python-error": Text(
        Words(
            "Rank {rank} ended with {error}",
            "The program of rank {rank} on node {node} raised {error} and did not catch it: {said}",
            (("Read its log", "aiarts logs {job} --rank {rank}"), ("Run it again", "aiarts rerun {job}")),
        ),
        Words(
            "进程 {rank} 因 {error} 结束",
            "节点 {node} 上进程 {rank} 的程序抛出 {error} 且没有捕获：{said}",
            (("查看日志", "aiarts logs {job} --rank {rank}"), ("重新运行", "aiarts rerun {job}")),
        ),
    ),
    "worker-failed": Text(
        Words(
            "Worker {worker} of torchrun failed",
            "torchrun, started as rank {rank}, saw its worker {worker} end first, with {worker_exit}; the worker's own "
            "lines are not among the last.",
            (("Search the log for the first error", "aiarts logs {job} --rank {rank} --grep Error"),),
        ),
        Words(
            "torchrun 的工作进程 {worker} 失败",
            "作为进程 {rank} 启动的 torchrun 发现其工作进程 {worker} 最先结束，退出码 {worker_exit}；"
            "最后几行中没有该进程自己的输出。",
            (("在日志中查找最早的错误", "aiarts logs {job} --rank {rank} --grep Error"),),
        ),
    ),
    "segfault": Text(
        Words(
            "Rank {rank} crashed",
            "Rank {rank} on node {node} ended with a segmentation fault: compiled code used memory wrongly. Nothing "
            "here tells which.",
            (
                ("Run it once with PYTHONFAULTHANDLER=1, which prints where", {"env": {"PYTHONFAULTHANDLER": "1"}}),
                ("Read its log", "aiarts logs {job} --rank {rank}"),
            ),
        ),
        Words(
            "进程 {rank} 崩溃",
            "节点 {node} 上的进程 {rank} 发生段错误：编译代码错误地使用了内存。这里看不出是哪一处。",
            (
                ("设置 PYTHONFAULTHANDLER=1 运行一次，会打印位置", {"env": {"PYTHONFAULTHANDLER": "1"}}),
                ("查看日志", "aiarts logs {job} --rank {rank}"),
            ),
        ),
    ),
    "bus-error": Text(
        Words(
            "Rank {rank} ended with a bus error",
            "Memory that rank {rank} on node {node} had mapped was not there: /dev/shm may be full, or a file was cut "
            "while it was read. Nothing here tells which.",
            (("See how full /dev/shm is", "df -h /dev/shm"), ("Read its log", "aiarts logs {job} --rank {rank}")),
        ),
        Words(
            "进程 {rank} 因总线错误结束",
            "节点 {node} 上的进程 {rank} 所映射的内存不可用：可能 /dev/shm 已满，或文件在读取时被截断。"
            "这里看不出是哪一种。",
            (("查看 /dev/shm 占用", "df -h /dev/shm"), ("查看日志", "aiarts logs {job} --rank {rank}")),
        ),
    ),
    "asked-to-end": Text(
        Words(
            "Rank {rank} was asked to end",
            "Somebody outside the program sent SIGTERM to rank {rank} on node {node}; the program itself did not fail.",
            (("Run it again", "aiarts rerun {job}"), ("Read its log", "aiarts logs {job} --rank {rank}")),
        ),
        Words(
            "进程 {rank} 被要求结束",
            "程序之外有人向节点 {node} 上的进程 {rank} 发送了 SIGTERM；程序本身没有失败。",
            (("重新运行", "aiarts rerun {job}"), ("查看日志", "aiarts logs {job} --rank {rank}")),
        ),
    ),
    "interrupted": Text(
        Words(
            "Rank {rank} was interrupted",
            "Rank {rank} on node {node} got an interrupt (SIGINT), as Ctrl+C sends it; the program itself did not "
            "fail.",
            (("Run it again", "aiarts rerun {job}"),),
        ),
        Words(
            "进程 {rank} 被中断",
            "节点 {node} 上的进程 {rank} 收到中断（SIGINT），如同按下 Ctrl+C；程序本身没有失败。",
            (("重新运行", "aiarts rerun {job}"),),
        ),
    ),
    "time-limit": Text(
        Words(
            "Its time was up",
            "It ran for the {hours} hours that max_hours allows.",
            (("Give it twice as much", {"max_hours": "{more_hours}"}), ("Run it again", "aiarts rerun {job}")),
        ),
        Words(
            "运行时间已到",
            "已运行 max_hours 允许的 {hours} 小时。",
            (("延长一倍", {"max_hours": "{more_hours}"}), ("重新运行", "aiarts rerun {job}")),
        ),
    ),
    "stopped-by-user": Text(
        Words("Stopped", "Somebody asked for it.", (("Run it again", "aiarts rerun {job}"),)),
        Words("已停止", "按要求停止。", (("重新运行", "aiarts rerun {job}"),)),
    ),
    "launcher-lost": Text(
        Words(
            "Its launcher died",
            "The process that watched over its ranks is gone without a word: killed, out of memory, or the machine "
            "was restarted. What it had started was ended too.",
            (("Run it again", "aiarts rerun {job}"),),
        ),
        Words(
            "启动器已消失",
            "监管各进程的启动器没有留下任何信息就消失了：被杀死、内存不足或机器重启。它启动的进程也已结束。",
            (("重新运行", "aiarts rerun {job}"),),
        ),
    ),
    "job-unreadable": Text(
        Words(
            "Its record cannot be read", "{message}", (("Restore the file, or delete the job", "aiarts delete {job}"),)
        ),
        Words("记录无法读取", "{message}", (("恢复该文件，或删除任务", "aiarts delete {job}"),)),
    ),
    "unknown": Text(
        Words("Not known", "Nothing that was seen tells why."),
        Words("原因未知", "没有任何迹象说明原因。"),
    ),
}
