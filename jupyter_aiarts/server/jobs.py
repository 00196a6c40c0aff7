"""Routes for jobs: the list, one job, and what can be done with it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.model.phase import Move
from jupyter_aiarts.server.base import AiartsHandler

MAX_LIST = 100_000
LONGEST_NEWS = 1000
"""Characters of a header's sentence: an answer without a body, or with a list as its body, has no other place."""

NARROWING = ("after", "phase", "q", "owner")


class JobsHandler(AiartsHandler):
    """`jobs`: all of them, and where new ones come from."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List jobs, newest first, as the query narrows them."""
        limit, words = self.number("limit", 1, MAX_LIST), {key: self.word(key) for key in NARROWING}
        mine = self.flag("mine")
        if not any(words.values()) and await self.app.is_untouched():
            self.finish(b"[]")
            return
        from jupyter_aiarts.picture import ListQuery

        service = await self.service()
        self.finish(await service.jobs(ListQuery(limit=limit, mine=mine, **words), self.language))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Submit a job, or with `?dry_run=1` say what would become of it."""
        raw = self.job_body()
        caller = self.caller(self.root)
        service = await self.service()
        if self.flag("dry_run"):
            self.answer(await service.try_out(raw, caller, self.language, manifest=self.flag("manifest")))
            return
        self.deed = "submit"
        submitted = await service.submit(raw, caller, self.language)
        self.subject = submitted.job.id
        self.set_header("Location", self.location("jobs", submitted.job.id))
        self.answer(submitted.job, 201 if submitted.created else 200)

    def job_body(self) -> dict[str, Any] | str:
        """A job spec in JSON; a DLC params file comes as text/plain."""
        if self.content_type != "text/plain":
            return self.json_object()
        try:
            return self.body().decode()
        except UnicodeDecodeError as error:
            raise BadRequest(f"The params file is not UTF-8: {error.reason} at byte {error.start}") from error


class JobHandler(AiartsHandler):
    """`jobs/{id}`: one job."""

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """Describe one job."""
        self.checked(job_id)
        service = await self.service()
        self.answer(await service.get(job_id, self.language))

    @web.authenticated
    @authorized
    async def patch(self, job_id: str) -> None:
        """Change the spec that the next run will use, by a JSON merge patch."""
        self.deed = "edit"
        self.checked(job_id)
        patch = self.json_object()
        service = await self.service()
        self.answer(await service.edit(job_id, patch, self.language))

    @web.authenticated
    @authorized
    async def delete(self, job_id: str) -> None:
        """Remove a job and all it kept; one that runs is stopped first. A header says what could not be removed."""
        self.deed = "delete"
        self.checked(job_id)
        service = await self.service()
        stayed = " ".join(await service.delete(job_id, self.language))
        if stayed:
            self.set_header("X-Aiarts-Left", quote(stayed[:LONGEST_NEWS]))
        self.set_status(204)
        self.finish()


class MoveHandler(AiartsHandler):
    """`jobs/{id}/{move}`: stop, pause, resume, rerun, release."""

    @web.authenticated
    @authorized
    async def post(self, job_id: str, move: str) -> None:
        """Make the move, answer with the job as it is afterwards."""
        self.deed = move
        self.checked(job_id)
        service = await self.service()
        self.answer(await service.act(job_id, Move(move), self.language))
