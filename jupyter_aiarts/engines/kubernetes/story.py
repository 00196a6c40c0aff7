"""What the platform did for a run, from the cluster's own events; they are asked for when somebody looks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes.client import events
from jupyter_aiarts.engines.kubernetes.meta import in_full, run_named
from jupyter_aiarts.engines.notes import events_of as said
from jupyter_aiarts.model.job import Event
from jupyter_aiarts.model.times import from_ns

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.objects import JobObject
    from jupyter_aiarts.engines.local.records import NodeStatus

MOST = 1000
_NANOSECONDS = re.compile(r"\.([0-9a-f]{14,16})\Z")


class _About(Struct):
    kind: str = ""
    name: str = ""


class _Meta(Struct, rename="camel"):
    name: str = ""
    creation_timestamp: str | None = None


class _Event(Struct, rename="camel"):
    metadata: _Meta
    involved_object: _About = field(default_factory=_About)
    type: str | None = None
    reason: str | None = None
    message: str | None = None
    first_timestamp: str | None = None
    event_time: str | None = None


async def events_of(api: Api, job: JobObject, statuses: Iterable[NodeStatus] = ()) -> tuple[Event, ...]:
    """All events about a run's Job, pods and workload that the cluster still has (an hour's, mostly), oldest first,
    and what its launchers said of themselves."""
    found = [event for status in statuses for event in said(status, f"job/{job.name}")]
    async for page in api.pages(events(job.namespace), _Event):
        found += [
            _told(one) for one in page.items if run_named(_job_part(one.involved_object)) == (job.job_id, job.run)
        ]
    return tuple(sorted(found, key=lambda event: event.t)[-MOST:])


def _job_part(about: _About) -> str:
    """The name that a run is known by; Kueue's workloads put a word before it and a hash behind."""
    if about.kind != "Workload":
        return about.name
    return about.name.removeprefix("job-").rpartition("-")[0]


def _told(one: _Event) -> Event:
    at = one.event_time or one.first_timestamp or one.metadata.creation_timestamp
    return Event(
        t=in_full(_exactly(at, one.metadata.name)) or "",
        type=one.type or "Normal",
        reason=one.reason or "",
        message=one.message or "",
        object=f"{one.involved_object.kind.lower()}/{one.involved_object.name}",
    )


def _exactly(at: str | None, name: str) -> str | None:
    """A kubelet writes whole seconds, so that a start would come before the scheduling of the same second; but events
    are named after the nanosecond in which they were made."""
    found = _NANOSECONDS.search(name)
    if at is None or found is None:
        return at
    made = from_ns(int(found[1], 16))
    return made if made[:19] == at[:19] else at
