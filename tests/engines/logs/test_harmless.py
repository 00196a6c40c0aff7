"""Floods that mean nothing are folded and said to be harmless; nothing else ever is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_aiarts.engines.logs import LogLine, fold
from jupyter_aiarts.explain.harmless import TEXTS, harmless_text
from jupyter_aiarts.model.harmless import KINDS, family, harmless

TENSORFLOW = [  # tensorflow/tensorflow#64809
    "2024-03-30 14:29:58.668656: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on. You may see "
    "slightly different numerical results due to floating-point round-off errors.",
    "2024-03-30 14:29:58.691384: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register "
    "cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
    "2024-03-30 14:29:58.692006: E external/local_xla/xla/stream_executor/cuda/cuda_blas.cc:1515] Unable to register "
    "cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered",
    "2024-03-30 14:29:58.8: I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized "
    "to use available CPU instructions in performance-critical operations.",
    "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the flags.",
    "2024-03-30 14:29:59.0: W tensorflow/compiler/tf2tensorrt/utils/py_utils.cc:38] TF-TRT Warning: Could not find "
    "TensorRT",
]
OTHERS = [
    ("[WARNING] DEVICE(1,ffff,python):2026-11-16-05:00:00.1 [x.cc:1] Fun] SocVersion Ascend910A", "mindspore"),
    ("/x/numpy/core/getlimits.py:518: UserWarning: The value of the smallest subnormal for <class 'numpy.float64'> "
     "type is zero.", "numpy"),
    ("host:1:2 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.", "nccl"),
    ("host:1:2 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0", "nccl"),
    ("WARNING: All log messages before absl::InitializeLog() is called are written to STDERR", "glog"),
    ("WARNING: Logging before InitGoogleLogging() is written to STDERR", "glog"),
    ("huggingface/tokenizers: The current process just got forked, after parallelism was used.", "tokenizers"),
    ("Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being "
     "overloaded", "torchrun"),
]  # fmt: skip
LOUD = [
    "[ERROR] DEVICE(384,ffff,python):2025-10-20-09:54:58 [x.cc:557] SetContextSocVersion] Get soc name failed.",
    "host:1:2 [0] NCCL INFO comm 0x1 rank 0 - Abort COMPLETE",
    "host:1:2 [0] NCCL WARN Bootstrap : no socket interface found",
    "ValueError: TF-TRT is required",
    "RuntimeError: oneDNN failed",
    "TypeError: smallest subnormals",
    "Could not load library libcudnn_cnn_infer.so.8",
    "E0000 00:00:1 cuda_dnn.cc:1] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.9.4",
]


def lines(*texts: str) -> list[LogLine]:
    return [
        LogLine(seq=f"{n:x}.0.0.{n:x}.1", t="", node=0, rank=0, stream="stderr", text=text)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("line", "whose"), [*((line, "tensorflow") for line in TENSORFLOW), *OTHERS])
def test_known_floods_are_recognised(line: str, whose: str) -> None:
    kind = harmless(line)
    assert kind is not None and family(kind) == whose


@pytest.mark.parametrize("line", LOUD)
def test_what_may_be_a_cause_is_never_called_harmless(line: str) -> None:
    assert harmless(line) is None


def test_no_deciding_line_of_the_table_is_called_harmless() -> None:
    """A wrong "harmless" would hide a cause."""
    rows = json.loads((Path(__file__).parents[2] / "explain" / "situations.json").read_text(encoding="utf-8"))
    tails = [
        line for row in rows if row["seen"] != "composite" for line in row["facts"].get("log_tail", "").split("\n")
    ]
    assert [line for line in tails if harmless(line)] == []


def test_every_kind_has_its_reason_in_both_languages() -> None:
    for name, _, _ in KINDS:
        assert harmless_text(name) and harmless_text(name, "zh")
    assert all(english and chinese for english, chinese in TEXTS.values())
    assert harmless_text("nobody-knows") == ""


def test_a_flood_folds_into_one_line_that_says_so() -> None:
    folded = fold(lines("start", *TENSORFLOW, "step 1"))
    assert [(line.text, line.folded, line.harmless) for line in folded] == [
        ("start", 0, ""),
        (TENSORFLOW[-1], 5, "tensorflow"),
        ("step 1", 0, ""),
    ]
    assert fold(folded) == folded


def test_a_flood_of_one_kind_is_named_by_it_and_one_line_too() -> None:
    assert [(line.folded, line.harmless) for line in fold(lines(*TENSORFLOW[1:3]))] == [(1, "tensorflow-factory")]
    assert [(line.folded, line.harmless) for line in fold(lines(TENSORFLOW[0]))] == [(0, "tensorflow-onednn")]


def test_an_error_between_harmless_lines_stays_where_it_is() -> None:
    folded = fold(lines(TENSORFLOW[0], "RuntimeError: x", TENSORFLOW[1]))
    assert [line.harmless for line in folded] == ["tensorflow-onednn", "", "tensorflow-factory"]
