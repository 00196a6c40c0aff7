"""The cards that this process sees: by the variables that grant them, else by the devices that are there."""

from __future__ import annotations

import os
import platform
import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from jupyter_aiarts.kernel import npus
from jupyter_aiarts.launcher.ascend.cards import card_ids

RING = 4
HIDDEN = ("void", "none", "nodevfiles", "-1")
GRANTS = ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES")
RUNTIME = "ASCEND_RT_VISIBLE_DEVICES"
"""Which of the NPUs that it can open a process uses, by the number it knows them under."""


class Cards(NamedTuple):
    """Cards of one kind; `names` are what its runtime calls them: numbers, or for NVIDIA also UUIDs."""

    device: str = "cpu"
    names: Tuple[str, ...] = ()
    rings: bool = False  # whether they are wired in rings of four

    @property
    def ids(self) -> List[int]:
        """Numbers for a plan; UUIDs are counted."""
        return [int(name) if name.isdigit() else place for place, name in enumerate(self.names)]

    def first(self, count: int) -> Cards:
        """So many of them: from one ring where one has enough, since HCCL asks for that."""
        rings: Dict[int, List[str]] = {}
        for name, card in zip(self.names, self.ids):
            rings.setdefault(card // RING, []).append(name)
        whole = [ring for ring in rings.values() if len(ring) >= count]
        return self._replace(names=tuple(whole[0] if whole and self.rings else self.names)[:count])

    @property
    def is_ascend(self) -> bool:
        """Whether these are NPUs."""
        return self.device.startswith("huawei")

    def grants(self, environ: Mapping[str, str]) -> Dict[str, str]:
        """The variables that show just these cards to a process; what else there is of their kind stays as it is."""
        listed = ",".join(self.names)
        own = {"ASCEND_VISIBLE_DEVICES" if self.is_ascend else "CUDA_VISIBLE_DEVICES": listed} if self.names else {}
        return {**{name: environ[name] for name in GRANTS if name in environ}, **own}


def chosen(seen: Cards, cards: Cards, environ: Mapping[str, str]) -> Dict[str, str]:
    """The variable by which a process leaves alone the NPUs that it sees and that are not for it."""
    if not cards.is_ascend or cards == seen:
        return {}
    known = card_ids(environ.get(RUNTIME, ""))
    numbers = known if len(known) == len(seen.names) else list(range(len(seen.names)))
    return {RUNTIME: ",".join(str(numbers[seen.names.index(name)]) for name in cards.names)}


def visible(environ: Mapping[str, str], devices: str = "/dev") -> Cards:
    """The cards, NPUs first where a machine has both; a variable that is set decides, even when it is empty."""
    arm = platform.machine() in ("aarch64", "arm64")
    found = npus.seen(environ, devices)
    if found.ids:
        names = tuple(str(card) for card in found.ids)
        return Cards("huawei_npu_arm64" if arm else "huawei_npu_amd64", names, found.rings)
    gpus = _named(environ.get("CUDA_VISIBLE_DEVICES", "all"))
    if gpus is None and environ.get("NVIDIA_VISIBLE_DEVICES") not in HIDDEN:
        gpus = _present(devices)
    return Cards("nvidia_gpu_arm64" if arm else "nvidia_gpu_amd64", tuple(gpus)) if gpus else Cards()


def _named(text: str) -> Optional[List[str]]:
    """What CUDA reads in its variable; None for all there are."""
    if text.strip() == "all":
        return None
    found: List[str] = []
    for word in (one.strip() for one in text.split(",")):
        if not word or word in HIDDEN:
            break  # what follows is not seen either
        found.append(word)
    return list(dict.fromkeys(found))


def _present(folder: str) -> List[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    matches = (re.fullmatch(r"nvidia(\d+)", name) for name in names)
    return [str(card) for card in sorted(int(match[1]) for match in matches if match)]
