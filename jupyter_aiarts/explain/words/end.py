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
    "time-limit": Text(
        Words(
            "Its time was up",
            "It ran for the {hours} hours that max_hours allows.",
            (("Give it more time", {"max_hours": 24}), ("Run it again", "aiarts rerun {job}")),
        ),
        Words(
            "运行时间已到",
            "已运行 max_hours 允许的 {hours} 小时。",
            (("延长时间", {"max_hours": 24}), ("重新运行", "aiarts rerun {job}")),
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
