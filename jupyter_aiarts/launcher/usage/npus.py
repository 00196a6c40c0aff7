"""Asking `npu-smi` about the NPUs of one node: its table, and the pages behind it where that does not tell."""

from typing import Generator, List, Sequence, Tuple

from . import npupages
from .carduse import Reading, Talk
from .npusmi import Chip, Report, counted, memory_of, parse

_Numbered = List[Tuple[int, Chip]]


class Npus:
    """`wanted` are the ids of this node's cards, empty where nobody knows them; `count` is how many it has."""

    tool = "npu-smi"

    def __init__(self, wanted: Sequence[int], count: int) -> None:
        self._wanted, self._count = wanted, count
        self._listed: List[Chip] = []  # kept where the table cannot be read: that is not tried again at each look
        self._late: List[int] = []

    def look(self) -> Talk:
        """The cards, as far as the tool tells of them."""
        chips = self._listed
        if not chips:
            report = parse((yield ["info"]))
            chips = report.chips
            if report.error == "cut":
                return []  # nobody can say what is with the others
            if report.error == "garbage":  # another form, or another language
                chips = self._listed = npupages.listed((yield npupages.LISTING))
        own = counted(Report(None, chips))
        if not npupages.are_told(chips):
            own = [one for one in own if not self._wanted or one[0] in self._wanted]
            if len(own) == self._count:  # else nobody knows which are this node's
                own = yield from self._completed(own)
        return [_reading(number, chip) for number, chip in own]

    def _completed(self, own: _Numbered) -> Generator[Sequence[str], str, _Numbered]:
        """With what the pages tell; chips that there was no time for come first at the next look."""
        own = sorted(own, key=lambda one: one[0] not in self._late)
        found: _Numbered = []
        self._late = []
        for number, chip in own:
            page = yield npupages.words("usages", chip)
            one = npupages.told(chip, page)
            if not npupages.are_told([one]):
                one = npupages.told(one, (yield npupages.words("common", chip)))
            found.append((number, one))
            self._late += [] if page else [number]
        if found == own:
            self._listed = []  # the pages tell nothing either: the table may do so by now
        return found


def _reading(number: int, chip: Chip) -> Reading:
    used, total = memory_of(chip)
    health = chip.health.lower() if chip.health else None
    return Reading(number, chip.name, chip.aicore, used, total, health, chip.power, chip.temperature)
