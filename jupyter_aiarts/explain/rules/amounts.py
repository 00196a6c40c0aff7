"""Sums with the platform's amounts: how much is missing, and which key of a spec would have to be how large.

A change is offered only where it follows from the numbers that were seen; where one is missing there is none.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_DOWN, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.model.placement import ring_shapes
from jupyter_aiarts.model.quantity import human_size, parse_quantity

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

GB = Decimal(1 << 30)
_PREFIXES = ("requests.", "limits.")
_BYTES = ("memory", "ephemeral-storage", "storage")


def plain(resource: str) -> str:
    """`limits.memory` and `requests.memory` are both memory."""
    return next((resource[len(one) :] for one in _PREFIXES if resource.startswith(one)), resource)


def amount(text: str) -> Decimal | None:
    """What a quantity says; None for what is none, or larger than anything that is."""
    try:
        found = parse_quantity(text)
    except (ValueError, InvalidOperation):
        return None
    return found if found.is_finite() and abs(found) < Decimal(10) ** 24 else None


def shown(resource: str, value: Decimal) -> str:
    """An amount as a person reads it: sizes in GiB, everything else as a number."""
    if plain(resource) in _BYTES:
        return human_size(float(value))
    return f"{float(value):g}"


def change(resource: str, most: Decimal, asked: Decimal | None, spec: JobSpec | None) -> dict[str, Any]:
    """Which key of the spec keeps each node within `most` of a resource; empty where none is known to.

    `asked` is what one node asks for: a resource with a name of its own counts as the job's cards only if it is as
    many as those.
    """
    what = plain(resource)
    if what == "memory":
        return _key("memory_gb", _rounded(most / GB))
    if what == "cpu":
        return _key("cpu", _rounded(most))
    if "/" in what and spec is not None and spec.devices and asked == spec.devices:
        return _key("devices", _cards(int(most), spec))
    return {}


def raised(resource: str, least: Decimal) -> dict[str, Any]:
    """Which key has to be at least how large."""
    what = plain(resource)
    if what == "memory":
        return _key("memory_gb", _rounded(least / GB, up=True))
    return _key("cpu", _rounded(least, up=True)) if what == "cpu" else {}


def _key(name: str, value: float) -> dict[str, Any]:
    return {name: value} if value > 0 else {}


def _rounded(value: Decimal, up: bool = False) -> float:
    """Down, so that it still fits (or up, so that it is enough); tenths are exact enough above ten."""
    step = Decimal("0.1") if value >= 10 else Decimal("0.001")
    return float(value.quantize(step, rounding=ROUND_CEILING if up else ROUND_DOWN))


def _cards(most: int, spec: JobSpec) -> int:
    """The largest number of cards that the device's shape allows; 0 where there is none."""
    shapes = ring_shapes(spec.device, spec.kind)
    if shapes is None:
        return most
    return max((one for one in shapes if one <= most), default=0)
