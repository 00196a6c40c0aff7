"""Which Ascend cards this process sees: what its environment grants, else the device nodes, else what npu-smi says.

`cards` is about cards of any kind for `run`; a rank table wants the physical ids, their order, and the board's shape.
"""

from __future__ import annotations

import os
import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from jupyter_aiarts.launcher.ascend import asking
from jupyter_aiarts.launcher.ascend.cards import HIGHEST, card_ids, present

SECONDS = 3.0
VARIABLES = ("ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "VISIBLE_IDS")
HIDDEN = ("", "void", "none", "-1")

_COLUMNS = re.compile(r"NPU ID|Chip ID|Chip Logic ID|Chip Phy-?ID|Chip Name|\S+")
_FREE_OF_RINGS = re.compile(r"910B[1-9]|910C|910_93|310|950", re.IGNORECASE)


class Seen(NamedTuple):
    """Physical card ids in the order in which this process counts them, and who said so.

    Without cards, `looked` is where there were none.
    """

    ids: List[int]
    source: str
    looked: List[str]
    rings: bool = True  # whether the board has two rings of four, as the first Ascend 910 has


def seen(environ: Mapping[str, str], dev: str = "/dev") -> Seen:
    """The cards that a process with this environment can open; a variable that hides them all is believed."""
    told = _told(environ)
    rings = not any(_FREE_OF_RINGS.search(name) for name in told.values())
    looked: List[str] = []
    for name in VARIABLES:
        text = environ.get(name, "all").strip()
        ids = card_ids(text)
        if ids or text in HIDDEN:
            return Seen(_chosen(name, ids, environ), name, [] if ids else [f"{name}={text} hides all cards"], rings)
        looked.append(f"{name} says {text!r}" if name in environ else f"{name} is not set")
    ids = present(dev)
    if ids:
        return Seen(ids, f"{dev}/davinci*", [], rings)
    looked.append(f"{dev} has no davinci device")
    looked.append("npu-smi lists none" if _tool(environ) else "npu-smi is not on PATH")
    return Seen(sorted(told), "npu-smi", [] if told else looked, rings)


def _chosen(name: str, ids: List[int], environ: Mapping[str, str]) -> List[int]:
    """A container's cards are counted from 0 by the runtime, and ASCEND_RT_VISIBLE_DEVICES picks by that count."""
    picked = card_ids(environ.get("ASCEND_RT_VISIBLE_DEVICES", "")) if name == "ASCEND_VISIBLE_DEVICES" else []
    if picked and all(index < len(ids) for index in picked):
        return [ids[index] for index in picked]
    return [card for card in picked if card in ids] or ids


def _tool(environ: Mapping[str, str]) -> Optional[str]:
    import shutil

    return shutil.which("npu-smi", path=environ.get("PATH", os.defpath))


def _told(environ: Mapping[str, str]) -> Dict[int, str]:
    """`{card: chip name}` as `npu-smi info -m` says it; nothing where it is absent or fails."""
    tool = _tool(environ)
    return chips(asking.ask([[tool, "info", "-m"]], environ, SECONDS)[0]) if tool else {}


def chips(text: str) -> Dict[int, str]:
    """Out of `npu-smi info -m`: a head with the columns' names, a row for each chip; an MCU is no card."""
    heads: Sequence[str] = ()
    found: Dict[int, str] = {}
    for line in text.splitlines():
        if "Chip Logic ID" in line:
            heads = _COLUMNS.findall(line)
            continue
        cells = line.split(None, max(len(heads) - 1, 0))
        row = dict(zip(heads, cells)) if len(cells) == len(heads) else {}
        card = row.get("Chip Phy-ID", row.get("Chip PhyID", row.get("Chip Logic ID", "")))
        if card.isdigit() and int(card) <= HIGHEST:
            found[int(card)] = row.get("Chip Name", "").strip()
    return found
