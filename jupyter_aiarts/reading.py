"""Reading the logs of a job's runs: pages, lines as they come, errors of the NPU driver.

Apart from the service because only those who read logs need it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from msgspec import structs

from jupyter_aiarts.engines.base import Engine, JobRecord
from jupyter_aiarts.engines.logs import LogQuery, no_log_reason
from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.model.job import LogLine
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.picture import shown

SEARCH = 30.0  # seconds a page may take
ANEW = 1.0  # seconds after which a log without a line is opened again
QUICK, SLOW = 0.02, 0.25  # seconds between looks at a log that somebody follows: a tenth of how long it was quiet


async def page(
    engine: Engine, job_id: str, query: LogQuery, run: int | None, lang: str = "en"
) -> tuple[list[LogLine], str | None]:
    """One page of a run's log, and what of it is there but may not be read by this server.

    A search that takes too long is ended, with what to do about it.
    """
    record = await engine.get(job_id)
    _check_rank(record, query.rank)
    over = _is_over(record, run)
    log = await engine.log(job_id, run)
    deadline = time.monotonic() + SEARCH

    def read() -> tuple[list[LogLine], str | None]:
        lines = log.lines(query, ended=over, stop=lambda: time.monotonic() > deadline)
        return with_reasons(lines, lang), log.unread(lang)

    return await asyncio.to_thread(read)


def with_reasons(lines: list[LogLine], lang: str) -> list[LogLine]:
    """The same lines, with why a known flood means nothing in the reader's words instead of by its id."""
    if not any(line.harmless for line in lines):
        return lines
    from jupyter_aiarts.explain.harmless import harmless_text

    return [structs.replace(one, harmless=harmless_text(one.harmless, lang)) if one.harmless else one for one in lines]


def with_unread(lines: list[LogLine], unread: str | None, query: LogQuery) -> list[LogLine]:
    """A page of which something is missing says so before its first line, once: not where somebody reads on."""
    if not lines or unread is None or query.after is not None or query.before is not None:
        return lines
    first = lines[0]  # whose place it takes for whoever reads on from there
    said = LogLine(seq=first.seq, t=first.t, node=first.node, rank=first.rank, stream="aiarts", text=unread)
    return [said, *lines]


async def why_nothing(engine: Engine, job_id: str, query: LogQuery, run: int | None, lang: str = "en") -> str | None:
    """Why there is nothing to read yet, or no more, or not all; None when only the query leaves lines out."""
    lines, unread = await page(engine, job_id, LogQuery(rank=query.rank, tail=1), run, lang)
    if lines or unread is not None:
        return unread
    job = shown(await engine.get(job_id), lang)
    states = [rank.phase.value for rank in job.ranks if query.rank in (None, rank.rank)]
    why = f"{job.explanation.title}. {job.explanation.why}" if job.explanation else ""
    return no_log_reason(job.phase.value, why, lang, states if job.started else [Phase.QUEUED.value])


async def follow(
    engine: Engine, job_id: str, query: LogQuery, run: int | None, lang: str = "en"
) -> AsyncGenerator[list[LogLine], None]:
    """Lines as they come, until the run has ended and everything was told."""
    number = (await engine.get(job_id)).run if run is None else run
    follower = (await engine.log(job_id, number)).follow(query)
    spoke = opened = time.monotonic()
    told = ended = False
    while not follower.done:
        over = _is_over(await engine.get(job_id), number)
        # Opened anew, a log of a run that is over has all of it, also what was printed last; and one that was
        # opened before its pod came may be kept elsewhere since.
        if (over and not ended) or (not told and time.monotonic() - opened > ANEW):
            log, ended, opened = await engine.log(job_id, number), over, time.monotonic()
            follower = follower if told else log.follow(query)
        lines = await asyncio.to_thread(follower.step, over)
        if lines:
            yield with_reasons(lines, lang)
            told, spoke = True, time.monotonic()
        elif not follower.done:
            await asyncio.sleep(min(max((time.monotonic() - spoke) / 10, QUICK), SLOW))


async def npu_page(
    engine: Engine, job_id: str, run: int | None, rank: int | None, tail: int | None, lang: str
) -> tuple[list[LogLine], str]:
    """Errors that the NPU driver logged about a run's cards, and a sentence about what is missing, if anything."""
    _check_rank(await engine.get(job_id), rank)
    found = await engine.npu_log(job_id, run)
    lines = [line for line in found.lines if rank in (None, line.rank)]
    first = 0 if tail is None else max(len(lines) - tail, 0)
    return lines[first:], found.sentence(lang)


def _check_rank(record: JobRecord, rank: int | None) -> None:
    """A rank that the job does not have is told apart from one that printed nothing."""
    spec = record.spec
    count = len(record.ranks) or spec.nodes * (max(spec.devices, 1) if spec.processes == "card" else 1)
    if rank is not None and rank >= count:
        have = "only rank 0" if count == 1 else f"ranks 0 to {count - 1}"
        raise BadRequest(f"The job “{record.name}” has {have}, not {rank}.", "See its ranks with `aiarts show`.")


def _is_over(record: JobRecord, run: int | None) -> bool:
    """Whether nothing is written to this run's log any more."""
    return run not in (None, record.run) or record.phase.is_terminal or record.phase is Phase.PAUSED
