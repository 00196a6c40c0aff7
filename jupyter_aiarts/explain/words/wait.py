"""Why a job is not running yet, or not any more for now."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

TEXTS = {
    "queue-position": Text(
        Words("Waiting in the queue", "Jobs ahead of it: {ahead}. They start by priority, then in order."),
        Words("排队中", "前面还有 {ahead} 个任务；任务先按优先级、再按先后启动。"),
    ),
    "queue-next": Text(
        Words("About to start", "Nothing is ahead of it in the queue."),
        Words("即将启动", "队列中前面没有其他任务。"),
    ),
    "no-node-fits": Text(
        Words(
            "Waiting for {device}",
            "It needs {need} of {device}; {free} of {total} are free on this machine.",
            (("See what holds them", "aiarts jobs --phase running"),),
        ),
        Words(
            "等待 {device}",
            "需要 {need} 个 {device}；本机共 {total} 个，空闲 {free} 个。",
            (("查看谁在占用", "aiarts jobs --phase running"),),
        ),
    ),
    "ring-fragmented": Text(
        Words(
            "Free cards are split across rings",
            "{free} {device} cards are free, but not {need} inside one ring (0–3 or 4–7).",
            (("Wait for a ring, or ask for fewer cards", None),),
        ),
        Words(
            "空闲卡分散在两个环上",
            "有 {free} 张 {device} 空闲，但没有一个环（0–3 或 4–7）内有 {need} 张。",
            (("等待整环空闲，或减少卡数", None),),
        ),
    ),
    "never-fits": Text(
        Words(
            "This machine can never run it",
            "It needs {need} {device} cards and this machine has {have}.",
            (("Ask for at most {have} cards, or choose a cluster", {"devices": "{have}"}),),
        ),
        Words(
            "本机永远无法运行",
            "需要 {need} 张 {device}，而本机只有 {have} 张。",
            (("最多申请 {have} 张卡，或选择集群", {"devices": "{have}"}),),
        ),
    ),
    "never-fits-whole": Text(  # never-fits as one node, where several would do
        Words(
            "No node can ever run it alone",
            "It needs {each} {device} cards on one node, and the largest, {machine}, has {have}. "
            "{nodes} nodes with {cards} cards each can run it.",
            (
                (
                    "Run it as {nodes} × {cards}",
                    {"kind": "distributed", "nodes": "{nodes}", "devices": "{cards}"},
                ),
            ),
        ),
        Words(
            "任何单个节点都无法运行",
            "需要一个节点上有 {each} 张 {device}，而最大的节点 {machine} 只有 {have} 张。"
            "{nodes} 个节点、每个 {cards} 张卡可以运行。",
            (
                (
                    "改为 {nodes} × {cards} 运行",
                    {"kind": "distributed", "nodes": "{nodes}", "devices": "{cards}"},
                ),
            ),
        ),
    ),
    "fits-as-distributed": Text(
        Words(
            "Fits now only as a distributed job",
            "No node has {each} {device} cards free; the nearest, {machine}, has {free}. "
            "{nodes} nodes have {cards} each: it would start now as {nodes} × {cards}.",
            (
                (
                    "Run it as {nodes} × {cards}, or wait for one node",
                    {"kind": "distributed", "nodes": "{nodes}", "devices": "{cards}"},
                ),
            ),
        ),
        Words(
            "目前只能以分布式方式运行",
            "没有节点空闲 {each} 张 {device}；最接近的 {machine} 空闲 {free} 张。"
            "有 {nodes} 个节点各空闲 {cards} 张：以 {nodes} × {cards} 可立即启动。",
            (
                (
                    "改为 {nodes} × {cards} 运行，或等待单个节点空闲",
                    {"kind": "distributed", "nodes": "{nodes}", "devices": "{cards}"},
                ),
            ),
        ),
    ),
    "no-such-cards": Text(
        Words(
            "This machine can never run it",
            "It needs {need} {device} cards and this machine has none.",
            (("Run it without cards, or choose a cluster", {"device": "cpu", "devices": 0}),),
        ),
        Words(
            "本机永远无法运行",
            "需要 {need} 张 {device}，而本机没有这种卡。",
            (("改用 CPU，或选择集群", {"device": "cpu", "devices": 0}),),
        ),
    ),
    "paused-by-user": Text(
        Words(
            "Paused",
            "Its devices are free again. Resuming starts the script anew: it must find its own checkpoint.",
            (("Resume it", "aiarts resume {job}"),),
        ),
        Words(
            "已暂停",
            "设备已释放。恢复时脚本会重新开始，需要自行读取检查点。",
            (("恢复运行", "aiarts resume {job}"),),
        ),
    ),
    "starting": Text(
        Words("Starting", "Its place is decided and its ranks are being started."),
        Words("启动中", "资源已分配，正在启动各个进程。"),
    ),
    "running": Text(
        Words("Running", "Every rank is up."),
        Words("运行中", "所有进程都已启动。"),
    ),
    "stopping": Text(
        Words("Ending", "It was asked to end and has {grace} seconds to do so by itself."),
        Words("正在结束", "已请求结束，最多等待 {grace} 秒让其自行退出。"),
    ),
    "ending": Text(
        Words("Its launcher is gone", "What it had started is being ended; its last lines are being kept."),
        Words("启动器已消失", "正在结束它启动的进程，并保存最后的日志。"),
    ),
    "elsewhere": Text(
        Words("Runs on {host}", "It was submitted on {host}; its processes cannot be seen from this machine."),
        Words("在 {host} 上运行", "该任务在 {host} 上提交；在本机看不到它的进程。"),
    ),
    "waiting-for-peers": Text(
        Words("Its nodes did not meet", "Not all {nodes} nodes came together in time; the devices were given back."),
        Words("节点未能会合", "{nodes} 个节点未能及时会合；设备已释放。"),
    ),
}
