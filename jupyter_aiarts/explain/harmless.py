"""What a flood of harmless lines is, in the reader's language; `model.harmless` knows the lines."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "tensorflow": ("What TensorFlow prints at every start", "TensorFlow 每次启动时的输出"),
    "nccl": ("What NCCL prints at every start", "NCCL 每次启动时的输出"),
    "torch": ("What PyTorch prints at every start", "PyTorch 每次启动时的输出"),
    "mindspore-soc": (
        "MindSpore says for each operator which chip it is built for",
        "MindSpore 逐个算子提示芯片型号",
    ),
    "numpy-subnormal": ("numpy notices how this CPU rounds very small numbers", "numpy 提示该 CPU 对极小数的处理方式"),
    "tensorflow-factory": (
        "TensorFlow registers its CUDA libraries twice and keeps the first",
        "TensorFlow 重复注册 CUDA 库，保留第一次的注册",
    ),
    "tensorflow-onednn": ("TensorFlow says that it uses oneDNN", "TensorFlow 提示正在使用 oneDNN"),
    "tensorflow-cpu": ("TensorFlow lists instructions of this CPU", "TensorFlow 列出该 CPU 的指令集"),
    "tensorflow-tensorrt": (
        "TensorFlow looked for TensorRT, an extra that it does not need",
        "TensorFlow 未找到 TensorRT；它只是可选组件",
    ),
    "tensorflow-numa": (
        "TensorFlow could not read where a card sits and takes node 0",
        "TensorFlow 读不到卡所在的 NUMA 节点，按 0 处理",
    ),
    "glog-before-flags": ("A library logs before its settings are read", "日志库在读取设置之前的输出"),
    "nccl-plugin": ("NCCL looked for a plug-in that ordinary networks do not need", "NCCL 未找到普通网络不需要的插件"),
    "nccl-info": (
        "NCCL tells its settings, because NCCL_DEBUG=INFO is set",
        "因为设置了 NCCL_DEBUG=INFO，NCCL 打印其配置",
    ),
    "torchrun-threads": ("torchrun gives each process one CPU thread", "torchrun 为每个进程设置一个 CPU 线程"),
    "torch-distributed-launch": (
        "An older launcher of PyTorch that still works",
        "PyTorch 的旧启动方式，仍可使用",
    ),
    "tokenizers-fork": (
        "tokenizers turns its own threads off after a fork",
        "tokenizers 在 fork 之后关闭自身的多线程",
    ),
    "torch-npu-start": ("torch_npu says what it replaces", "torch_npu 提示它替换了哪些接口"),
}
"""Why each flood can be passed over, in English and Chinese."""


def harmless_text(name: str, lang: str = "en") -> str:
    """Why lines of this kind can be passed over; empty for a kind nobody knows."""
    return TEXTS.get(name, ("", ""))[lang == "zh"]
