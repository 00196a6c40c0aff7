"""The NPU driver's log, read by the launchers where it is mounted into their pods; what they kept at their end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from jupyter_aiarts.engines.kubernetes.door import PodFacts, Unanswered
from jupyter_aiarts.engines.npulog import Gap, NpuLog, NpuPage, gap_of, told
from jupyter_aiarts.launcher.ascend.slog import ALL_BYTES

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.archive import Archive
    from jupyter_aiarts.model.job import Rank

AT_ONCE = 8


async def npu_log(
    archive: Archive, pods: Sequence[PodFacts], ranks: Sequence[Rank], kept: Mapping[int, NpuPage]
) -> NpuLog:
    """What the launchers of a run find; of a pod that runs no more what its launcher kept, if it could."""
    gate = asyncio.Semaphore(AT_ONCE)
    up = {pod.node: pod for pod in pods if pod.is_up}

    async def one(node: int) -> NpuLog:
        if node not in up:
            return _shown(kept[node], node, ranks) if node in kept else NpuLog(gaps=(Gap("gone", node=node),))
        async with gate:
            return await _ask(archive, up[node], ranks, kept.get(node))

    nodes = {*(pod.node for pod in pods if pod.has_log), *kept}
    if not nodes:
        return NpuLog(gaps=(Gap("not-started"),))
    found = await asyncio.gather(*(one(node) for node in sorted(nodes)))
    return NpuLog(
        lines=tuple(line for part in found for line in part.lines),
        gaps=tuple(gap for part in found for gap in part.gaps),
    )


async def _ask(archive: Archive, pod: PodFacts, ranks: Sequence[Rank], kept: NpuPage | None) -> NpuLog:
    """The launcher's word; one that has just ended left it beside the log."""
    try:
        page = msgspec.json.decode(await archive.ask(pod, "v1/npulog", ALL_BYTES), type=NpuPage)
    except (Unanswered, msgspec.DecodeError) as error:
        if kept is None:
            return NpuLog(gaps=(Gap("unanswered", node=pod.node, why=str(error)),))
        page = kept
    return _shown(page, pod.node, ranks)


def _shown(page: NpuPage, node: int, ranks: Sequence[Rank]) -> NpuLog:
    errors = page.errors
    return NpuLog(lines=tuple(told(errors, node, ranks)), gaps=gap_of(errors, node))
