"""`nvidia-smi --query-gpu=… --format=csv`: values with or without units, `[N/A]`, or a sentence about the driver.

Used where NVML's own library cannot be had: beside the ranks, in an image that nobody prepared.
"""

import re
from typing import List, NamedTuple, Optional, Sequence

QUERY = (
    "index", "name", "uuid", "driver_version", "temperature.gpu", "power.draw", "utilization.gpu",
    "memory.used", "memory.total", "mig.mode.current",
)  # fmt: skip
COMMAND = ("nvidia-smi", "--query-gpu=" + ",".join(QUERY), "--format=csv,noheader,nounits")

_NO_DRIVER = re.compile(r"couldn't communicate with the NVIDIA driver|driver/library version mismatch|no devices", re.I)


class Gpu(NamedTuple):
    """One card; memory in MiB."""

    number: int
    name: str = ""
    uuid: Optional[str] = None
    driver: Optional[str] = None
    temperature: Optional[float] = None
    power: Optional[float] = None
    utilization: Optional[float] = None
    memory_used: Optional[float] = None
    memory_total: Optional[float] = None
    mig: Optional[str] = None


class Report(NamedTuple):
    """What the tool said; `error` is `no-driver`, `empty` or `garbage` where there was nothing to read."""

    gpus: List[Gpu]
    error: Optional[str] = None


def parse(text: str, query: Sequence[str] = QUERY) -> Report:
    """The cards of an answer to a query for these fields; a head, units and lines of another form are passed over."""
    gpus = [gpu for gpu in (_gpu(line, query) for line in text.splitlines()) if gpu is not None]
    if gpus:
        return Report(gpus)
    if not text.strip():
        return Report([], "empty")
    if _NO_DRIVER.search(text):
        return Report([], "no-driver")
    return Report([], None if text.lstrip().startswith(query[0]) else "garbage")


def _gpu(line: str, query: Sequence[str]) -> Optional[Gpu]:
    cells = [_told(cell) for cell in line.split(", ")]
    row = dict(zip(query, cells))
    index = row.get("index") or ""
    if len(cells) != len(query) or not index.isdigit():
        return None
    return Gpu(
        int(index), row.get("name") or "", row.get("uuid"), row.get("driver_version"),
        _number(row.get("temperature.gpu")), _number(row.get("power.draw")), _number(row.get("utilization.gpu")),
        _number(row.get("memory.used")), _number(row.get("memory.total")), row.get("mig.mode.current"),
    )  # fmt: skip


def _told(cell: str) -> Optional[str]:
    """A value; None for `[N/A]`, `[Not Supported]`, `[Unknown Error]` and whatever else stands in brackets."""
    text = cell.strip()
    return None if text.startswith("[") or text in ("N/A", "") else text


def _number(text: Optional[str]) -> Optional[float]:
    match = re.match(r"-?[0-9]+(?:\.[0-9]+)?(?= |%|\Z)", text or "")
    return float(match.group()) if match else None
