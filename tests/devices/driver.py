"""Stands for NVIDIA's driver library: what `pynvml` loads, as Python functions that fill the same C structures.

All of `pynvml` itself runs. What a function is not here for is not supported by the card, as NVML says it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pynvml

OK, UNSUPPORTED, LOST, SMALL, MISSING, TIMEOUT = 0, 3, 15, 7, 6, 10
NO_DRIVER = 9
MIG = 1000  # a part's handle: of card 2 the third part is 3002


@dataclass
class Gpu:
    """One card as the driver sees it; memory in bytes; `parts` are names of MIG devices."""

    name: str = "NVIDIA A100-SXM4-80GB"
    busy: int = 50
    used: int = 20 << 30
    total: int = 80 << 30
    milliwatts: int = 250_000
    heat: int = 55
    programs: dict[int, int] = field(default_factory=dict)  # pid: bytes
    parts: list[str] = field(default_factory=list)
    lost: bool = False  # fell off the bus
    closed: bool = False  # to this user


class Driver:
    """The library. `calls` counts what was asked of it, `users` who has it open."""

    def __init__(self, *gpus: Gpu, init: int = OK) -> None:
        self.gpus = list(gpus)
        self.init = init
        self.calls = self.users = 0
        self.reports: list[tuple[int, int]] = []  # cards and the XIDs that nobody has heard of yet
        self.registered: list[int] = []

    def load(self) -> None:
        """Be what `pynvml` finds when it next looks for the library."""
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml.nvmlLib = self

    def unload(self) -> None:
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml.nvmlLib = None

    def __getattr__(self, name: str) -> Callable[..., int]:
        if not name.startswith("nvml"):
            raise AttributeError(name)
        return self._unsupported

    def _unsupported(self, *_: Any) -> int:
        self.calls += 1
        return UNSUPPORTED

    def nvmlInitWithFlags(self, _: int) -> int:
        self.users += self.init == OK
        return self.init

    def nvmlShutdown(self) -> int:
        self.users -= 1
        return OK

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        return self._told(count, len(self.gpus))

    def nvmlDeviceGetHandleByIndex_v2(self, index: Any, handle: Any) -> int:
        if self.gpus[index.value].lost:
            return LOST
        if self.gpus[index.value].closed:
            return pynvml.NVML_ERROR_NO_PERMISSION
        return self._handle(handle, index.value + 1)

    def nvmlDeviceGetName(self, handle: Any, name: Any, _: Any) -> int:
        number = _number(handle)
        gpu = self._gpu(handle)
        name.value = (gpu.parts[number % MIG] if number >= MIG else gpu.name).encode()
        return OK

    def nvmlDeviceGetMemoryInfo(self, handle: Any, memory: Any) -> int:
        gpu = self._gpu(handle)
        share = len(gpu.parts) if _number(handle) >= MIG else 1
        memory._obj.total, memory._obj.used = gpu.total // share, gpu.used // share
        return OK

    def nvmlDeviceGetUtilizationRates(self, handle: Any, rates: Any) -> int:
        if _number(handle) >= MIG:
            return UNSUPPORTED
        rates._obj.gpu = self._gpu(handle).busy
        return OK

    def nvmlDeviceGetPowerUsage(self, handle: Any, power: Any) -> int:
        return UNSUPPORTED if _number(handle) >= MIG else self._told(power, self._gpu(handle).milliwatts)

    def nvmlDeviceGetTemperature(self, handle: Any, _: Any, heat: Any) -> int:
        return UNSUPPORTED if _number(handle) >= MIG else self._told(heat, self._gpu(handle).heat)

    def nvmlDeviceGetComputeRunningProcesses_v3(self, handle: Any, count: Any, programs: Any) -> int:
        running = self._gpu(handle).programs
        room, count._obj.value = count._obj.value, len(running)
        if programs is None or room < len(running):
            return SMALL if running else OK
        for place, (pid, memory) in enumerate(running.items()):
            programs[place].pid, programs[place].usedGpuMemory = pid, memory
        return OK

    def nvmlDeviceGetMigMode(self, handle: Any, mode: Any, pending: Any) -> int:
        pending._obj.value = 0
        return self._told(mode, int(bool(self._gpu(handle).parts)))

    def nvmlDeviceGetMaxMigDeviceCount(self, _: Any, count: Any) -> int:
        return self._told(count, 7)

    def nvmlDeviceGetMigDeviceHandleByIndex(self, card: Any, index: Any, handle: Any) -> int:
        number = int(getattr(index, "value", index))
        if number >= len(self._gpu(card).parts):
            return MISSING
        return self._handle(handle, _number(card) * MIG + number)

    def nvmlEventSetCreate(self, events: Any) -> int:
        return self._handle(events, 77)

    def nvmlDeviceRegisterEvents(self, handle: Any, kinds: Any, _: Any) -> int:
        assert kinds.value == pynvml.nvmlEventTypeXidCriticalError
        self.registered.append(_number(handle) - 1)
        return OK

    def nvmlEventSetWait_v2(self, _: Any, report: Any, milliseconds: Any) -> int:
        assert milliseconds.value == 0  # nobody waits
        heard = [one for one in self.reports if one[0] in self.registered]
        if not heard:
            return TIMEOUT
        self.reports.remove(heard[0])
        card, report._obj.eventData = heard[0]
        report._obj.device = ctypes.cast(ctypes.c_void_p(card + 1), pynvml.c_nvmlDevice_t)
        return OK

    def _gpu(self, handle: Any) -> Gpu:
        self.calls += 1
        number = _number(handle)
        return self.gpus[(number // MIG if number >= MIG else number) - 1]

    def _told(self, where: Any, value: int) -> int:
        where._obj.value = value
        return OK

    def _handle(self, where: Any, number: int) -> int:
        ctypes.cast(where, ctypes.POINTER(ctypes.c_void_p))[0] = number
        return OK


def _number(handle: Any) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
