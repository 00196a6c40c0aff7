"""Amounts: Kubernetes' notation ("500m", "1.5Gi"), and sizes as people read and write them."""

from __future__ import annotations

import math
import re
from decimal import Decimal

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?", re.ASCII)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.ASCII | re.IGNORECASE)


def parse_quantity(text: str) -> Decimal:
    """The exact amount that a Kubernetes quantity names; ValueError when it is none."""
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= 64 else None
    if match is None:
        raise ValueError(f"Not a quantity like 2, 500m or 1.5Gi: {text[:64]!r}.")
    number, suffix, exponent = Decimal(match[1]), match[2] or "", match[3]
    if exponent is not None:
        return number.scaleb(int(exponent))
    return number * 2 ** _BINARY[suffix] if suffix in _BINARY else number.scaleb(_DECIMAL[suffix])


def format_quantity(amount: Decimal | float, *, binary: bool = False) -> str:
    """The shortest quantity: whole numbers with the largest suffix that fits, rounded up to a thousandth.

    `binary` is for memory: bytes in Ki, Mi, Gi, rounded up to a whole byte.
    """
    exact = Decimal(str(amount))
    if binary:
        return _largest(math.ceil(exact), [(suffix, 2**power) for suffix, power in _BINARY.items()])
    thousandths = math.ceil(exact * 1000)
    if thousandths % 1000:
        return f"{thousandths}m"
    return _largest(thousandths // 1000, [(suffix, 10**power) for suffix, power in _DECIMAL.items() if power > 0])


def parse_gb(text: str) -> float:
    """A size for people, in GB: `4` (a bare number is GB), `4G`, `4GB`, `4Gi`, `512MB`; else ValueError."""
    match = _SIZE.fullmatch(text.strip()) if len(text) <= 64 else None
    if match is None:
        raise ValueError(f"Not a size like 4, 4GB or 512MB: {text[:64]!r}.")
    power = {"": 0, "k": -2, "m": -1, "g": 0, "t": 1}[match[2].lower()]
    return float(match[1]) * 1024.0**power


def human_size(count: float) -> str:
    """Bytes as a person reads them: `512 B`, `1.5 GiB`."""
    units = ["B", *(f"{suffix}B" for suffix in _BINARY)]
    index = 0
    # 1023.95 would be written as "1024.0"
    while abs(count) >= 1023.95 and index < len(units) - 1:
        count, index = count / 1024, index + 1
    return f"{count:.0f} B" if index == 0 else f"{count:.1f} {units[index]}"


def _largest(count: int, suffixes: list[tuple[str, int]]) -> str:
    """A whole number with the largest suffix that divides it."""
    for suffix, size in reversed(suffixes):
        if count and count % size == 0:
            return f"{count // size}{suffix}"
    return str(count)
