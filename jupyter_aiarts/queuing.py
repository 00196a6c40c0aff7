"""All queues in one answer, and who passed whom in them: each engine is asked at once, none holds the others up.

Apart from the service because only those who look at queues need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import structs

from jupyter_aiarts.engines.base import Engine, JobRecord
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.explain import explain
from jupyter_aiarts.explain.words.expected import basis_text, expected_text
from jupyter_aiarts.explain.words.turns import passed_text, reason_text
from jupyter_aiarts.intake import engine_named
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import ExpectedStart, Explanation
from jupyter_aiarts.model.queue import Queue, ShownQueue, shown
from jupyter_aiarts.model.turn import ShownPassed, ShownTurn, Turn

MOST_SENTENCES = 5  # of those who passed a job, in its explanation: the last ones
MOST_TURNS = 200


async def look_at_queues(engines: Mapping[str, Engine], name: str | None, lang: str) -> list[ShownQueue]:
    """The queues of the cluster that is named, which has to answer, or of all that do."""
    if name is not None:
        found = await engine_named(name, engines).queues()
    else:
        found = tuple(one for some in await asyncio.gather(*map(_seen, engines.values())) for one in some)
    return [shown(queue, explain(queue.why, lang) if queue.why else None) for queue in found]


async def _seen(engine: Engine) -> tuple[Queue, ...]:
    try:
        return await engine.queues()
    except AiartsError as error:
        away = Cause(code=error.code, values={"since": engine.stale_since}, evidence=(str(error),))
        return (Queue(name=engine.name, cluster=engine.name, kind="unknown", why=away),)


async def look_at_turns(
    engines: Mapping[str, Engine], jobs: Mapping[str, JobRecord], job: str | None, lang: str
) -> list[ShownTurn]:
    """Who started before somebody who had come earlier, newest first; with a job only what is about it."""
    found = await asyncio.gather(*(engine.turns(job) for engine in engines.values()))
    turns = [(turn, name) for name, some in zip(engines, found, strict=True) for turn in some]
    turns.sort(key=lambda pair: pair[0].at, reverse=True)
    return [_shown(turn, cluster, jobs, job, lang) for turn, cluster in turns[:MOST_TURNS]]


def _shown(turn: Turn, cluster: str, jobs: Mapping[str, JobRecord], job: str | None, lang: str) -> ShownTurn:
    wanted = [one for one in turn.passed if job in (None, turn.job, one.job)]
    passed = [
        ShownPassed(
            job=one.job,
            name=jobs[one.job].name if one.job in jobs else None,
            reason=one.reason,
            about=one.about,
            why=reason_text(one, lang),
        )
        for one in wanted
    ]
    more = turn.more if job in (None, turn.job) else 0
    return ShownTurn(
        at=turn.at, cluster=cluster, job=turn.job, name=turn.name, queue=turn.queue, passed=passed, more=more
    )


async def with_expected(engine: Engine, job: str, explanation: Explanation, lang: str) -> Explanation:
    """The explanation of a job that waits, with when it is expected to start where that can be bounded."""
    band = await engine.expected(job)
    if band is None:
        return explanation
    start = ExpectedStart(earliest=band.earliest, latest=band.latest, basis=basis_text(band, lang))
    evidence = [*explanation.evidence, expected_text(band, lang)]
    return structs.replace(explanation, evidence=evidence, expected=start)


async def with_turns(engine: Engine, job: str, explanation: Explanation, lang: str) -> Explanation:
    """The explanation of a job that waits, with those who started before it as evidence."""
    turns = await engine.turns(job)
    lines = [passed_text(turn, one, lang) for turn in turns for one in turn.passed if one.job == job]
    if not lines:
        return explanation
    return structs.replace(explanation, evidence=[*explanation.evidence, *lines[:MOST_SENTENCES]])
