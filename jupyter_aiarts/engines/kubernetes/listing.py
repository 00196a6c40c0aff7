"""A list as texts of its pages, each a list by itself, so that neither memory nor the event loop feels its size.

The API server is the slower of the two, so it is never left waiting. Asked for pages, it looks for the next while it
sends one. Asked for what it has in its memory, which costs it half as much, it sends all in one answer, which is cut
into pages here as it comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Mapping

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.meta import ListMeta
from jupyter_aiarts.engines.kubernetes.transport import Transport

Params = Mapping[str, str | int | float]

PAGE, LARGEST, SMALLEST = 250, 4_000_000, 20
"""Objects and bytes of a page, and objects where they are huge: decoding one takes milliseconds of the event loop."""

CUT = 2_000_000  # bytes after which an answer is cut
HEAD = 16_384  # bytes of an answer in which to look for what comes before its items

_ITEMS = re.compile(rb'"items"\s*:\s*\[')
_REST = re.compile(rb'"continue"\s*:\s*"([^"\\]*)"')
_BETWEEN = b'},{"metadata":'
"""Between two items as the API server writes them. Never inside a text, where quotes have a backslash before them."""


class _Bare(Struct):
    """A list without its items."""

    metadata: ListMeta


class _Coming:
    """A page on its way."""

    def __init__(self, transport: Transport, path: str, params: Params, limit: int) -> None:
        self.limit = limit
        self.rest: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.body = asyncio.create_task(self._read(transport, path, {**params, "limit": limit}))

    async def _read(self, transport: Transport, path: str, params: Params) -> bytes:
        """All of it; `rest`, where the list goes on, is known sooner."""
        parts, head = [], b""
        try:
            async with transport.send("GET", path, params) as response:
                async for part in response.content.iter_any():
                    parts.append(part)
                    if len(head) < HEAD and not self.rest.done():
                        head += part[:HEAD]
                        self._look(head)
            body = b"".join(parts)
            if not self.rest.done():
                self.rest.set_result(_rest_of(body))
            return body
        finally:
            if not self.rest.done():
                self.rest.set_result("")  # whoever awaits the body hears why

    def _look(self, head: bytes) -> None:
        items = _ITEMS.search(head)
        found = _REST.search(head, 0, items.start()) if items is not None else None
        if found is not None:
            self.rest.set_result(found[1].decode())

    async def drop(self) -> None:
        """Nobody wants it any more."""
        self.body.cancel()
        await asyncio.gather(self.body, return_exceptions=True)


class Cutter:
    """Makes lists that are whole from one that comes in parts of any size; what it cannot cut it gives in one piece."""

    def __init__(self) -> None:
        self._head = b""  # up to the first item; each list gets it
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, part: bytes) -> bytes | None:
        """A list of the items that are complete, once they are many."""
        self._parts.append(part)
        self._size += len(part)
        return self._cut(b"".join(self._parts)) if self._size >= CUT else None

    def rest(self) -> bytes:
        """The list of all that is left."""
        return b"".join((self._head, *self._parts))

    def _cut(self, text: bytes) -> bytes | None:
        head = self._head or _head_of(text)
        end = text.rfind(_BETWEEN) + 1 if head else 0
        self._parts, self._size = [text[end + 1 :] if end else text], 0
        if not end:
            return None
        whole = b"".join((self._head, memoryview(text)[:end], b"]}"))
        self._head = head
        return whole


async def texts(transport: Transport, path: str, params: Params, more: str = "") -> AsyncGenerator[bytes, None]:
    """The pages of a list, as they are. Of the first all is awaited: it tells how large the objects are."""
    coming = _Coming(transport, path, {**params, "continue": more} if more else params, PAGE)
    try:
        limit = _fitting(coming.limit, await coming.body)
        while more := await coming.rest:
            now, coming = coming, _Coming(transport, path, {**params, "continue": more}, limit)
            limit = min(limit, _fitting(now.limit, await now.body))
            await asyncio.sleep(0)  # the next is on its way before this one's decoding keeps the loop busy
            yield now.body.result()
            del now  # its text need not be kept while the next is awaited
        yield await coming.body
    finally:
        await coming.drop()  # who looks no further


async def remembered(transport: Transport, path: str, params: Params) -> AsyncGenerator[bytes, None]:
    """The list; a long one as the API server has it in its memory, and a watch from there tells the rest.

    Memory may be behind by moments, less than looking for the first page takes: so that is asked for before, and a
    list that ends with it is what is in the store now, as somebody expects who has just put something there. What the
    server does not have in its memory it sends in pages.
    """
    first = _Coming(transport, path, params, PAGE)
    try:
        body = await first.body
        more = await first.rest
    finally:
        await first.drop()
    if not more:
        yield body
        return
    del body, first
    cutter = Cutter()
    async with transport.send("GET", path, {**params, "limit": PAGE, "resourceVersion": "0"}) as response:
        async for part in response.content.iter_any():
            whole = cutter.feed(part)
            if whole is not None:
                yield whole
                del whole  # its text need not be kept while the next is awaited
    last = cutter.rest()
    more = _rest_of(last)
    yield last
    del last
    if more:
        async with contextlib.aclosing(texts(transport, path, params, more)) as pages:
            async for page in pages:
                yield page


def _head_of(text: bytes) -> bytes:
    """All before the first item, if that is what one has to know of a list."""
    found = _ITEMS.search(text, 0, HEAD)
    return text[: found.end()] if found is not None and b'"metadata"' in text[: found.start()] else b""


def _fitting(limit: int, body: bytes) -> int:
    """How many objects to ask for when so many are as large as this."""
    return max(limit // 2, SMALLEST) if len(body) > LARGEST else limit


def _rest_of(body: bytes) -> str:
    """Where the list goes on, empty at its end: read without decoding the items, which come after it.

    Empty as well for what is no list: whoever decodes it says so.
    """
    items = _ITEMS.search(body)
    before = _REST.search(body, 0, items.start()) if items is not None else None
    if before is not None:
        return before[1].decode()
    try:
        return msgspec.json.decode(body, type=_Bare).metadata.continue_
    except msgspec.MsgspecError:
        return ""
