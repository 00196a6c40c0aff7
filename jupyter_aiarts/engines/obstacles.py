"""Why a job has no place, as a cause: what `model/placement.py` counted, with the values that its sentence needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.placement import Machine, Need, Obstacle


def cause_of(need: Need, obstacle: Obstacle, machines: Iterable[Machine]) -> Cause:
    """The cause of an obstacle that `why_not` found among these machines."""
    nearest = next((one for one in machines if one.name == obstacle.machine), None)
    have = nearest.cards if nearest is not None else 0
    values: dict[str, Any] = {"device": need.device, "need": need.devices * need.nodes}
    if obstacle.code == "never-fits":
        values["have"] = have
    else:
        values |= {"free": obstacle.free, "total": have}
    if obstacle.split is not None:
        nodes, cards = obstacle.split
        values |= {"machine": obstacle.machine, "each": need.devices, "nodes": nodes, "cards": cards}
    return Cause(code=obstacle.code, values=values)
