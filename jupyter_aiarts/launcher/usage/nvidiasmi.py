"""`nvidia-smi --query-gpu=… --format=csv`: values with or without units, `[N/A]`, or a sentence about the driver.

Used where NVML's own library cannot be had: beside the ranks, in an image that nobody prepared. The slices of a card
that is cut (MIG) are not in that table: `-L` has their UUIDs, `-q -x` their memory, and nothing how busy they are.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

QUERY = (
    "index", "name", "uuid", "driver_version", "temperature.gpu", "power.draw", "utilization.gpu",
    "memory.used", "memory.total", "mig.mode.current",
)  # fmt: skip
OLD_QUERY = QUERY[:-1]
"""For drivers that know nothing of slices: one field that a tool does not know, and it tells nothing at all."""
LISTING = ("-L",)

_NO_DRIVER = re.compile(r"couldn't communicate with the NVIDIA driver|driver/library version mismatch|no devices", re.I)
_INDEX = re.compile(r"[0-9]{1,4}\Z")
_LISTED = re.compile(r"\s*(?:GPU|MIG (\S+)\s+Device)\s+([0-9]{1,4}):.*\(UUID: ([^)\s]+)\)")
_FIELD = re.compile(r"<(\w+)>([^<]*)</")

Memory = Tuple[Optional[float], Optional[float]]
"""Used and total, in MiB."""


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


class Slice(NamedTuple):
    """A part of the card with the UUID `card`; `place` counts them there."""

    card: str
    place: int
    profile: str
    uuid: str


class Report(NamedTuple):
    """What the tool said; `error` is `no-driver`, `empty` or `garbage` where there was nothing to read."""

    gpus: List[Gpu]
    error: Optional[str] = None


def querying(query: Sequence[str]) -> Sequence[str]:
    """The words to ask for these fields with."""
    return ("--query-gpu=" + ",".join(query), "--format=csv,noheader,nounits")


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


def listed(text: str) -> Optional[List[Slice]]:
    """The slices that `-L` tells of; None where it does not even tell of a card."""
    card = None
    found: List[Slice] = []
    for match in filter(None, (_LISTED.match(line[:500]) for line in text.splitlines())):
        profile, place, uuid = match.groups()
        if profile is None:
            card = uuid
        elif card is not None:
            found.append(Slice(card, int(place), profile, uuid))
    return None if card is None else found


def details(card: str) -> Tuple[str, ...]:
    """How the tool is asked for all that it knows of the card with this UUID."""
    return ("-q", "-x", "-i", card)


def memories(text: str, card: str) -> Dict[int, Memory]:
    """The memory of each slice of this card by its place; one that is cut off is left out."""
    found: Dict[int, Memory] = {}
    for gpu in text.split("<gpu ")[1:]:
        for part in gpu.split("<mig_device>")[1:] if f"<uuid>{card}</uuid>" in gpu else ():
            told, end, _ = part.partition("</mig_device>")
            place = _fields(told).get("index", "")
            memory = _fields(told.partition("<fb_memory_usage>")[2].partition("</fb_memory_usage>")[0])
            if end and _INDEX.match(place):
                found[int(place)] = _number(memory.get("used")), _number(memory.get("total"))
    return found


def _fields(text: str) -> Dict[str, str]:
    return {name: value.strip() for name, value in _FIELD.findall(text)}


def _gpu(line: str, query: Sequence[str]) -> Optional[Gpu]:
    cells = [_told(cell) for cell in line.split(", ")]
    row = dict(zip(query, cells))
    index = row.get("index") or ""
    if len(cells) != len(query) or not _INDEX.match(index):
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
    match = re.match(r"-?[0-9]{1,15}(?:\.[0-9]+)?(?= |%|\Z)", text or "")
    return float(match.group()) if match else None
