"""When a job that waits on this machine may start, from what runs, what waits and what has ended here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.engines.local.slots import Machine, Taken, Waiting, cpus_of, never_fits, queue_order
from jupyter_aiarts.engines.observed import between_starts, durations
from jupyter_aiarts.model.expected import Amounts, Band, Before, Holder, Line, expected
from jupyter_aiarts.model.placement import has_rings
from jupyter_aiarts.model.spec import CPU, JobSpec
from jupyter_aiarts.model.times import now, seconds_between

HOUR = 3600.0


def band_of(
    job_id: str,
    machine: Machine,
    running: Iterable[Taken],
    waiting: Iterable[Waiting],
    records: Sequence[JobRecord],
    placed: Mapping[str, str],
    at: str | None = None,
) -> Band | None:
    """The band of one job; None where it does not wait here, or nothing bounds it. `placed`: since when each runs."""
    moment = at or now()
    line = queue_order(waiting)
    index = next((number for number, one in enumerate(line) if one.id == job_id), None)
    if index is None or never_fits(machine, line[index].spec) is not None:
        return None
    mine, known = line[index].spec, {record.id: record for record in records}
    intervals, since = between_starts(records, moment)
    ahead = [one.spec for one in line[:index] if never_fits(machine, one.spec) is None]
    return expected(
        Line(
            wants=_wants(mine, machine),
            total={CPU: machine.cpus, **{device: float(count) for device, count in machine.cards.items()}},
            running=[_holder(one, known.get(one.id), placed.get(one.id), moment) for one in running],
            ahead=[Before(wants=_wants(spec, machine), limit=_limit(spec)) for spec in ahead],
            durations=durations(records, mine.device),
            admissions=intervals,
            since_start=since,
            pooled=not (has_rings(mine.device) and mine.devices > 1),  # cards of one ring are wanted together
        ),
        moment,
    )


def _wants(spec: JobSpec, machine: Machine) -> Amounts:
    cards = {spec.device: float(spec.devices * spec.nodes)} if spec.devices else {}
    return {CPU: cpus_of(spec, machine), **cards}


def _holder(taken: Taken, record: JobRecord | None, since: str | None, at: str) -> Holder:
    """What one holds; its time counts from when it was last given its place: a pause is no running time."""
    count = sum(map(len, taken.devices))
    cards = {taken.device: float(count)} if count else {}
    elapsed = max(seconds_between(since, at), 0.0) if since else 0.0
    limit = _limit(record.spec) if record is not None else None
    return Holder(holds={CPU: taken.cpus, **cards}, elapsed=elapsed, limit=limit)


def _limit(spec: JobSpec) -> float | None:
    return spec.max_hours * HOUR + spec.grace_seconds if spec.max_hours else None
