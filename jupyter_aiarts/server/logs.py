"""Route for a job's log: a page of lines, a stream that follows, plain text, or the bytes themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.model.times import now
from jupyter_aiarts.server.base import AiartsHandler
from jupyter_aiarts.server.heartbeat import never_silent
from jupyter_aiarts.server.job_parts import MAX_RANK, MAX_RUN

if TYPE_CHECKING:
    from jupyter_aiarts.engines.logs import LogQuery
    from jupyter_aiarts.service import JobService

MAX_LINES = 100_000
MAX_CURSOR = 32 * 1024
STREAMS = ("stdout", "stderr")
SOURCES = ("ranks", "npu")
PLAIN = ("stream", "grep", "before", "after", "limit", "fold", "follow", "format", "download")
LINES_PER_CHUNK = 2000
# Proxies end an answer that says nothing for a minute (ingress-nginx and AWS's load balancers by default).
SIGN_OF_LIFE = 20.0
Item = TypeVar("Item")


class LogsHandler(AiartsHandler):
    """`jobs/{id}/logs`"""

    _sending: asyncio.Task[None] | None = None

    @web.authenticated
    @authorized
    async def get(self, job_id: str) -> None:
        """The log of one run, by default its last 1,000 lines."""
        self.checked(job_id)
        form = self.choice("format", ("json", "text", "raw"), "json")
        source = self.choice("source", SOURCES, SOURCES[0])
        service = await self.service()
        if source == "npu":
            return await self.npu(service, job_id)
        if self.flag("follow"):
            await self.follow(service, job_id)
        elif form == "raw":
            await self.raw(service, job_id)
        elif form == "text":
            await self.text(service, job_id)
        else:
            await self.page(service, job_id)

    def query(self) -> LogQuery:
        """Which lines are asked for."""
        from jupyter_aiarts.engines.logs import LogQuery
        from jupyter_aiarts.engines.logs.query import DEFAULT_LINES

        return LogQuery(
            rank=self.number("rank", 0, MAX_RANK),
            stream=self.choice("stream", ("", *STREAMS), "") or None,
            grep=self.word("grep"),
            tail=self.number("tail", 0, MAX_LINES),
            before=self.word("before", MAX_CURSOR),
            after=self.word("after", MAX_CURSOR),
            limit=self.number("limit", 1, MAX_LINES) or DEFAULT_LINES,
            fold=self.flag("fold"),
        )

    @property
    def run(self) -> int | None:
        """Which run is asked for; None is the latest."""
        return self.number("run", 1, MAX_RUN)

    async def page(self, service: JobService, job_id: str) -> None:
        """Lines as a JSON array; where there is no log at all, a header says why."""
        query = self.query()
        lines = await service.logs(job_id, query, self.run, self.language)
        silence = None if lines else await service.no_log(job_id, query, self.run, self.language)
        if silence is not None:
            self.set_header("X-Aiarts-No-Log", quote(silence[:1000]))
        self.answer(lines)

    async def npu(self, service: JobService, job_id: str) -> None:
        """The NPU driver's errors, the newest last; the header says what of them is missing, and why there is none."""
        strange = [name for name in PLAIN if self.word(name)]
        if strange:
            names = ", ".join(strange)
            raise BadRequest(f"The NPU's log is not read with {names}", hint="source=npu takes run=, rank= and tail=.")
        rank, tail = self.number("rank", 0, MAX_RANK), self.number("tail", 0, MAX_LINES)
        lines, silence = await service.npu_log(job_id, self.run, rank, tail, self.language)
        if silence:
            self.set_header("X-Aiarts-No-Log", quote(silence[:1000]))
        self.answer(lines)

    async def follow(self, service: JobService, job_id: str) -> None:
        """Lines as NDJSON, as they come, until the run has ended."""
        from msgspec import structs

        query = self.query()
        if query.before is not None:
            raise BadRequest("A log cannot be followed backwards", hint="Leave out before=, or follow=.")
        # A wrong pattern or cursor is told now: once a line was sent, there is no status to tell it by.
        await service.logs(job_id, structs.replace(query, tail=0, limit=1), self.run)
        silence = await service.no_log(job_id, query, self.run, self.language)
        self.set_header("X-Accel-Buffering", "no")  # a proxy that collects would make it no stream
        lines = _ndjson(service, job_id, query, self.run, silence, self.language)
        await self.send(never_silent(lines, b"\n", SIGN_OF_LIFE), "application/x-ndjson")

    async def text(self, service: JobService, job_id: str) -> None:
        """A page as plain text, or with `download=1` the whole log as a file; a header says what is missing."""
        query, run, download = self.query(), self.run, self.flag("download")
        job = await service.get(job_id)
        await self.say_silence(service, job_id, query)
        over = job.phase.is_terminal or run not in (None, job.run)
        log = await service.run_log(job_id, run)
        lines = await asyncio.to_thread(lambda: log.text(query, whole=download, ended=over))
        if download:
            self.attach(f"{job_id}-run{run or job.run}.log")
        chunks = ("".join(some).encode() async for some in _in_thread(lines, LINES_PER_CHUNK))
        await self.send(chunks, "text/plain; charset=utf-8")

    async def raw(self, service: JobService, job_id: str) -> None:
        """The bytes of one rank's one stream, as a file."""
        query = self.query()
        if query.rank is None or query.stream is None:
            raise BadRequest("format=raw needs rank= and stream=", hint="For example ?format=raw&rank=0&stream=stdout")
        await self.say_silence(service, job_id, query)
        log = await service.run_log(job_id, self.run)
        self.attach(f"{job_id}-rank{query.rank}.{query.stream}")
        parts = _in_thread(log.raw(query.rank, query.stream), 1)
        await self.send((b"".join(some) async for some in parts), "application/octet-stream")

    async def say_silence(self, service: JobService, job_id: str, query: LogQuery) -> None:
        """Beside bytes that are nobody's to add to, why there are none, or not all."""
        silence = await service.no_log(job_id, query, self.run, self.language)
        if silence is not None:
            self.set_header("X-Aiarts-No-Log", quote(silence[:1000]))

    def attach(self, name: str) -> None:
        """Offer the answer as a file; the name is of our making, so it needs no quoting."""
        self.set_header("Content-Disposition", f'attachment; filename="{name}"')

    async def send(self, chunks: AsyncGenerator[bytes, None], media: str) -> None:
        """Stream an answer at the client's pace; ends when the chunks do or the client goes."""
        self.set_header("Content-Type", media)
        self._sending = asyncio.ensure_future(self._pump(chunks))
        await asyncio.wait({self._sending})
        if self._sending.cancelled() or isinstance(self._sending.exception(), StreamClosedError):
            return  # nobody is there to be told
        self._sending.result()
        self.finish(set_content_type=media)

    async def _pump(self, chunks: AsyncGenerator[bytes, None]) -> None:
        async with aclosing(chunks) as told:
            async for chunk in told:
                self.write(chunk)
                await self.flush()

    def on_connection_close(self) -> None:
        """The client went: stop reading the log for it."""
        if self._sending is not None:
            self._sending.cancel()
        super().on_connection_close()


async def _ndjson(
    service: JobService, job_id: str, query: LogQuery, run: int | None, silence: str | None, lang: str
) -> AsyncGenerator[bytes, None]:
    """One JSON line per log line; first, where nothing was printed yet, one of ours that says why. Before it goes the
    answer's head: whoever waits for a quiet log is to know that somebody answers."""
    from msgspec import json

    from jupyter_aiarts.model.job import LogLine

    yield b""
    if silence is not None:
        waiting = LogLine(seq="", t=now(), node=0, rank=query.rank or 0, stream="aiarts", text=silence)
        yield json.encode(waiting) + b"\n"
    encoder = json.Encoder()
    async for lines in service.follow(job_id, query, run, lang):
        yield encoder.encode_lines(lines)


async def _in_thread(items: Iterator[Item], at_once: int) -> AsyncGenerator[list[Item], None]:
    """Items in small lists, each list made in a worker thread because reading files blocks."""
    while some := await asyncio.to_thread(lambda: list(islice(items, at_once))):
        yield some
