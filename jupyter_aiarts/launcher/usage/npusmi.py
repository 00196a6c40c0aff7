"""`npu-smi info`: a table whose heads say what its cells hold; widths, columns and rows differ with every driver.

A chip has as many rows as the table has heads, mostly two. Cells are told apart by `|`, values in a cell by their own
form (`3437 / 65536`, `59356/ 65536`, `NA`), never by their place on the line.
"""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

_VERSION = re.compile(r"npu-smi\s+(\S+)")
_FAILED = re.compile(r"ret(?:urn)?(?: code| value)?\s*(?:is|=|:)\s*(-?[0-9]+)")
_VALUE = re.compile(r"([^\s/|]+)\s*/\s*([^\s/|]+)|(\S+)")
_KEYED = re.compile(r"\s*([A-Za-z][\w ()%/.-]*?)\s*:\s*(.*?)\s*\Z")
_MOST_CHIPS = 256
_NONE = ("NA", "N/A", "-", "--", "", "NULL")


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


class Process(NamedTuple):
    """One program on a chip; memory in MB, unless `unit` is `B`."""

    card: int
    chip: Optional[int]
    pid: int
    name: str = ""
    memory: Optional[float] = None
    container_pid: Optional[int] = None


class Report(NamedTuple):
    """What the tool said; `error` is its own code, `empty`, or `garbage` where nothing could be read."""

    version: Optional[str]
    chips: List[Chip]
    processes: List[Process]
    error: Optional[str] = None


def parse(text: str) -> Report:
    """The chips and their programs; what is cut off or damaged is left out, the rest is told."""
    version = _VERSION.search(text)
    chips: List[Chip] = []
    processes: List[Process] = []
    heads: List[List[str]] = []
    rows: List[List[str]] = []
    for cells in _lines(text):
        if _is_head(cells):
            heads = [cells] if rows or not heads or _is_process_head(cells) else [*heads, cells]
            rows = []
        elif heads and _is_process_head(heads[0]):
            processes += _process(heads[0], cells)
        elif heads:
            chips += _begun(heads, rows) if len(rows) == len(heads) or _starts_anew(rows, cells) else []
            rows = [cells] if len(rows) == len(heads) or _starts_anew(rows, cells) else [*rows, cells]
            if len(rows) == len(heads):
                chips += _begun(heads, rows)
                rows = []
    return Report(version.group(1) if version else None, chips[:_MOST_CHIPS], processes, _error(text, heads))


def counted(report: Report) -> List[Tuple[int, Chip]]:
    """Every chip with the number that programs know it by: over all cards, as the tool tells it or as they stand."""
    per_card = max((chip.chip or 0 for chip in report.chips), default=0) + 1
    numbers = [
        chip.phy if chip.phy is not None else chip.device if chip.device is not None
        else chip.card * per_card + (chip.chip or 0)
        for chip in report.chips
    ]  # fmt: skip
    return list(zip(numbers, report.chips))


def memory_of(chip: Chip) -> Tuple[Optional[float], Optional[float]]:
    """Used and total of what models are in: HBM where there is some; a total of 0 says that there is none of a kind."""
    if chip.hbm_total:
        return chip.hbm_used, chip.hbm_total
    return (chip.memory_used, chip.memory_total) if chip.memory_total else (None, None)


def keyed(text: str) -> Dict[str, str]:
    """The `Key : Value` lines of `npu-smi info -t common|usages`, the first of each key."""
    found: Dict[str, str] = {}
    for line in text.splitlines():
        match = _KEYED.match(line[:500])
        if match is not None:
            found.setdefault(match.group(1), match.group(2))
    return found


def number(text: Optional[str]) -> Optional[float]:
    """A number, perhaps with its unit behind it; None for everything that says that it is not known."""
    match = re.match(r"-?[0-9]+(?:\.[0-9]+)?", text or "")
    return float(match.group()) if match else None


def _lines(text: str) -> Iterator[List[str]]:
    """The cells of each line of a table; rules, and sentences inside a frame, are no rows."""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("|") and line.count("|") >= 3:
            yield [cell.strip() for cell in line.strip("|").split("|")]


def _is_head(cells: Sequence[str]) -> bool:
    first = cells[0].split()
    return bool(first) and first[0] in ("NPU", "Chip") and not any(word.isdigit() for word in first)


def _is_process_head(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and cells[1].lower().startswith("process")


def _starts_anew(rows: Sequence[Sequence[str]], cells: Sequence[str]) -> bool:
    """Whether a row begins another chip though the one before is not complete: its second row was lost."""
    return bool(rows) and len(cells) > 1 and bool(re.match(r"[A-Za-z]{2,}\Z", cells[1])) and cells[1] != "NA"


def _begun(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> List[Chip]:
    """The chip of these rows; none where not even its card can be read."""
    seen: Dict[str, Tuple[Optional[str], Optional[str]]] = {}
    for head, row in zip(heads, rows):
        for labels, cell in zip(head, row):
            seen.update(_named(labels, cell))
    card = number(seen.get("NPU", (None, None))[0])
    if card is None:
        return []

    def single(label: str) -> Optional[str]:
        told = seen.get(label, (None, None))[0]
        return None if told is None or told.upper() in _NONE else told

    def whole(label: str) -> Optional[int]:
        told = number(single(label))
        return None if told is None else int(told)

    def pair(label: str) -> Tuple[Optional[float], Optional[float]]:
        used, total = seen.get(label, (None, None))
        return number(used), number(total)

    memory, hbm, pages = pair("Memory-Usage"), pair("HBM-Usage"), pair("Hugepages-Usage")
    return [
        Chip(
            int(card), whole("Chip"), whole("Phy-ID"), whole("Device"), single("Name") or "", single("Health"),
            number(single("Power")), number(single("Temp")), single("Bus-Id"), number(single("AICore")),
            memory[0], memory[1], hbm[0], hbm[1], pages[0], pages[1],
        )
    ]  # fmt: skip


def _named(labels: str, cell: str) -> Dict[str, Tuple[Optional[str], Optional[str]]]:
    """`{label: (value, second)}` of one cell; the last label takes what is left, so that a name may have spaces."""
    names = [re.sub(r"\(.*", "", word) for word in labels.split()]
    values = [(match.group(1) or match.group(3), match.group(2)) for match in _VALUE.finditer(cell)]
    if names and len(values) > len(names) and names[-1] == "Name":
        rest = " ".join(first or "" for first, _ in values[len(names) - 1 :])
        values = [*values[: len(names) - 1], (rest, None)]
    return dict(zip(names, values))


def _process(head: Sequence[str], cells: Sequence[str]) -> List[Process]:
    """One row of the table of programs, by its heads; a sentence such as "No running processes" is none."""
    row = dict(zip([label.lower() for label in head], cells))
    place = [number(word) for word in cells[0].split()]
    pid = number(row.get("process id"))
    if not place or place[0] is None or pid is None:
        return []
    memory = next((value for label, value in row.items() if label.startswith("process memory")), None)
    inside = number(row.get("process id in container"))
    chip = place[1] if len(place) > 1 else None
    return [
        Process(
            int(place[0]), None if chip is None else int(chip), int(pid), row.get("process name", ""),
            _megabytes(memory, head), None if inside is None else int(inside),
        )
    ]  # fmt: skip


def _megabytes(text: Optional[str], head: Sequence[str]) -> Optional[float]:
    """Old drivers write `(B)` over that column."""
    told = number(text)
    return told / (1 << 20) if told is not None and any(label.endswith("memory(B)") for label in head) else told


def _error(text: str, heads: Sequence[Sequence[str]]) -> Optional[str]:
    if not text.strip():
        return "empty"
    failed = _FAILED.search(text)
    if failed is not None and not heads:
        return failed.group(1)
    return None if heads else "garbage"
