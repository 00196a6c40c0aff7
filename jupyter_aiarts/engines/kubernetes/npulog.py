"""The NPU driver's log, read by the launchers where it is mounted into their pods."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.door import PodFacts, Unanswered
from jupyter_aiarts.engines.npulog import Gap, NpuLog, gap_of, told
from jupyter_aiarts.launcher.ascend.slog import ALL_BYTES, Errors, Line

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.archive import Archive
    from jupyter_aiarts.model.job import Rank

AT_ONCE = 8


class _Told(Struct):
    folder: str
    card: int | None
    text: str


class _Page(Struct):
    """A launcher's answer: `Errors` by name."""

    lines: list[_Told]
    place: str
    problem: Literal["", "absent", "denied"]

    @property
    def errors(self) -> Errors:
        return Errors([Line(one.folder, one.card, one.text) for one in self.lines], self.place, self.problem)


async def npu_log(archive: Archive, pods: Sequence[PodFacts], ranks: Sequence[Rank]) -> NpuLog:
    """What the launchers of a run find; of a pod that is gone nothing can be had."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(pod: PodFacts) -> NpuLog:
        if not pod.is_up:
            return NpuLog(gaps=(Gap("gone", node=pod.node),))
        async with gate:
            return await _ask(archive, pod, ranks)

    if not pods:
        return NpuLog(gaps=(Gap("not-started"),))
    found = await asyncio.gather(*(one(pod) for pod in pods))
    return NpuLog(
        lines=tuple(line for part in found for line in part.lines),
        gaps=tuple(gap for part in found for gap in part.gaps),
    )


async def _ask(archive: Archive, pod: PodFacts, ranks: Sequence[Rank]) -> NpuLog:
    try:
        content = await archive.ask(pod, "v1/npulog", ALL_BYTES)
        errors = msgspec.json.decode(content, type=_Page).errors
    except (Unanswered, msgspec.DecodeError) as error:
        return NpuLog(gaps=(Gap("unanswered", node=pod.node, why=str(error)),))
    return NpuLog(lines=tuple(told(errors, pod.node, ranks)), gaps=gap_of(errors, pod.node))
