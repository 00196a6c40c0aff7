"""Lines that frameworks print at every start and that mean nothing: known by their form, never by their loudness.

A line is only here where its own project, or everybody who met it, says that it can be ignored; where each was seen
stands beside it. Such a line is folded for eyes and is never evidence of a failure. What merely looks like a warning
is not here: a wrong "harmless" hides a cause.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_aiarts.model.later import Later

KINDS: tuple[tuple[str, tuple[str, ...], Later], ...] = (
    (  # issue of the project's users: printed for every operator of a graph on 910 cards
        "mindspore-soc",
        ("socversion", "soc version", "soc_version"),
        Later(r"^\[?WARNING\]?.*\bsoc_? ?version\b", re.IGNORECASE),
    ),
    (  # mindspore-ai/mindspore#344, mindspore-lab/mindyolo#406: numpy on ARM, at the first import
        "numpy-subnormal",
        ("smallest subnormal", "self.smallest_subnormal", "getattr(machar, word)"),
        Later(
            r"getlimits\.py:\d+: UserWarning: The value of the smallest subnormal"
            r"|^\s+(?:setattr\(self, word, getattr\(machar, word\)|return self\._float_to_str\(self\.smallest_subn)"
        ),
    ),
    (  # tensorflow/tensorflow#64809, bmaltais/kohya_ss#2794
        "tensorflow-factory",
        ("unable to register cu", "computation placer already registered"),
        Later(r"Unable to register cu\w+ factory: .*already been registered|computation placer already reg"),
    ),
    (
        "tensorflow-onednn",
        ("onednn custom operations are on", "experimental onednn"),
        Later(r"oneDNN custom operations are on|Experimental oneDNN"),
    ),
    (
        "tensorflow-cpu",
        ("binary is optimized", "to enable the following instructions", "to enable them in other operations"),
        Later(r"TensorFlow binary is optimized|^To enable (?:the following instructions|them in other)"),
    ),
    (  # tensorflow/tensorflow#64809: TensorRT is an extra
        "tensorflow-tensorrt",
        ("tf-trt warning", "cannot dlopen some tensorrt libraries"),
        Later(r"TF-TRT Warning: (?:Could not find TensorRT|Cannot dlopen)", re.IGNORECASE),
    ),
    (  # TensorFlow's look at the first card; "must be at least one NUMA node, so returning" zero
        "tensorflow-numa",
        ("numa node",),
        Later(r"successful NUMA node read from SysFS had negative value|could not open file to read NUMA node"),
    ),
    (  # google/glog: what it prints before its flags are read
        "glog-before-flags",
        (
            "written to stderr",
            "log messages before absl",
            "logging before initgooglelogging",
            "logging before flag.par",
        ),
        Later(
            r"All log messages before absl::InitializeLog\(\) is called are written to STDERR"
            r"|Logging before (?:InitGoogleLogging\(\)|flag\.Parse) is written to STDERR",
            re.IGNORECASE,
        ),
    ),
    (  # NVIDIA/nccl: a plug-in for special networks that was looked for and is not needed
        "nccl-plugin",
        ("net/plugin", "tuner/plugin", "libnccl-net", "libnccl-tuner", "libnccl-profiler", "profiler/plugin"),
        Later(
            r"NCCL INFO (?:NET|TUNER|PROFILER)/Plugin\b.*(?:[Cc]ould not find|No plugin found|[Nn]o such file"
            r"|[Uu]sing internal|Failed to find|Plugin name set by env)"
        ),
    ),
    (  # NVIDIA/nccl: settings and topology read out loud, with NCCL_DEBUG=INFO
        "nccl-info",
        ("nccl info",),
        Later(r"NCCL INFO (?!.*(?:error|fail|abort|timeout|closed|warn))", re.IGNORECASE),
    ),
    (  # pytorch/pytorch: torchrun sets one thread per process
        "torchrun-threads",
        ("omp_num_threads",),
        Later(r"Setting OMP_NUM_THREADS environment variable for each process to be \d"),
    ),
    (
        "torch-distributed-launch",
        ("torch.distributed.launch is deprecated", "module torch.distributed.launch is"),
        Later(r"torch\.distributed\.launch is (?:deprecated|going to be)"),
    ),
    (  # huggingface/tokenizers: a fork after the first use; it turns its own threads off
        "tokenizers-fork",
        ("the current process just got forked", "to disable this warning, you can either", "tokenizers_parallelism="),
        Later(
            r"^huggingface/tokenizers: The current process just got forked"
            r"|^To disable this warning, you can either:|^\s*- (?:Avoid using `tokenizers`|Explicitly set the envir)"
        ),
    ),
    (  # Ascend/pytorch: lines of torch_npu at import
        "torch-npu-start",
        ("torch_npu", "transfer_to_npu"),
        Later(r"ImportWarning:.*(?:transfer_to_npu|torch\.cuda\.\*|backend in torch\.distributed)"),
    ),
)
"""Id, words of which one must be there (small letters, so that most lines are done quickly), and the form."""

_LONGEST = 2000
"""Characters that are looked at; what makes a line harmless stands at its beginning."""


def family(name: str) -> str:
    """Whose flood it is: `tensorflow` for each of TensorFlow's."""
    return name.partition("-")[0]


def harmless(line: str) -> str | None:
    """The id of the flood a line belongs to; None for every other line."""
    return harmless_among((line,))[0]


def harmless_among(lines: Sequence[str]) -> list[str | None]:
    """The same for many lines: what none of them speaks of is looked for once, not in each."""
    texts = [line[:_LONGEST] for line in lines]
    whole = "\n".join(texts).lower()
    kinds = [kind for kind in KINDS if any(word in whole for word in kind[1])]
    if not kinds:
        return [None] * len(texts)
    return [_kind(text, kinds) for text in texts]


def _kind(text: str, kinds: Sequence[tuple[str, tuple[str, ...], Later]]) -> str | None:
    small = text.lower()
    for name, words, form in kinds:
        if any(word in small for word in words) and form.search(text):
            return name
    return None
