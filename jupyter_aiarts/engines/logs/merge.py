"""Many streams as one log: in time order, and every line exactly once, while the log grows.

A look at the log (`View`) fixes for each stream where it ends. A page walks from places to those ends. What a
later request can't know from a line's time alone, its cursor carries: which streams stood in an unfinished
line (pins).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from jupyter_aiarts.model.job import LogLine
from jupyter_aiarts.model.times import from_ns

from .query import MOST_PINS, Cursor, Key, LogQuery, StreamKey, pin_all, write_pins, write_seq, write_source
from .search import shown
from .segments import STREAMS
from .track import GAP, MORE, Item, Track

NOTHING: Key = (-1, -1, -1, -1)
PAGE_BYTES = 32 * 1024 * 1024  # an answer ends early when it is this large; the cursors go on from there


class View(Struct):
    """One stream in one look: shown up to `end`; a line without newline at the end begins at `open`."""

    track: Track
    end: int
    open: int | None = None
    held: bool = False  # the open line isn't shown yet, `end` is its beginning

    @property
    def key(self) -> StreamKey:
        """What names the stream."""
        return self.track.stream.key


Pin = tuple[Key, StreamKey, int | None]  # from this key on the stream needs this place named, or no more


def pins_of(view: View, position: int = 0, named: bool = False) -> list[Pin]:
    """When a cursor has to name this stream's place. `named`: from the start on, where it is `position`."""
    pins: list[Pin] = []
    if named:
        pins.append((NOTHING, view.key, position))
        if position < view.end:
            pins.append((_key(view, position), view.key, None))
    if view.open is not None and (view.held or position < view.end):
        pins.append((_key(view, max(view.open, position)), view.key, view.end))
    return pins


def must_name(view: View, position: int, inside: bool, high: Key) -> bool:
    """Would a reader who knows only the time of the newest line shown, `high`, miss this stream's place?

    It would in the middle of a line, and where a line is older than `high` but comes only now.
    """
    return inside or (position < view.track.stream.end and _key(view, position) < high)


def _key(view: View, position: int) -> Key:
    return (view.track.stream.time_at(position), *view.key, position)


def place_of(track: Track, key: Key) -> int:
    """Where in this stream the lines that are not before `key` begin; the stream isn't the key's own."""
    time, rank, lane, _ = key
    # Of equal times the lower (rank, lane) comes first: such a stream has had its lines of that time.
    return track.since(time if track.stream.key > (rank, lane) else time + 1)


def place_after(track: Track, cursor: Cursor) -> int:
    """Where a reader that has seen everything up to the cursor goes on in this stream."""
    if track.stream.key == cursor.stream:
        return cursor.end
    pinned = cursor.pins.get(track.stream.key)
    if pinned is not None or cursor.whole:
        return pinned or 0  # where there was no such stream yet, all of it is new
    return place_of(track, (cursor.time, *cursor.stream, cursor.start))


def place_before(track: Track, cursor: Cursor) -> int:
    """Where the lines before the cursor end in this stream."""
    key = cursor.begin
    return key[3] if track.stream.key == key[1:3] else place_of(track, key)


def forwards(runs: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """Streams that are each in order, as one."""
    each = list(runs)
    return each[0] if len(each) == 1 else heapq.merge(*each)


def backwards(runs: Iterable[Iterator[Item]]) -> Iterator[Item]:
    """Streams that are each newest first, as one, newest first."""
    each = list(runs)
    return each[0] if len(each) == 1 else heapq.merge(*each, reverse=True)


def take(items: Iterator[Item], count: int) -> tuple[list[Item], bool]:
    """At most `count` items, and not many more bytes than an answer may have; True: those were all."""
    page: list[Item] = []
    room = PAGE_BYTES
    if count <= 0:
        return page, False
    for item in items:
        page.append(item)
        room -= len(item[5])
        if len(page) >= count or room < 0:
            return page, False
    return page, True


def reached(views: list[View], begun: dict[StreamKey, int], page: list[Item], all_given: bool) -> dict[StreamKey, int]:
    """Where a reader stands in each stream who began at these places and was given this page."""
    if all_given:
        return {view.key: max(view.end, begun[view.key]) for view in views}
    return begun | {(rank, lane): end for _, rank, lane, _, end, _, _ in page}


def pinned(lines: list[LogLine], places: dict[StreamKey, int], query: LogQuery) -> list[LogLine]:
    """The same lines; the last one's cursor, which the next page is asked for with, names every stream's place."""
    if not lines or len(places) > MOST_PINS:
        return lines
    seq = pin_all(lines[-1].seq, places, query.rank is None and query.stream is None)
    return [*lines[:-1], structs.replace(lines[-1], seq=seq)]


def forward_from(
    views: list[View],
    places: dict[StreamKey, int],
    inside: set[StreamKey],
    ends: list[tuple[int, bool]],
    high: Key = NOTHING,
    high_end: int = 0,
) -> tuple[Writer, Iterator[Item]]:
    """The lines from `places` on, oldest first, and what writes them; `inside`: who is inside a line."""
    pins: list[Pin] = []
    runs: list[Iterator[Item]] = []
    for view, (end, more) in zip(views, ends, strict=True):
        place = places[view.key]
        pins += pins_of(view, place, must_name(view, place, view.key in inside, high))
        view.track.floor = max(0, high[0])
        runs.append(view.track.forward(place, end, more))
    return Writer(pins, high, high_end), forwards(runs)


Bare = tuple[int, str, str, bool]  # rank, stream, text, more follows


def bare(item: Item) -> Bare:
    """An item as plain text needs it."""
    _, rank, lane, start, end, raw, kind = item
    if kind == GAP:
        return rank, "aiarts", raw.decode(), False
    return rank, STREAMS[lane & 1], shown(start, end, raw), kind == MORE


class Writer:
    """Items, in order, into lines for users. `high` is the newest key the reader has seen already.

    A line whose end comes late (its stream stood in it while others went on) is older than `high`: its cursor
    says `high` and names the places of all streams that are late.
    """

    def __init__(self, pins: Iterable[Pin], high: Key = NOTHING, high_end: int = 0) -> None:
        self._pins = sorted(pins, key=lambda pin: pin[0])
        self._pins.reverse()
        self._named: dict[StreamKey, int] = {}
        self._late: dict[StreamKey, int] = {}
        self._text = ""
        self._time = (-1, "")
        self._source = (-1, -1, -1)  # time, rank and lane of the line before, and how its cursor begins
        self._prefix = ""
        self.high, self.high_end = high, high_end

    def line(self, item: Item) -> LogLine:
        """One item as users see it."""
        time, rank, stream, text, more = item[0], *bare(item)
        if self._time[0] != time:
            # 0 stands for "not known" (no index); an empty text is no time, 1970 would be a wrong one.
            self._time = (time, from_ns(time) if time else "")
        return LogLine(
            seq=self._seq(item),
            t=self._time[1],
            node=item[2] >> 1,
            rank=rank,
            stream=stream,
            text=text,
            more=more,
        )

    def _seq(self, item: Item) -> str:
        time, rank, lane, start, end = item[:5]
        if self._pins and self._pins[-1][0] <= item:
            self._advance((time, rank, lane, start))
        if item < self.high:
            self._late[rank, lane] = end
            pins = write_pins({**self._named, **self._late})
            return f"{write_seq(*self.high, self.high_end, pins)}~{time:x}.{rank:x}.{lane:x}.{start:x}"
        self.high, self.high_end = (time, rank, lane, start), end
        if self._source != (time, rank, lane):
            self._source, self._prefix = (time, rank, lane), write_source(time, rank, lane)
        return f"{self._prefix}{start:x}.{end - start:x}{self._text}"

    def _advance(self, key: Key) -> None:
        while self._pins and self._pins[-1][0] <= key:
            _, stream, place = self._pins.pop()
            if place is None:
                self._named.pop(stream, None)
            else:
                self._named[stream] = place
        self._text = write_pins(self._named)
