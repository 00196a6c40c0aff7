"""Two entries of the configuration that are one: both tell of the same jobs, and each job is shown once.

An id is drawn at random or made from the cluster's name, so two engines that know the same one look at one namespace of
one cluster, whatever its address is called in each entry.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

log = logging.getLogger(__name__)


class Twins:
    """Which engine has a job that two tell of: the one that is configured first. Asked by the service."""

    def __init__(self, names: Iterable[str]) -> None:
        self._order = {name: number for number, name in enumerate(names)}
        self._first: dict[str, str] = {}  # by the name of an engine: which other one has its jobs

    def gives_way(self, name: str, to: str) -> bool:
        """Whether the engine `name` leaves a job to the engine `to`; said in the log when it is news."""
        if name == to or self._order.get(name, 0) < self._order.get(to, 0):
            return False
        if name not in self._first:
            self._first[name] = to
            log.warning("%s", self.problem(name))
        return True

    def problem(self, name: str) -> str | None:
        """What is wrong with the entry of this name; None nearly always."""
        first = self._first.get(name)
        if first is None:
            return None
        return (
            f"The clusters “{first}” and “{name}” are the same namespace of the same cluster; their jobs are shown as "
            f"those of “{first}”. Take one of them, or the namespace that they share, out of AiartsApp.clusters."
        )
