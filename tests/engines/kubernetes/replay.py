"""Recorded objects of a real cluster, put into a picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.kubernetes.objects import (
    EVENTS,
    JOBS,
    PODS,
    WORKLOADS,
    EventObject,
    JobObject,
    PodObject,
    WorkloadObject,
)
from jupyter_aiarts.engines.kubernetes.picture import Picture

RECORDED = Path(__file__).with_name("recorded")
TYPES: Mapping[str, Any] = {JOBS: JobObject, PODS: PodObject, EVENTS: EventObject, WORKLOADS: WorkloadObject}
Json = dict[str, Any]


def cases() -> list[str]:
    return sorted(file.stem for file in RECORDED.glob("*.json"))


def load(case: str) -> Json:
    """A recorded situation: `provenance` and the objects of each kind."""
    found: Json = json.loads((RECORDED / f"{case}.json").read_text(encoding="utf-8"))
    return found


def decoded(kind: str, item: Json) -> Any:
    """The object as a watch would have brought it."""
    return msgspec.json.decode(json.dumps(item), type=TYPES[kind])


def picture_of(content: Json, now: str | None = None) -> Picture:
    """All of it, seen at the time it was recorded unless told otherwise."""
    moment = now or content["provenance"]["at"]
    picture = Picture("k8s", clock=lambda: moment)
    for kind in TYPES:
        for item in content[kind]:
            picture.apply(kind, "ADDED", decoded(kind, item))
    return picture


def record_of(content: Json, now: str | None = None) -> JobRecord:
    """The one job that was recorded."""
    (record,) = picture_of(content, now).records()
    return record
