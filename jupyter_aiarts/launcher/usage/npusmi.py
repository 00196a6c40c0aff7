"""`npu-smi info`: a table whose heads say what its cells hold; widths, columns and rows differ with every driver.

A chip has as many rows as the table has heads, mostly two. Cells are told apart by `|`, values in a cell by their own
form (`3437 / 65536`, `59356/ 65536`, `NA`), never by their place on the line. A server reads such a table every second,
and most of it stands there as before: what was read lately is remembered by its text.
"""

import functools
import itertools
import re
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

_VERSION = re.compile(r"npu-smi\s+(\S+)")
_FAILED = re.compile(r"ret(?:urn)?(?: code| value)?\s*(?:is|=|:)\s*(-?[0-9]+)")
_PART = r"(?i:N/A)(?![^\s/])|(?!(?i:N/A)(?![^\s/]))[^\s/|]+"  # `N/A` is one word, and no N of A
_VALUE = re.compile(rf"({_PART})\s*/\s*({_PART})|(\S+)")
_NUMBER = re.compile(r"-?[0-9]{1,15}(?![0-9])(?:\.[0-9]+)?")
_BRACKET = re.compile(r"\(.*")
MOST_CHIPS = 256
_MOST_WIDE = 1000  # characters of a row; a line that is longer is none, and is not remembered
_NONE = ("NA", "N/A", "-", "--", "", "NULL")
_UNTOLD = (None, None)
Cells = Tuple[str, ...]
Seen = Mapping[str, Tuple[Optional[str], Optional[str]]]


class Chip(NamedTuple):
    """One chip: `card` holds one or two; memory in MB; `phy` and `device` count over all cards where they are told."""

    card: int
    chip: Optional[int] = None
    phy: Optional[int] = None
    device: Optional[int] = None
    name: str = ""
    health: Optional[str] = None
    power: Optional[float] = None
    temperature: Optional[float] = None
    bus: Optional[str] = None
    aicore: Optional[float] = None
    memory_used: Optional[float] = None
    memory_total: Optional[float] = None
    hbm_used: Optional[float] = None
    hbm_total: Optional[float] = None
    hugepages_used: Optional[float] = None
    hugepages_total: Optional[float] = None


class Report(NamedTuple):
    """What the tool said; `error` is its own code, `empty`, `garbage` where nothing could be read, or `cut` where the
    table does not end: who is missing in that one has not gone.

    `programs` are the rows of the other table as they stand, each after its head.
    """

    version: Optional[str]
    chips: List[Chip]
    error: Optional[str] = None
    programs: Sequence[Tuple[Cells, Cells]] = ()


def parse(text: str) -> Report:
    """The chips and the rows of programs; what is cut off or damaged is left out, the rest is told."""
    version = _VERSION.search(text)
    chips: List[Chip] = []
    programs: List[Tuple[Cells, Cells]] = []
    heads: List[Cells] = []
    rows: List[Cells] = []
    of_programs = False
    for cells in _lines(text):
        if _is_head(cells):
            of_programs = _is_process_head(cells)
            heads = [cells] if rows or not heads or of_programs else [*heads, cells]
            rows = []
        elif of_programs:
            programs.append((heads[-1], cells))
        elif heads and not _is_process_head(heads[0]) and len(cells) >= len(heads[0]):  # fewer: it is cut off
            if _starts_anew(rows, cells):
                chips += _begun(heads, rows)
                rows = []
            rows.append(cells)
            if len(rows) == len(heads):
                chips += _begun(heads, rows)
                rows = []
    return Report(version.group(1) if version else None, chips[:MOST_CHIPS], _error(text, chips), programs)


def counted(report: Report) -> List[Tuple[int, Chip]]:
    """Every chip with the number that programs know it by: over all cards, as the tool tells it or as they stand.

    Where a tool tells the numbers, a chip that is too broken to have one gets the lowest that is left.
    """
    told = [chip.device if chip.phy is None else chip.phy for chip in report.chips]
    if any(number is not None for number in told):
        free = (number for number in itertools.count() if number not in told)
        return [(next(free) if number is None else number, chip) for number, chip in zip(told, report.chips)]
    per_card = max((chip.chip or 0 for chip in report.chips), default=0) + 1
    return [(chip.card * per_card + (chip.chip or 0), chip) for chip in report.chips]


def memory_of(chip: Chip) -> Tuple[Optional[float], Optional[float]]:
    """Used and total of what models are in: HBM where there is some; a total of 0 says that there is none of a kind."""
    if chip.hbm_total:
        return chip.hbm_used, chip.hbm_total
    return (chip.memory_used, chip.memory_total) if chip.memory_total else (None, None)


def number(text: Optional[str]) -> Optional[float]:
    """A number, perhaps with its unit behind it; None for everything that says that it is not known."""
    return _number(text[:32]) if text else None


@functools.lru_cache(maxsize=1024)
def _number(text: str) -> Optional[float]:
    match = _NUMBER.match(text)
    return float(match.group()) if match else None


def _lines(text: str) -> Iterator[Cells]:
    """The cells of each line of a table; rules, and sentences inside a frame, are no rows."""
    for line in text.splitlines():
        cells = _cells(line) if len(line) <= _MOST_WIDE else ()
        if cells:
            yield cells


@functools.lru_cache(maxsize=512)
def _cells(line: str) -> Cells:
    line = line.strip()
    if not line.startswith("|") or not line.endswith("|") or line.count("|") < 3:
        return ()  # also a row that is cut off: its last number may have lost digits
    return tuple(cell.strip() for cell in line.strip("|").split("|"))


def _is_head(cells: Cells) -> bool:
    """Whether these cells say what the rows below them hold."""
    if not cells[0].startswith(("NPU", "Chip")):
        return False  # nearly all rows: they begin with a number
    first = cells[0].split()
    return first[0] in ("NPU", "Chip") and not any(word.isdigit() for word in first)


def _is_process_head(cells: Cells) -> bool:
    """Whether those rows are programs."""
    return len(cells) > 1 and cells[1].lower().startswith("process")


def _starts_anew(rows: Sequence[Cells], cells: Cells) -> bool:
    """Whether a row begins another chip though the one before is not complete: its second row was lost."""
    return (
        bool(rows) and len(cells) > 1 and bool(re.match(r"[A-Za-z]{2,}\Z", cells[1])) and cells[1].upper() not in _NONE
    )


def _begun(heads: Sequence[Cells], rows: Sequence[Cells]) -> List[Chip]:
    """The chip of these rows; none where not even its card can be read."""
    seen: Dict[str, Tuple[Optional[str], Optional[str]]] = {}
    for head, row in zip(heads, rows):
        for labels, cell in zip(head, row):
            seen.update(_named(labels, cell))
    card = number(seen.get("NPU", _UNTOLD)[0])
    if card is None:
        return []
    return [
        Chip(
            int(card), _whole(seen, "Chip"), _whole(seen, "Phy-ID"), _whole(seen, "Device"),
            _single(seen, "Name") or "", _single(seen, "Health"), _amount(_single(seen, "Power")),
            number(_single(seen, "Temp")), _single(seen, "Bus-Id"), _amount(_single(seen, "AICore")),
            *_pair(seen, "Memory-Usage"), *_pair(seen, "HBM-Usage"), *_pair(seen, "Hugepages-Usage"),
        )
    ]  # fmt: skip


def _single(seen: Seen, label: str) -> Optional[str]:
    told = seen.get(label, _UNTOLD)[0]
    return None if told is None or told.upper() in _NONE else told


def _whole(seen: Seen, label: str) -> Optional[int]:
    told = number(_single(seen, label))
    return None if told is None else int(told)


def _pair(seen: Seen, label: str) -> Tuple[Optional[float], Optional[float]]:
    used, total = seen.get(label, _UNTOLD)
    return _amount(used), _amount(total)


def _amount(text: Optional[str]) -> Optional[float]:
    """A number of something that cannot be less than nothing: `-1` says that it is not known."""
    told = number(text)
    return None if told is None or told < 0 else told


@functools.lru_cache(maxsize=1024)
def _named(labels: str, cell: str) -> Seen:
    """`{label: (value, second)}` of one cell; the last label takes what is left, so that a name may have spaces."""
    names = _names(labels)
    values = [(match.group(1) or match.group(3), match.group(2)) for match in _VALUE.finditer(cell)]
    if names and len(values) > len(names) and names[-1] == "Name":
        rest = " ".join(first or "" for first, _ in values[len(names) - 1 :])
        values = [*values[: len(names) - 1], (rest, None)]
    return dict(zip(names, values))


@functools.lru_cache(maxsize=64)
def _names(labels: str) -> Tuple[str, ...]:
    """What the words of a head are called, without their units; a driver writes the same heads every time."""
    return tuple(_BRACKET.sub("", word) for word in labels.split())


def _error(text: str, chips: Sequence[Chip]) -> Optional[str]:
    """Why there is nothing to tell: a table without a chip is one that was cut off, a machine without any says more."""
    if not text.strip():
        return "empty"
    failed = _FAILED.search(text)
    if failed is not None and not chips:
        return failed.group(1)
    if not chips:
        return "garbage"
    return None if _ends(text) else "cut"


def _ends(text: str) -> bool:
    """Whether the last line of the table is a rule; a sentence below it is no part of it."""
    lines = (line.lstrip() for line in reversed(text.splitlines()))
    return next((line.startswith("+") for line in lines if line.startswith(("|", "+"))), False)
