"""Ascend cards, as `npu-smi` tells of them: the tool may take seconds, print anything, or be for root alone."""

from __future__ import annotations

import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence

from jupyter_aiarts.devices.npuprograms import Process, programs
from jupyter_aiarts.launcher.ascend.asking import ask
from jupyter_aiarts.launcher.usage import npupages, npusmi
from jupyter_aiarts.model.usage import Card, Program

SECONDS = 10.0
"""How long the tool may take; 5 s have been seen on machines where all is well."""
MOST_PAGES = 16
"""Chips that one look asks for one by one, two runs of the tool for each at the same time; they take turns."""
KEPT = 120.0
"""Seconds for which is told what a chip's pages said, until its turn comes again."""


class CardsUnknown(Exception):
    """The tool is there and tells of no card: `code` is one of `explain`'s, `said` the tool's own words."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code, self.said = code, said


class AscendProbe:
    """One look is one run of the tool; the pages behind `-t` are asked only where the table does not have a number."""

    name = "npu-smi"

    def __init__(self) -> None:
        self._environ = {**os.environ, "LC_ALL": "C"}  # so that the tool speaks the language that is read here
        self._tool: str | None = None
        self._pages: dict[tuple[int, int | None], tuple[float, str]] = {}  # of each chip, and when it was asked

    def look(self) -> tuple[Card, ...]:
        """The cards; none where there is no tool. Raises `CardsUnknown`."""
        tool = self._found()
        if tool is None:
            return ()
        [text] = self._ask([tool, "info"])
        report = npusmi.parse(text)
        if report.error is None:
            return cards(report._replace(chips=self._completed(tool, report.chips)), programs(report.programs))
        if report.error == "garbage":  # a table of another form, or in another language: the keys are the same
            chips = npupages.listed(self._ask([tool, *npupages.LISTING])[0])
            if chips:
                return cards(npusmi.Report(None, self._completed(tool, chips)), None)
        code = {"empty": "npu-smi-silent", "cut": "npu-smi-cut"}.get(report.error, "npu-smi-failed")
        raise CardsUnknown(code, text.strip()[:500] if report.error != "cut" else text.strip()[-200:])

    def _found(self) -> str | None:
        """Where the tool is; searched for again only where it is not there any more."""
        if self._tool is None or not os.access(self._tool, os.X_OK):
            self._tool = shutil.which(self.name)
        return self._tool

    def _ask(self, *commands: Sequence[str]) -> list[str]:
        return ask(commands, self._environ, SECONDS)

    def _completed(self, tool: str, chips: list[npusmi.Chip]) -> list[npusmi.Chip]:
        """With what the pages tell, where the table has no such column; those asked longest ago are asked again."""
        if npupages.are_told(chips):
            return chips
        kept = {_key(chip): self._pages.get(_key(chip), (-math.inf, "")) for chip in chips}
        asked = sorted(chips, key=lambda chip: kept[_key(chip)][0])[:MOST_PAGES]
        words = [[tool, *npupages.words(page, chip)] for chip in asked for page in ("common", "usages")]
        pages, now = self._ask(*words), time.monotonic()
        for place, chip in enumerate(asked):
            kept[_key(chip)] = now, "\n".join(pages[2 * place : 2 * place + 2])
        self._pages = kept
        told = {key: page for key, (at, page) in kept.items() if now - at <= KEPT}
        return [npupages.told(chip, told.get(_key(chip), "")) for chip in chips]


def _key(chip: npusmi.Chip) -> tuple[int, int | None]:
    return chip.card, chip.chip


def cards(report: npusmi.Report, running: Sequence[Process] | None) -> tuple[Card, ...]:
    """Every chip as a card of its own; `running` is None where nobody told of programs."""
    by_card: dict[int, list[Process]] = {}
    for one in running or ():
        by_card.setdefault(one.card, []).append(one)
    return tuple(
        _card(number, chip, None if running is None else by_card.get(chip.card, ()))
        for number, chip in npusmi.counted(report)
    )


def _card(number: int, chip: npusmi.Chip, running: Sequence[Process] | None) -> Card:
    used, total = npusmi.memory_of(chip)
    return Card(
        kind="npu",
        id=number,
        name=chip.name,
        utilization=chip.aicore,
        memory_used_mb=used,
        memory_total_mb=total,
        power_w=chip.power,
        temperature_c=chip.temperature,
        health=chip.health.lower() if chip.health else None,
        programs=None if running is None else tuple(_programs_on(chip, running)),
    )


def _programs_on(chip: npusmi.Chip, running: Sequence[Process]) -> Iterator[Program]:
    for one in running:
        if one.chip in (chip.chip, None):
            yield Program(pid=_pid_here(one), name=one.name, memory_mb=one.memory)


def _pid_here(one: Process) -> int:
    """What a program is called where we are: inside its container, or outside, where that number is somebody else's."""
    if one.container_pid is None or _pid_within(one.pid) == one.container_pid:
        return one.pid
    return one.container_pid


def _pid_within(pid: int) -> int | None:
    """What a process of ours is called in its own container; None where it is not there."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return next((int(line.split()[-1]) for line in status if line.startswith("NSpid:")), None)
    except (OSError, ValueError):
        return None
