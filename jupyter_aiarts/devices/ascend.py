"""Ascend cards, as `npu-smi` tells of them: the tool may take seconds, print anything, or be for root alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

from jupyter_aiarts.launcher.ascend.asking import ask
from jupyter_aiarts.launcher.usage import npusmi
from jupyter_aiarts.model.usage import Card, Program

SECONDS = 10.0
"""How long the tool may take; 5 s have been seen on machines where all is well."""


class CardsUnknown(Exception):
    """The tool is there and tells of no card: `code` is one of `explain`'s, `said` the tool's own words."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code, self.said = code, said


class AscendProbe:
    """One look is one run of the tool; the pages behind `-t` are asked only where the table does not have a number."""

    name = "npu-smi"

    def look(self) -> tuple[Card, ...]:
        """The cards; none where there is no tool. Raises `CardsUnknown`."""
        tool = shutil.which(self.name)
        if tool is None:
            return ()
        text = ask([[tool, "info"]], _plain_environ(), SECONDS)[0]
        report = npusmi.parse(text)
        if report.error is not None:
            raise CardsUnknown("npu-smi-failed" if report.error != "empty" else "npu-smi-silent", text.strip()[:500])
        return cards(report)


def cards(report: npusmi.Report) -> tuple[Card, ...]:
    """Every chip as a card of its own."""
    return tuple(_card(number, chip, report.processes) for number, chip in npusmi.counted(report))


def _card(number: int, chip: npusmi.Chip, programs: Iterable[npusmi.Process]) -> Card:
    used, total = npusmi.memory_of(chip)
    mine = [one for one in programs if one.card == chip.card and one.chip in (chip.chip, None)]
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
        programs=tuple(Program(pid=one.container_pid or one.pid, name=one.name, memory_mb=one.memory) for one in mine),
    )


def _plain_environ() -> dict[str, str]:
    """So that the tool speaks the language that is read here."""
    return {**os.environ, "LC_ALL": "C"}
