"""Telling every subscriber what changed, at the pace each of them reads.

A subscriber that is slow is not sent every step: it gets what changed since it last looked, once. So memory is bounded
by the number of jobs, however fast they change and however slow the line is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable

QUEUES = b'{"type":"queues"}'
"""Says that queues may be other ones: whoever shows them asks, for what each may see is made when it is asked for."""

Encode = Callable[[Iterable[str] | None, str], list[bytes]]


class _Reader:
    """What one subscriber has not seen yet."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.removed: set[str] = set()
        self.health = False
        self.queues = False
        self.usage = False
        self.ready = asyncio.Event()
        self.over = False


class Fanout:
    """The subscribers of one service.

    `encode(ids, lang)` gives the jobs to send, all of them for None; `health()` what is to be known of the clusters;
    `usage(lang)` the newest look at this machine.
    """

    def __init__(self, encode: Encode, health: Callable[[], list[bytes]], usage: Callable[[str], bytes | None]) -> None:
        self._encode = encode
        self._health = health
        self._usage = usage
        self._readers: set[_Reader] = set()

    def send(
        self, changed: Iterable[str] = (), removed: Iterable[str] = (), health: bool = False, queues: bool = False
    ) -> None:
        """Note a change for everybody; never waits."""
        changed, removed = set(changed), set(removed)
        for reader in self._readers:
            reader.changed = (reader.changed | changed) - removed
            reader.removed = (reader.removed | removed) - changed
            reader.health = reader.health or health
            reader.queues = reader.queues or queues
            reader.ready.set()

    def send_usage(self) -> None:
        """Note that there is a newer look at this machine; who reads slowly misses some."""
        for reader in self._readers:
            reader.usage = True
            reader.ready.set()

    def close(self) -> None:
        """End every subscription."""
        for reader in self._readers:
            reader.over = True
            reader.ready.set()

    async def subscribe(self, lang: str) -> AsyncGenerator[bytes, None]:
        """A snapshot, then changes until the service closes or the subscriber goes."""
        reader = _Reader()
        self._readers.add(reader)
        try:
            yield message("snapshot", "jobs", self._encode(None, lang))
            while not reader.over:
                await reader.ready.wait()
                reader.ready.clear()
                changed, reader.changed = reader.changed, set()
                removed, reader.removed = reader.removed, set()
                health, reader.health = reader.health, False
                queues, reader.queues = reader.queues, False
                usage, reader.usage = reader.usage and self._usage(lang), False
                if health:  # first: it says whose the jobs are
                    yield message("health", "clusters", self._health())
                if changed:
                    yield message("jobs", "jobs", self._encode(changed, lang))
                if removed:
                    yield message("removed", "ids", [f'"{job_id}"'.encode() for job_id in sorted(removed)])
                if queues:
                    yield QUEUES
                if usage:
                    yield b'{"type":"usage","usage":%s}' % usage
        finally:
            self._readers.discard(reader)


def message(kind: str, key: str, items: list[bytes]) -> bytes:
    """One stream message out of values that are encoded already."""
    return b'{"type":"%s","%s":%s}' % (kind.encode(), key.encode(), array(items))


def array(items: list[bytes]) -> bytes:
    """A JSON array out of encoded values, in one copy: ten thousand jobs are megabytes."""
    if not items:
        return b"[]"
    parts = [b","] * (2 * len(items) + 1)
    parts[0], parts[1::2], parts[-1] = b"[", items, b"]"
    return b"".join(parts)
