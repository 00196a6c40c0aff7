"""The pages of `npu-smi` that are asked where its table cannot be read, or lacks a number for every chip: `info -m`,
`info -t usages` and `info -t common`. Their keys are the same in every language and layout."""

import re
from typing import Dict, List, Optional, Sequence

from .npusmi import MOST_CHIPS, Chip, memory_of, number

LISTING = ("info", "-m")
_KEYED = re.compile(r"\s*([A-Za-z][\w ()%/.-]*?)\s*:\s*(.*?)\s*\Z")


def words(page: str, chip: Chip) -> List[str]:
    """How the tool is asked for a page (`usages` or `common`) about one chip."""
    return ["info", "-t", page, "-i", str(chip.card), "-c", str(chip.chip or 0)]


def are_told(chips: Sequence[Chip]) -> bool:
    """Whether there is no need for pages; one dead card among others is no reason to ask."""
    return any(chip.aicore is not None for chip in chips) and any(memory_of(chip)[1] for chip in chips)


def keyed(text: str) -> Dict[str, str]:
    """The `Key : Value` lines of `npu-smi info -t common|usages`, the first of each key."""
    found: Dict[str, str] = {}
    for line in text.splitlines():
        match = _KEYED.match(line[:500])
        if match is not None:
            found.setdefault(match.group(1), match.group(2))
    return found


def listed(text: str) -> List[Chip]:
    """The chips of `npu-smi info -m`, whose cells are apart by two blanks or more; a card's controller is none."""
    heads: List[str] = []
    chips: List[Chip] = []
    for line in text.splitlines():
        cells = re.split(r"\s{2,}|\t", line.strip()[:500])
        if "NPU ID" in cells and "Chip ID" in cells:
            heads = cells
            continue
        row = dict(zip(heads, cells))
        card, chip = _whole(row.get("NPU ID")), _whole(row.get("Chip ID"))
        name = row.get("Chip Name", "")
        if card is None or chip is None or name.lower() == "mcu":
            continue
        phy = _whole(row.get("Chip Phy-ID") or row.get("Chip PhyID"))
        chips.append(Chip(card, chip, phy=phy, device=_whole(row.get("Chip Logic ID")), name=name))
    return chips[:MOST_CHIPS]


def told(chip: Chip, page: str) -> Chip:
    """A chip with what the `Key : Value` lines about it say, where it is not known yet."""
    said = keyed(page)

    def either(known: Optional[float], *keys: str) -> Optional[float]:
        found = [value for value in (number(said.get(key)) for key in keys) if value is not None]
        return known if known is not None or not found else found[0]

    def used(known: Optional[float], total: Optional[float], key: str) -> Optional[float]:
        rate = number(said.get(key))
        return known if known is not None or rate is None or total is None else total * rate / 100

    hbm, memory = either(chip.hbm_total, "HBM Capacity(MB)"), either(chip.memory_total, "DDR Capacity(MB)")
    return chip._replace(
        aicore=either(chip.aicore, "Aicore Usage Rate(%)", "NPU Utilization(%)"),
        temperature=either(chip.temperature, "Temperature(C)"),
        power=either(chip.power, "NPU Real-time Power(W)"),
        hbm_total=hbm,
        hbm_used=used(chip.hbm_used, hbm, "HBM Usage Rate(%)"),
        memory_total=memory,
        memory_used=used(chip.memory_used, memory, "Memory Usage Rate(%)"),
    )


def _whole(text: Optional[str]) -> Optional[int]:
    told = number(text)
    return None if told is None else int(told)
