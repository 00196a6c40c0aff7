"""From the stream of jobs to news for the admin's webhook: what ended, what waits for too long, which node is not well.

Only jobs of this server's own user are reported, or everybody's servers would tell the same. What there is when the
server starts is no news. While no job waits there is no timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.model.job import ListedJob
from jupyter_aiarts.model.news import News, Unwell, alerts, by_cluster, ended, tell, unwell
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.times import now, seconds_between
from jupyter_aiarts.server.webhook import Webhook, set_by_user

if TYPE_CHECKING:
    from jupyter_aiarts.model.cluster import Node
    from jupyter_aiarts.server.app import AiartsApp
    from jupyter_aiarts.service import JobService


PERIOD = 10.0  # seconds between looks at the nodes, which end a while after the last look


class Message(Struct):
    """One message of the stream, as far as it matters here."""

    type: str
    jobs: list[ListedJob] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


_DECODER = msgspec.json.Decoder(Message)


class Reporter:
    """Remembers what was last seen of each job, and tells what is new; owned by `AiartsApp`."""

    def __init__(
        self,
        send: Callable[[News], None],
        is_mine: Callable[[str, str], bool],
        lang: str = "en",
        patience: float = 0.0,
        clock: Callable[[], str] = now,
    ) -> None:
        self._send = send
        self._is_mine = is_mine
        self._lang = lang
        self._patience = patience  # seconds that a job may wait; 0: as long as it likes
        self._clock = clock
        self._phases: dict[str, Phase] = {}
        self._waiting: dict[str, tuple[str, ListedJob]] = {}  # since when, and who: each is told of once
        self._timer: asyncio.TimerHandle | None = None
        self._following: asyncio.Task[None] | None = None

    def watch(self, messages: AsyncIterator[bytes]) -> None:
        """Report from now on; called once, when the service has started."""
        self._following = asyncio.ensure_future(self._follow(messages))

    def close(self) -> None:
        """Stop reporting."""
        if self._following is not None:
            self._following.cancel()
        self._unset()

    async def _follow(self, messages: AsyncIterator[bytes]) -> None:
        async for message in messages:
            self.take(message)

    def take(self, raw: bytes) -> None:
        """One message of the stream."""
        message = _DECODER.decode(raw)
        if message.type == "removed":
            for job_id in message.ids:
                self._phases.pop(job_id, None)
                self._waiting.pop(job_id, None)
        for job in message.jobs:
            if self._is_mine(job.cluster, job.owner):
                self._look(job, is_news=message.type == "jobs")
        self._tick()

    def _look(self, job: ListedJob, is_news: bool) -> None:
        before = self._phases.get(job.id)
        self._phases[job.id] = job.phase
        news = ended(before, job, self._lang) if is_news else None
        if news is not None:
            self._send(news)
        if job.phase is not Phase.QUEUED:
            self._waiting.pop(job.id, None)
        elif self._patience and before is not Phase.QUEUED:
            since = job.created if before is None else self._clock()  # a job that is queued again waits anew
            self._waiting[job.id] = (since, job)
        elif job.id in self._waiting:
            self._waiting[job.id] = (self._waiting[job.id][0], job)

    def _tick(self) -> None:
        """Tell of those that have waited too long, each once, and come back when the next one has."""
        self._unset()
        at = self._clock()
        left = {key: self._patience - seconds_between(since, at) for key, (since, _) in self._waiting.items()}
        for job_id, seconds in left.items():
            if seconds <= 0:
                _, job = self._waiting.pop(job_id)
                self._send(tell("waiting", job, self._lang, round((self._patience - seconds) / 60)))
        soonest = min((seconds for seconds in left.values() if seconds > 0), default=None)
        if soonest is not None:
            self._timer = asyncio.get_running_loop().call_later(soonest + 0.01, self._tick)

    def _unset(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Guard:
    """Looks at the nodes of all clusters and tells what has become of them.

    Each look keeps the watches open for a while, and the next one reads what they brought: so nothing is asked of a
    cluster where nothing changes.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[Iterable[Node]]],
        send: Callable[[News], None],
        lang: str = "en",
        period: float = PERIOD,
        note: Callable[[Unwell], None] = lambda known: None,
    ) -> None:
        self._look, self._send, self._lang, self._period = look, send, lang, period
        self._note = note  # told of everything that is known, whenever that is something else
        self._known: Unwell = {}
        self._guarding: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Guard from now on; what is wrong already is no news."""
        self._guarding = asyncio.ensure_future(self._guard())

    def close(self) -> None:
        """Guard no more."""
        if self._guarding is not None:
            self._guarding.cancel()

    async def _guard(self) -> None:
        while True:
            seen = unwell(await self._look())
            for news in alerts(self._known, seen, self._lang):
                self._send(news)
            before = self._known
            self._known = before | seen  # a cluster that is away has no nodes to show, and is no alert for each
            if self._known != before:
                self._note(self._known)
            await asyncio.sleep(self._period)


class Report:
    """Whoever tells of something, and the webhook, if there is one; owned by `AiartsApp`."""

    def __init__(self, webhook: Webhook | None, *reporters: Reporter | Guard) -> None:
        self._webhook, self._reporters = webhook, reporters

    async def aclose(self) -> None:
        """Stop reporting; what was not told yet is given up."""
        for reporter in self._reporters:
            reporter.close()
        if self._webhook is not None:
            await self._webhook.aclose()


async def report(app: AiartsApp, service: JobService) -> Report:
    """Tell the admin's webhook from now on, and with `webhook_nodes` the page too, which nodes are not well."""
    webhook, lang = await _webhook(app), app.webhook_language
    reporters: list[Reporter | Guard] = []
    if webhook is not None:
        reporter = Reporter(webhook.send, service.is_mine, lang, app.webhook_waiting_minutes * 60)
        reporter.watch(service.subscribe(lang, usage=False))
        reporters.append(reporter)
    if app.webhook_nodes:
        guard = Guard(
            lambda: _nodes(service),
            webhook.send if webhook is not None else lambda news: None,
            lang,
            note=lambda known: service.note_nodes(by_cluster(known)),
        )
        guard.start()
        reporters.append(guard)
    return Report(webhook, *reporters)


async def _webhook(app: AiartsApp) -> Webhook | None:
    """The webhook; None where there is none, or a user has set it, which only an admin may."""
    if not app.webhook_url:
        return None
    texts = await asyncio.to_thread(user_files, Path(app.config_dir))
    user = set_by_user(texts, app.cli_config.get("AiartsApp", {}))
    if user is not None:
        app.log.warning("webhook_url is only taken from the admin's configuration, not from %s: nothing is told.", user)
        return None
    return Webhook(app.webhook_url, app.log)


async def _nodes(service: JobService) -> Iterable[Node]:
    return (await service.cluster()).nodes


def user_files(folder: Path) -> dict[str, str]:
    """The texts of a user's own configuration of Jupyter, by name."""
    found = [*folder.glob("jupyter*config.py"), *folder.glob("jupyter*config.json"), *folder.glob("jupyter*.d/*.json")]
    return {str(path.relative_to(folder)): path.read_text(errors="replace") for path in found if path.is_file()}
