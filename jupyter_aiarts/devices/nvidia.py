"""NVIDIA cards through NVML, cards that are cut in parts (MIG) included."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.model.usage import Card, Program

if TYPE_CHECKING:
    from types import ModuleType

MEGA = 1 << 20


class NvidiaProbe:
    """Opens the library at the first look and keeps it; no library or no driver is no card."""

    name = "nvml"

    def __init__(self) -> None:
        self._nvml: ModuleType | None = None

    def look(self) -> tuple[Card, ...]:
        """All cards. A card that fell off the bus is told as unhealthy; the others are told all the same."""
        import pynvml

        if self._nvml is None:
            try:
                pynvml.nvmlInit()
            except pynvml.NVMLError:
                return ()  # no library, or no driver behind it
            self._nvml = pynvml
        try:
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError:
            self._nvml = None  # the driver was taken away: begin anew with the next look
            return ()
        return tuple(card for index in range(count) for card in _cards(pynvml, index))


def _cards(nvml: Any, index: int) -> Iterator[Card]:
    """The card, or its parts where it is cut."""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        yield Card(kind="gpu", id=index, health=str(error).lower())
        return
    parts = list(_parts(nvml, handle))
    if not parts:
        yield _card(nvml, handle, index, None)
    for number, part in enumerate(parts):
        yield _card(nvml, part, index, _text(nvml, nvml.nvmlDeviceGetName, part) or f"part {number}", whole=handle)


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
    memory = _asked(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
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
        health="ok" if memory is not None else None,
        programs=_programs(nvml, handle),
    )


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
