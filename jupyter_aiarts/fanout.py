"""Telling every subscriber what changed, at the pace each of them reads.

A subscriber that is slow is not sent every step: it gets what changed since it last looked, once. So memory is bounded
by the number of jobs, however fast they change and however slow the line is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable

QUEUES = b'{"type":"queues"}'
"""Says that queues may be other ones: whoever shows them asks, for what each may see is made when it is asked for."""
KERNELS = b'{"type":"kernels"}'
"""Says that environments or the kernels made of them are other ones: whoever shows them asks."""

NONE = b"[]"

Encode = Callable[[Iterable[str] | None, str], list[bytes]]


class _Reader:
    """What one subscriber has not seen yet."""

    def __init__(self, shows_usage: bool) -> None:
        self.shows_usage = shows_usage
        self.changed: set[str] = set()
        self.removed: set[str] = set()
        self.health = False
        self.queues = False
        self.kernels = False
        self.usage = False
        self.idle = False
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
        self._idle = NONE
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
        """Note that there is a newer look at this machine; who reads slowly misses some, who shows none sleeps on."""
        for reader in self._readers:
            if reader.shows_usage:
                reader.usage = True
                reader.ready.set()

    def send_idle(self, kernels: bytes) -> None:
        """Note which kernels hold cards that do nothing, as they travel; all of them, and kept for who comes later."""
        self._idle = kernels
        for reader in self._readers:
            reader.idle = True
            reader.ready.set()

    def send_kernels(self) -> None:
        """Note that environments or kernels are others."""
        for reader in self._readers:
            reader.kernels = True
            reader.ready.set()

    def close(self) -> None:
        """End every subscription."""
        for reader in self._readers:
            reader.over = True
            reader.ready.set()

    async def subscribe(self, lang: str, usage: bool = True) -> AsyncGenerator[bytes, None]:
        """A snapshot, then changes until the service closes or the subscriber goes; looks at the machine if wanted."""
        reader = _Reader(usage)
        self._readers.add(reader)
        try:
            idle = b"" if self._idle == NONE else b',"idle":%s' % self._idle
            yield message("snapshot", "jobs", self._encode(None, lang), idle)
            while not reader.over:
                await reader.ready.wait()
                reader.ready.clear()
                changed, reader.changed = reader.changed, set()
                removed, reader.removed = reader.removed, set()
                health, reader.health = reader.health, False
                queues, reader.queues = reader.queues, False
                kernels, reader.kernels = reader.kernels, False
                has_idle, reader.idle = reader.idle, False
                look, reader.usage = reader.usage and self._usage(lang), False
                if health:  # first: it says whose the jobs are
                    yield message("health", "clusters", self._health())
                if changed:
                    yield message("jobs", "jobs", self._encode(changed, lang))
                if removed:
                    yield message("removed", "ids", [f'"{job_id}"'.encode() for job_id in sorted(removed)])
                if queues:
                    yield QUEUES
                if kernels:
                    yield KERNELS
                if has_idle:
                    yield b'{"type":"idle","kernels":%s}' % self._idle
                if look:
                    yield b'{"type":"usage","usage":%s}' % look
        finally:
            self._readers.discard(reader)


def message(kind: str, key: str, items: list[bytes], more: bytes = b"") -> bytes:
    """One stream message out of values that are encoded already."""
    return b'{"type":"%s","%s":%s%s}' % (kind.encode(), key.encode(), array(items), more)


def array(items: list[bytes]) -> bytes:
    """A JSON array out of encoded values, in one copy: ten thousand jobs are megabytes."""
    if not items:
        return b"[]"
    parts = [b","] * (2 * len(items) + 1)
    parts[0], parts[1::2], parts[-1] = b"[", items, b"]"
    return b"".join(parts)
