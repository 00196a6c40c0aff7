"""Carrying out what an explanation suggests: which action is meant, what it would change, then the change and the move.

Apart from the service because only those who want something mended need it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import msgspec

from jupyter_aiarts.engines.base import Engine, JobRecord
from jupyter_aiarts.errors import AiartsError, BadRequest, FixGone, InvalidSpec, WrongPhase
from jupyter_aiarts.explain import explain
from jupyter_aiarts.intake import read_edit
from jupyter_aiarts.model.fix import Fix, FixRequest, Plan, SpecChange, plan
from jupyter_aiarts.model.job import Action, Explanation, Job
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.model.reading import Reading

if TYPE_CHECKING:
    from jupyter_aiarts.service import JobService

PATIENCE = 30.0  # seconds for a start to be given up: its pods run nothing yet
_ID = re.compile(r"([a-z][a-z0-9-]*)-[0-9]+")


def read_request(body: Mapping[str, Any]) -> FixRequest:
    """What a door was sent, or what it should have been."""
    try:
        return msgspec.convert(dict(body), FixRequest)
    except msgspec.ValidationError as error:
        raise BadRequest(
            f"The request cannot be read: {error}.",
            "Send {fix: ID, dry_run: true or false, values: {KEY: VALUE}}; ids are in the job's explanation.",
        ) from None


async def look_ahead(
    engine: Engine, record: JobRecord, offered: Collection[Move], request: FixRequest, lang: str
) -> tuple[Plan, list[SpecChange]]:
    """The plan of an action and every key that it changes; nothing is done yet."""
    number, action = chosen(explain(record.cause, lang, record.id, record.spec), request.fix)
    planned = plan(action, number, record.id, record.phase, offered, request.values)
    return planned, await _changes(engine, record, planned.patch) if planned.patch else []


async def carry_out(service: JobService, job_id: str, planned: Plan, lang: str) -> Job:
    """What comes first, then the change, then the move; where one fails those before it stay, and that is said."""
    done: list[str] = []
    try:
        if planned.first is not None:
            await service.act(job_id, planned.first, lang)
            done.append(f"{planned.first.value} was done")
            await _until_editable(service, job_id, lang)
        if planned.patch is not None:
            await service.edit(job_id, planned.patch, lang)
            done.append("the change of the spec was kept")
        if planned.move is not None:
            return await service.act(job_id, planned.move, lang)
    except AiartsError as error:
        if done:
            error.hint = f"Of this fix, {' and '.join(done)}; the rest is still to be done. {error.hint}"
        raise
    return await service.get(job_id, lang)


async def _until_editable(service: JobService, job_id: str, lang: str) -> None:
    """Wait until a job whose start was given up has ended, by the news of it."""

    async def news() -> None:
        async with aclosing(cast("AsyncGenerator[bytes, None]", service.subscribe(lang))) as messages:
            async for _ in messages:
                if Move.EDIT in (await service.get(job_id, lang)).moves:
                    return

    try:
        await asyncio.wait_for(news(), PATIENCE)
    except asyncio.TimeoutError:
        raise WrongPhase(
            f"After {PATIENCE:g} s the job is still giving up its start.",
            f"When it is paused: aiarts edit {job_id} KEY=VALUE, then aiarts resume {job_id}.",
        ) from None


def answer(planned: Plan, changes: list[SpecChange], job: Job, *, done: bool) -> Fix:
    """What every door gets to show."""
    return Fix(
        action=planned.action,
        kind=planned.kind,
        changes=changes,
        first=planned.first,
        move=planned.move,
        command=planned.command,
        done=done,
        job=job,
    )


def chosen(explanation: Explanation, fix: str) -> tuple[int, Action]:
    """The action of this id and its number; raises with the ids there are, or that the situation is another one."""
    for number, action in enumerate(explanation.actions, 1):
        if action.id == fix:
            return number, action
    named = _ID.fullmatch(fix)
    if named and named[1] != explanation.code:
        raise FixGone(
            f"{fix[:80]!r} is no longer offered: the job's situation is now {explanation.code} ({explanation.title}).",
            "Look at its explanation again.",
        )
    known = ", ".join(action.id for action in explanation.actions)
    hint = f"There are: {known}." if known else "There is nothing to do about this job."
    raise BadRequest(f"The explanation of this job has no action {fix[:80]!r}.", hint)


async def _changes(engine: Engine, record: JobRecord, patch: Mapping[str, Any]) -> list[SpecChange]:
    """Every key that the patch changes, also by way of another key; raises `InvalidSpec` where it cannot be."""
    asked = await engine.asked(record.id)
    after = _shown(read_edit(asked, patch, engine))
    try:
        before, keys = _shown(read_edit(asked, {}, engine)), list(after)
    except InvalidSpec:  # what was accepted once no longer is, such as a device that the cluster has no more
        before, keys = msgspec.to_builtins(record.spec), [key for key in after if key in patch]
    return [one for key in keys for one in _change(key, before.get(key), after[key]) if one.before != one.after]


def _change(key: str, before: Any, after: Any) -> list[SpecChange]:
    """One change, or of a map one for each of its entries."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return [SpecChange(key=key, before=before, after=after)]
    names = dict.fromkeys([*before, *after])
    return [SpecChange(key=f"{key}.{name}", before=before.get(name), after=after.get(name)) for name in names]


def _shown(reading: Reading) -> dict[str, Any]:
    """A spec as it may be shown: a login to a registry without its password."""
    spec: dict[str, Any] = msgspec.to_builtins(reading.spec)
    if reading.pull_secret is not None:
        login = reading.pull_secret
        spec["image_pull_secret"] = {"registry": login.registry, "username": login.username, "password": None}
    return spec
