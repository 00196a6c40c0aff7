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
