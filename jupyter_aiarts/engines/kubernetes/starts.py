"""Noticing who starts while others wait, so that whoever was passed can ask why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import now

if TYPE_CHECKING:
    from jupyter_aiarts.engines.base import Change, JobRecord
    from jupyter_aiarts.engines.kubernetes.phase import Facts
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.model.turn import Turn


class Starts:
    """Remembers who waits and who has begun; what it finds the first time happened before anybody looked."""

    def __init__(self, settings: ClusterSettings, facts: Callable[[str], Facts | None]) -> None:
        self._settings, self._facts = settings, facts
        self._queued: dict[str, JobRecord] | None = None  # None before anything was seen
        self._begun: set[str] = set()

    def turns(self, change: Change) -> list[Turn]:
        """The starts in this change that passed somebody."""
        queued, is_first = self._queued or {}, self._queued is None
        begun = [one for one in change.jobs if one.phase.is_active and one.id not in self._begun]
        for record in change.jobs:
            queued.pop(record.id, None)
            if record.phase is Phase.QUEUED:
                queued[record.id] = record
        for job_id in change.removed:
            queued.pop(job_id, None)
        ended = {record.id for record in change.jobs if not record.phase.is_active}
        self._queued, self._begun = queued, (self._begun | {one.id for one in begun}) - ended.union(change.removed)
        return self._passing(begun, list(queued.values())) if begun and queued and not is_first else []

    def _passing(self, begun: list[JobRecord], waiting: list[JobRecord]) -> list[Turn]:
        from jupyter_aiarts.engines.kubernetes.passing import passed_by

        found = [passed_by(one, waiting, self._facts, self._settings, now()) for one in begun]
        return [turn for turn in found if turn is not None]
