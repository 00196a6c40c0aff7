"""What CUDA, NCCL, CANN and HCCL say: which card, which rank, and whether it is the cause or only saw one.

Error numbers are read before sentences: those change with each version. Where a number only says that something else
failed, the answer says so and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules.lines import Statement
from jupyter_aiarts.explain.rules.memories import half_free, shares
from jupyter_aiarts.explain.rules.signs import End, Sign, named, sign

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_LOST = re.compile(r"serverId\[(?P<server>[\w.:-]{1,60})\], ?deviceId\[(?P<card>\d{1,4})\]", re.IGNORECASE)
_REMOTE = re.compile(r"remote ?rank(?:s|Id)?:? ?\[?(?P<peer>\d{1,6})\]?", re.IGNORECASE)
_RANGE = re.compile(r"device ?(?:id)? ?= ?(?P<card>\d{1,4}).{0,60}?range is \[(?P<low>\d+), ?(?P<high>\d+)[)\]]")
_REASON = re.compile(r"Reason: ?\[(?P<said>[^\[\]]{1,200})\]", re.IGNORECASE)
_STORE = re.compile(r"from \[(?P<peer>\d{1,6})\]|\((?P<server>[\w.:-]{1,80}), ?(?P<port>\d{2,5})\)")


def _hccl_wait(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any]:
    """Who was waited for, as far as the line names it."""
    lost = _LOST.search(line.text)
    if lost is not None:
        return {**named(lost), "form": "hccl-card-lost"}
    peer = _REMOTE.search(line.text)
    return {**named(peer), "form": "hccl-rank-silent"} if peer is not None else {}


def _table(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any]:
    """What HCCL does not like about its table, in its own words."""
    reason = _REASON.search(line.text)
    return {**named(reason), "form": "table-refused"} if reason is not None else {}


def _out_of_range(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    found = _RANGE.search(line.text)
    if found is None:
        return None  # the same number stands for other arguments too
    return {"card": found["card"], "last": int(found["high"]) - 1, "form": "card-out-of-range"}


def _store(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any]:
    found = _STORE.search(line.text)
    return named(found) if found is not None else {}


def _xid(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    """Xid 13, 31, 43 and 45 come from a program's own fault or its end, not from the card."""
    number = int(match["xid"])
    return None if number in (13, 31, 43, 45, 68) else {"xid": number, "form": "gpu-xid"}


_HCCL: tuple[Sign, ...] = (
    sign("rank-table-invalid", "ei0004", r"\bEI0004\b", "table-refused-plain", values=_table),
    sign("rank-table-invalid", "ei0014", r"\bEI0014\b", "table-differs"),
    sign(
        "rank-table-invalid", "ranktable", r"rank ?table\b.{0,60}\b(?:is )?(?:invalid|not valid)", "table-refused-plain"
    ),
    sign(
        "rank-table-invalid",
        "same group",
        r"device num \[(?P<said>[\d, ]{1,20})[)\]] must be in the same group",
        "ring-crossed",
    ),
    sign(
        "npu-ip-missing",
        ("device ip", "device_ip"),
        r"(?:Failed to get|no valid|empty|missing|can(?:not|'t) (?:find|get)) device[_ ]ip",
        "cards-without-ip",
    ),
    sign("npu-ip-missing", "hccn", r"hccn\.conf.{0,80}(?:no such file|not exist|not found)", "cards-without-ip"),
    sign("hccl-timeout", "heartbeat lost", r"heartbeat lost", is_after=True, values=_hccl_wait),
    sign("hccl-timeout", ("ei0002", "ei0006"), r"\bEI000[26]\b", is_after=True, values=_hccl_wait),
    sign("hccl-timeout", "notify register", r"Notify register.{0,80}times? ?out", is_after=True, values=_hccl_wait),
    sign("hccl-timeout", "getting socket times out", r"Getting socket times out", is_after=True, values=_hccl_wait),
    sign(
        "hccl-timeout",
        "hccl",
        r"\bhccl\w{0,30}\b.{0,80}\b(?:time(?:d|s)? ?out|timeout)\b",
        is_after=True,
        values=_hccl_wait,
    ),
    sign("exit-code", "ei0005", r"\bEI0005\b", "hccl-disagree"),
    sign("device-busy", "ej0001", r"\bEJ0001\b", "card-left-behind"),
)

_NPU: tuple[Sign, ...] = (
    sign("driver-mismatch", ("e30006", "verify the opp"), r"\bE30006\b|Failed to verify the OPP", "cann-mismatch"),
    sign(
        "driver-mismatch",
        "driver",
        r"driver version.{0,60}(?:not match|mismatch|incompatible).{0,60}(?:CANN|firmware|runtime)",
        "cann-mismatch",
    ),
    sign(
        "device-not-visible", ("ee1001", "valid device range"), r"\bEE1001\b|valid device range", values=_out_of_range
    ),
    sign(
        "device-not-visible", "haldeviceopen", r"halDeviceOpen failed\. ?device_?id=(?P<card>\d{1,4})", "card-refused"
    ),
    sign(
        "device-not-visible",
        "failed to open device",
        r"Failed to open device.{0,60}deviceId=(?P<card>\d{1,4})",
        "card-refused",
    ),
    sign("device-not-visible", "-8005", r"dcmi.{0,60}-8005", "npu-unseen"),
    sign("device-out-of-memory", "half of total memory", r"free memory size is less than half", values=half_free),
    sign("device-out-of-memory", "npu out of memory", r"NPU out of memory", "card-full", values=shares),
    sign("device-out-of-memory", ("el0004", "207018"), r"\bEL0004\b|\b207018\b", "card-full"),
    sign(
        "device-out-of-memory", "memory isn't enough", r"Device.{0,40}memory isn't enough", "card-full", values=shares
    ),
    sign("device-unhealthy", ("507018", "aicpu_exception"), r"\b507018\b|AICPU_EXCEPTION", "npu-aicpu"),
    sign(
        "device-unhealthy",
        ("507053", "device_mem_error"),
        r"\b507053\b|DEVICE_MEM_ERROR|HBM MULTI BIT ECC",
        "npu-memory-broken",
    ),
    sign("device-unhealthy", ("507010", "lost_heartbeat"), r"\b507010\b|RT_LOST_HEARTBEAT", "npu-silent"),
    sign(
        "exit-code",
        ("507015", "aicore_exception", "aicore exception"),
        r"\b507015\b|AICORE_EXCEPTION|aicore exception",
        "npu-operator",
    ),
    sign("exit-code", "ek0001", r"\bEK0001\b.{0,10}Path \[(?P<path>[^\]]{1,300})\]", "profiler-path"),
    sign(
        "exit-code",
        ("507033", "failed to start the device"),
        r"\b507033\b|Failed to start the device",
        "npu-start-failed",
    ),
)

_CUDA: tuple[Sign, ...] = (
    sign(
        "device-out-of-memory",
        ("out of memory", "outofmemoryerror"),
        r"(?:CUDA|HIP|XPU|MUSA)(?: error:)? out of memory|(?<!lang\.)OutOfMemoryError: \w",
        "card-full",
        values=shares,
    ),
    sign(
        "device-out-of-memory",
        ("cublas_status_alloc", "cudaerrormemoryallocation", "cudnn_status_alloc"),
        r".",
        "card-full",
    ),
    sign(
        "device-out-of-memory",
        "oom when allocating",
        r"OOM when allocating tensor.{0,200}GPU:(?P<card>\d{1,3})",
        "card-full",
    ),
    sign("device-out-of-memory", "resource_exhausted", r"RESOURCE_EXHAUSTED: Out of memory", "card-full"),
    sign("driver-mismatch", "no kernel image", r"no kernel image is available", "cuda-build"),
    sign(
        "driver-mismatch",
        "is not compatible with the current pytorch",
        r"is not compatible with the current PyTorch",
        "cuda-build",
    ),
    sign(
        "driver-mismatch",
        ("driver version is insufficient", "driver on your system is too old", "unsupported display driver"),
        r"driver version is insufficient"
        r"|driver on your system is too old(?: \(found version (?P<version>\d{3,6})\))?|unsupported display driver",
        "cuda-driver-old",
    ),
    sign("driver-mismatch", "driver/library version mismatch", r"Driver/library version mismatch", "driver-reload"),
    sign("driver-mismatch", "not compiled with cuda", r"Torch not compiled with CUDA enabled", "torch-without-cuda"),
    sign(
        "device-not-visible",
        ("no cuda gpus are available", "no cuda-capable device", "found no nvidia driver", "cuda_error_no_device"),
        r".",
        "gpu-unseen",
    ),
    sign("device-not-visible", "invalid device ordinal", r"invalid device ordinal", "gpu-ordinal"),
    sign(
        "device-busy", "busy or unavailable", r"device(?:s|\(s\))? (?:are|is|is/are) busy or unavailable", "card-held"
    ),
    sign("device-unhealthy", "xid", r"\bXid\b.{0,60}?\): (?P<xid>\d{1,3})\b", values=_xid),
    sign("device-unhealthy", "ecc", r"uncorrectable (?:NVLink |ECC )?error|double.bit ecc", "gpu-ecc"),
    sign("device-unhealthy", ("gpu is lost", "fallen off the bus"), r"GPU is lost|fallen off the bus", "gpu-lost"),
    sign("exit-code", "device-side assert", r"device-side assert triggered", "device-assert"),
    sign("exit-code", "illegal memory access", r"illegal memory access", "illegal-memory"),
)

_NCCL: tuple[Sign, ...] = (
    sign("nccl-error", "no socket interface found", r"no socket interface found", "nccl-interface"),
    sign(
        "nccl-error",
        "duplicate gpu detected",
        r"Duplicate GPU detected ?: rank (?P<a>\d+) and rank (?P<b>\d+)",
        "nccl-same-card",
    ),
    sign("nccl-error", "ibv_", r"ibv_\w{1,40} failed.{0,80}Cannot allocate memory", "nccl-memlock"),
    sign(
        "nccl-error",
        "retrieving ncclunique",
        r"retrieving ncclUniqueId from",
        "nccl-rank-zero",
        is_after=True,
        values=_store,
    ),
    sign(
        "nccl-error",
        (
            "client socket has timed out",
            "client socket has failed to connect",
            "rendezvoustimeout",
            "rendezvousconnection",
        ),
        r".",
        "nccl-rank-zero",
        is_after=True,
        values=_store,
    ),
    sign(
        "nccl-error",
        (
            "remote process exited",
            "ncclremoteerror",
            "closed by remote peer",
            "connection closed by peer",
            "failed to recv",
        ),
        r".",
        "nccl-peer-gone",
        is_after=True,
    ),
    sign(
        "nccl-error",
        "watchdog caught collective",
        r"Watchdog caught collective operation timeout",
        "nccl-waited",
        is_after=True,
    ),
    sign(
        "nccl-error",
        "nccl",
        r"unhandled (?:system|cuda) error|ncclSystemError|ncclInternalError|ncclUnhandledCudaError|NCCL error in",
        "nccl-unsaid",
        is_after=True,
    ),
    sign(
        "exit-code",
        ("connection reset", "broken pipe", "errno 104", "errno 32]", "gloo", "connection refused"),
        r"Connection reset by peer|Broken pipe|Errno (?:104|32|111)\]|gloo.{0,200}(?:Connection|Timed? ?out)"
        r"|Connection refused",
        "peer-gone",
        is_after=True,
    ),
)

SIGNS: tuple[Sign, ...] = (*_HCCL, *_NPU, *_CUDA, *_NCCL)
