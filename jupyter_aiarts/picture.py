"""What is known of all jobs at this moment, and each of them encoded once per change and language.

Apart from the service, which asks and watches the engines: here nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.base import JobRecord
from jupyter_aiarts.errors import BadRequest, JobNotFound
from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.model.job import Event, Job, listed
from jupyter_aiarts.model.phase import MOVES, Move, Phase

HELD_BY_A_NODE = ("pod-stuck", "node-lost")  # causes that a release may end


class ListQuery(Struct, frozen=True, kw_only=True):
    """Which jobs to list, newest first."""

    limit: int | None = None
    after: str | None = None
    phase: str | None = None
    q: str | None = None
    owner: str | None = None
    mine: bool = False


class Picture:
    """All jobs by id. `take` and `drop` change it, everything else reads."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobRecord] = {}
        self._order: list[str] | None = None  # ids, newest first; None when it has to be made again
        self._encoded: dict[tuple[str, str], bytes] = {}

    def take(self, records: Iterable[JobRecord]) -> set[str]:
        """Put in what is new or different; the ids of it."""
        changed = set()
        for record in records:
            if record.id not in self.jobs:
                self._order = None
            self.jobs[record.id] = record
            self._forget(record.id)
            changed.add(record.id)
        return changed

    def drop(self, ids: Iterable[str]) -> set[str]:
        """Take out what is gone; the ids of what was there."""
        gone = {job_id for job_id in ids if self.jobs.pop(job_id, None) is not None}
        for job_id in gone:
            self._order = None
            self._forget(job_id)
        return gone

    def is_of(self, job_id: str, cluster: str) -> bool:
        """Whether a job is there, and of this cluster."""
        known = self.jobs.get(job_id)
        return known is not None and known.cluster == cluster

    def newest_first(self) -> list[str]:
        """All ids."""
        if self._order is None:
            jobs = self.jobs
            self._order = sorted(jobs, key=lambda job_id: (jobs[job_id].created, job_id), reverse=True)
        return self._order

    def chosen(self, query: ListQuery, mine: Mapping[str, str | None]) -> list[str]:
        """The ids a list asks for; `mine` is who this user is on which cluster."""
        ids = self.newest_first()
        if query.after is not None:
            if query.after not in self.jobs:
                raise JobNotFound(f"There is no job {query.after[:80]!r} to list after.", "List from the start again.")
            ids = ids[ids.index(query.after) + 1 :]
        wanted = _matcher(query, mine)
        chosen = ids if wanted is None else [job_id for job_id in ids if wanted(self.jobs[job_id])]
        return chosen[: query.limit]

    def named(self, text: str) -> str:
        """The id of the one job that has this id, bears this name, or begins with it."""
        if text in self.jobs:
            return text
        found = [job_id for job_id in self.newest_first() if self.jobs[job_id].name == text]
        found = found or [job_id for job_id in self.newest_first() if text and job_id.startswith(text)]
        if not found:
            raise JobNotFound(f"No job has the id or name {text[:80]!r}.", "List the jobs with `aiarts jobs`.")
        if len(found) > 1:
            some = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
            raise BadRequest(f"{text[:80]!r} means {len(found)} jobs: {some}.", "Give the id of one of them.")
        return found[0]

    def encoded(self, ids: Iterable[str] | None, lang: str) -> list[bytes]:
        """Jobs as lists and stream messages carry them: all of them for None, else those that still exist."""
        wanted = self.newest_first() if ids is None else ids
        return [self._one(job_id, lang) for job_id in wanted if job_id in self.jobs]

    def _one(self, job_id: str, lang: str) -> bytes:
        key = (job_id, lang)
        found = self._encoded.get(key)
        if found is None:
            found = self._encoded[key] = msgspec.json.encode(listed(shown(self.jobs[job_id], lang)))
        return found

    def _forget(self, job_id: str) -> None:
        for lang in LANGUAGES:
            self._encoded.pop((job_id, lang), None)


def _notes(notes: tuple[str, ...], lang: str) -> list[str]:
    if lang == "en" or not notes:  # as nearly always: most jobs have none
        return list(notes)
    from jupyter_aiarts.explain.problems import said

    return [said(note, lang) for note in notes]


def in_words(events: Iterable[Event], lang: str) -> list[Event]:
    """Events in the reader's language, as far as the words are ours; a cluster's stay its own."""
    from jupyter_aiarts.explain.problems import said

    return [msgspec.structs.replace(event, message=said(event.message, lang)) for event in events]


def shown(record: JobRecord, lang: str) -> Job:
    """A job as every door shows it, in the reader's language."""
    return Job(
        id=record.id,
        name=record.name,
        cluster=record.cluster,
        phase=record.phase,
        run=record.run,
        created=record.created,
        started=record.started,
        ended=record.ended,
        owner=record.owner,
        spec=record.spec,
        explanation=explain(record.cause, lang, record.id, record.spec),
        ranks=list(record.ranks),
        notes=_notes(record.notes, lang),
        machines=list(record.machines),
        moves=list(offered(record)),
        earlier=list(record.earlier) if record.earlier else msgspec.UNSET,
        attempts=list(record.attempts) if record.attempts else msgspec.UNSET,
        idle_since=record.idle_since or msgspec.UNSET,
        progress=record.progress or msgspec.UNSET,
    )


def offered(record: JobRecord) -> tuple[Move, ...]:
    """What this job offers now; one whose record is damaged can only be deleted."""
    if record.cause.code == "job-unreadable":
        return (Move.DELETE,)
    is_held = record.is_stuck or record.cause.code in HELD_BY_A_NODE
    return (*MOVES[record.phase], Move.RELEASE) if is_held else MOVES[record.phase]


def _matcher(query: ListQuery, mine: Mapping[str, str | None]) -> Callable[[JobRecord], bool] | None:
    """A test for one record, or None when everything is wanted; `mine` is who this user is on which cluster."""
    tests: list[Callable[[JobRecord], bool]] = []
    if query.phase:
        try:
            phases = {Phase(one.strip()) for one in query.phase.split(",")}
        except ValueError:
            known = ", ".join(phase.value for phase in Phase)
            raise BadRequest(f"{query.phase[:80]!r} is not a phase.", f"Phases: {known}.") from None
        tests.append(lambda job: job.phase in phases)
    if query.owner:
        tests.append(lambda job: job.owner == query.owner)
    if query.mine and any(mine.values()):
        tests.append(lambda job: mine[job.cluster] in (None, job.owner))
    if query.q:
        text = query.q.casefold()
        tests.append(lambda job: text in f"{job.name}\n{job.id}\n{job.spec.script or ''}".casefold())
    return (lambda job: all(test(job) for test in tests)) if tests else None
