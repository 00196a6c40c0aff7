"""NVIDIA cards through NVML, cards that are cut in parts (MIG) included."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import structs

from jupyter_aiarts.devices.xids import Xids
from jupyter_aiarts.model.usage import Card, Program

MEGA = 1 << 20


class NvidiaProbe:
    """Opens the library at the first look and keeps it; no library or no driver is no card."""

    name = "nvml"

    def __init__(self) -> None:
        self._xids: Xids | None = None

    def look(self) -> tuple[Card, ...]:
        """All cards. A card that fell off the bus is told as unhealthy; the others are told all the same."""
        import pynvml

        try:
            xids, count = self._opened(pynvml)
        except pynvml.NVMLError as error:
            if error.value in (
                pynvml.NVML_ERROR_LIBRARY_NOT_FOUND,
                pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
                pynvml.NVML_ERROR_UNINITIALIZED,  # the driver was taken away
            ):
                return ()
            raise  # there may be cards, such as those that this user may not touch: that is told
        xids.hear()
        return tuple(card for index in range(count) for card in _cards(pynvml, index, xids))

    def _opened(self, nvml: Any) -> tuple[Xids, int]:
        """The reports, and how many cards there are; a library that cannot count them is opened anew by the next look,
        and left before: it counts who uses it."""
        if self._xids is None:
            nvml.nvmlInit()
            self._xids = Xids(nvml)
        try:
            return self._xids, nvml.nvmlDeviceGetCount()
        except nvml.NVMLError:
            self._xids = None
            with contextlib.suppress(nvml.NVMLError):  # it was closed by itself
                nvml.nvmlShutdown()
            raise


def _cards(nvml: Any, index: int, xids: Xids) -> Iterator[Card]:
    """The card, or its parts where it is cut; one that answers and was reported to be broken is not well."""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        is_closed = error.value == nvml.NVML_ERROR_NO_PERMISSION  # to this user: nobody knows how the card is
        yield Card(kind="gpu", id=index, health=None if is_closed else str(error).lower())
        return
    xids.attend(index, handle)
    xid = xids.of(index)
    for card in _told(nvml, index, handle):
        is_broken = xid is not None and card.health in ("ok", None)
        yield structs.replace(card, health=f"xid {xid}") if is_broken else card


def _told(nvml: Any, index: int, handle: Any) -> Iterator[Card]:
    """The card as it tells of itself, or its parts."""
    parts = list(_parts(nvml, handle))
    if not parts:
        yield _card(nvml, handle, index, None)
    names = [_text(nvml, nvml.nvmlDeviceGetName, part) or "part" for part in parts]
    for number, (part, name) in enumerate(zip(parts, names, strict=True)):
        shown = name.rpartition("MIG ")[2]  # the driver puts the card's own name before it
        yield _card(nvml, part, index, f"{shown} #{number}" if names.count(name) > 1 else shown, whole=handle)


def _parts(nvml: Any, handle: Any) -> Iterator[Any]:
    """The handles of a card's MIG devices; none where it has no such mode or it is off."""
    with contextlib.suppress(nvml.NVMLError):
        mode, _ = nvml.nvmlDeviceGetMigMode(handle)
        if mode != nvml.NVML_DEVICE_MIG_ENABLE:
            return
        for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
            with contextlib.suppress(nvml.NVMLError):  # fewer parts than there could be
                yield nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)


def _card(nvml: Any, handle: Any, index: int, part: str | None, whole: Any = None) -> Card:
    memory, health = _memory(nvml, handle)
    rates = _asked(nvml, nvml.nvmlDeviceGetUtilizationRates, handle)
    power = _asked(nvml, nvml.nvmlDeviceGetPowerUsage, whole or handle)
    heat = _asked(nvml, lambda one: nvml.nvmlDeviceGetTemperature(one, nvml.NVML_TEMPERATURE_GPU), whole or handle)
    return Card(
        kind="gpu",
        id=index,
        name=_text(nvml, nvml.nvmlDeviceGetName, whole or handle) or "",
        part=part,
        utilization=float(rates.gpu) if rates is not None else None,
        memory_used_mb=memory.used / MEGA if memory is not None else None,
        memory_total_mb=memory.total / MEGA if memory is not None else None,
        power_w=power / 1000 if power is not None else None,
        temperature_c=float(heat) if heat is not None else None,
        health=health,
        programs=_programs(nvml, handle),
    )


def _memory(nvml: Any, handle: Any) -> tuple[Any, str | None]:
    """A card's memory and its health: every card that works tells of its memory, one that was lost says that it is."""
    try:
        return nvml.nvmlDeviceGetMemoryInfo(handle), "ok"
    except nvml.NVMLError as error:
        is_ill = error.value in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED)
        return None, str(error).lower() if is_ill else None


def _programs(nvml: Any, handle: Any) -> tuple[Program, ...] | None:
    found = _asked(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle)
    if found is None:
        return None
    return tuple(
        Program(pid=one.pid, memory_mb=one.usedGpuMemory / MEGA if one.usedGpuMemory is not None else None)
        for one in found
    )


def _asked(nvml: Any, question: Callable[[Any], Any], handle: Any) -> Any:
    """An answer, or None where this card has none; a MIG device has no utilisation and no power of its own."""
    try:
        return question(handle)
    except nvml.NVMLError:
        return None


def _text(nvml: Any, question: Callable[[Any], Any], handle: Any) -> str | None:
    told = _asked(nvml, question, handle)
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else told
