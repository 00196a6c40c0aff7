"""How much memory this process has had, for measurements in a Python of its own."""

from __future__ import annotations

from pathlib import Path


def peak() -> int:
    """Bytes at its highest since this program began; `ru_maxrss` begins with what the parent had."""
    return _line("VmHWM")


def resident() -> int:
    """Bytes now."""
    return _line("VmRSS")


def _line(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
