"""What NVIDIA's driver reports by itself: XID errors, by which a card is known to be broken that still answers.

Nobody waits for them: every look takes what has come since the one before.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

OF_PROGRAMS = frozenset((13, 31, 43, 45, 68, 94, 109))
"""Those that concern one program alone, by a mistake of its own or because an error was contained to it (94): the card
is well, and the next program finds it so."""
KEPT = 3600.0
"""Seconds for which a report is told; a card that was reset meanwhile is not called broken for ever."""
MOST = 256
"""Reports of one look; a card that breaks may send thousands."""


class Xids:
    """The reports since the driver was opened; there are none where it makes none."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._cards: dict[int | None, int] = {}  # by the address that stands for each
        self._last: dict[int, tuple[int, float]] = {}
        try:
            self._events = nvml.nvmlEventSetCreate()
        except nvml.NVMLError:
            self._events = None

    def attend(self, index: int, handle: Any) -> None:
        """Have reports about this card from now on."""
        address = _address(handle)
        if self._events is None or address in self._cards:
            return
        self._cards[address] = index  # asked for once, whether this card makes reports or not
        try:
            self._nvml.nvmlDeviceRegisterEvents(handle, self._nvml.nvmlEventTypeXidCriticalError, self._events)
        except self._nvml.NVMLError:
            pass

    def hear(self) -> None:
        """Take what has come."""
        if not self._cards:
            return
        for _ in range(MOST):
            try:
                report = self._nvml.nvmlEventSetWait_v2(self._events, 0)
            except self._nvml.NVMLError:
                return  # nothing more, which is an error to it
            card = self._cards.get(_address(report.device))
            if card is not None and report.eventData not in OF_PROGRAMS:
                self._last[card] = (report.eventData, time.monotonic())

    def of(self, index: int) -> int | None:
        """The number of the newest report about a card; None where there is none that still counts."""
        number, at = self._last.get(index, (None, 0.0))
        return number if time.monotonic() - at < KEPT else None


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value
