"""Why a card or a machine does not say what it does."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

TEXTS = {
    "npu-smi-failed": Text(
        Words(
            "npu-smi cannot tell of the cards",
            "It ended with an error, which the evidence quotes. Cards may be there all the same: often the device "
            "files are not passed into this container, another container holds the cards, or only root may ask.",
            (("Ask it yourself", "npu-smi info"), ("Else ask the admin of this machine", None)),
        ),
        Words(
            "npu-smi 无法给出卡的信息",
            "它以错误结束，证据中是原话。卡可能仍然存在：常见情况是设备文件未传入本容器、卡被其他容器占用，"
            "或只有 root 可以查询。",
            (("自行查询", "npu-smi info"), ("否则请联系本机管理员", None)),
        ),
    ),
    "npu-smi-silent": Text(
        Words(
            "npu-smi says nothing",
            "It is there, and printed nothing in time. What the cards do is unknown until it answers.",
            (("Ask it yourself", "npu-smi info"),),
        ),
        Words(
            "npu-smi 没有输出",
            "该工具存在，但没有及时输出任何内容。在它响应之前，卡的状态未知。",
            (("自行查询", "npu-smi info"),),
        ),
    ),
    "npu-smi-cut": Text(
        Words(
            "npu-smi broke off in the middle of its table",
            "It crashed, or took longer than 10 s; the evidence is the last it said. What the cards do is unknown "
            "until it answers whole: a card that is missing in a part of the table may be well.",
            (("Ask it yourself", "npu-smi info"),),
        ),
        Words(
            "npu-smi 的表格输出到一半中断",
            "它已崩溃，或耗时超过 10 秒；证据是它最后输出的内容。在它完整响应之前，卡的状态未知："
            "不完整的表格中缺少的卡可能是正常的。",
            (("自行查询", "npu-smi info"),),
        ),
    ),
    "probe-pending": Text(
        Words(
            "{probe} has not answered yet",
            "It was asked just now and may take some seconds. What it would tell is unknown until then.",
        ),
        Words("{probe} 尚未响应", "刚刚询问，可能需要几秒钟。在此之前，它提供的数值未知。"),
    ),
    "probe-silent": Text(
        Words(
            "{probe} does not answer",
            "It was asked {message} ago and has not answered. What it would tell is shown as unknown; everything else "
            "goes on.",
        ),
        Words("{probe} 没有响应", "{message} 前已询问，至今没有回答。它提供的数值显示为未知；其他一切照常。"),
    ),
    "probe-failed": Text(
        Words("{probe} failed", "What it would tell is shown as unknown; the evidence is what it said."),
        Words("{probe} 出错", "它提供的数值显示为未知；证据是它的原话。"),
    ),
}
