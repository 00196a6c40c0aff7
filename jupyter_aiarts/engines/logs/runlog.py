"""The log of one run: pages, search, text, raw bytes, and following; engines hand it out, doors read it.

Everything here blocks on files and belongs in a worker thread. An object serves one request at a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.model.job import LogLine

from . import merge
from .fold import fold
from .follow import Follower
from .merge import Bare, View, Writer
from .query import Cursor, LogQuery, StreamKey, read_seq
from .reasons import Drop, drops_of, gap_text, lost_to, unread_reason
from .search import Grep, Stop
from .segments import STREAMS, Place, Vanished, rank_places, segment_starts
from .stream import Stream
from .track import BLOCK, Item, Track

SETTLE = 20_000_000  # ns between a chunk's time being taken and its bytes being in the file, generously
_SKEWED = 60_000_000_000  # ns: a time so far ahead is a wrong clock, not a line of the next moment


def open_log(run_folder: Path) -> RunLog:
    """The log below a run's folder; nothing is read before it is asked for."""
    return RunLog(run_folder)


class RunLog:
    """Reads what the launchers of one run wrote, while they write."""

    def __init__(self, run_folder: Path, clock: Callable[[], int] = time.time_ns, settle: int = SETTLE) -> None:
        self._root = run_folder
        self._clock = clock
        self._settle = settle
        self._listed: dict[tuple[int, int], tuple[int, dict[str, Stream]]] = {}
        self._drops: dict[int, list[Drop]] = {}
        self._refused: set[str] = set()

    def lines(self, query: LogQuery, *, ended: bool = False, stop: Stop | None = None) -> list[LogLine]:
        """One page, oldest line first.

        `ended`: nothing is written any more, so a last line without newline is whole. `stop` is asked between
        blocks; once it says True, `Abandoned` is raised.
        """
        views = self.look(query, ended, stop)
        if query.after is not None:
            lines = self._page_after(query, views, read_seq(query.after), ended)
        else:
            lines = self._page_before(query, views, ended)
        return fold(lines) if query.fold else lines

    def follow(self, query: LogQuery, *, stop: Stop | None = None) -> Follower:
        """The log as it grows, from `query.after` or from the last `tail` lines on; see `Follower.step`."""
        if query.before is not None:
            raise BadRequest("A log can't be followed backwards.", "Leave out before=, or follow=.")
        return Follower(self, query, stop)

    def walk(self, query: LogQuery, *, ended: bool = False, stop: Stop | None = None) -> Iterator[LogLine]:
        """All lines, oldest first, between the cursors if there are any; `tail` and `limit` don't count."""
        writer, items = self._walk_all(query, ended, stop)
        return map(writer.line, items)

    def _walk_all(self, query: LogQuery, ended: bool, stop: Stop | None) -> tuple[Writer, Iterator[Item]]:
        views = self.look(query, ended, stop)
        after = read_seq(query.after) if query.after is not None else None
        return self._walk(views, after, self._ends(views, query, ended))

    def text(
        self, query: LogQuery, *, whole: bool = False, ended: bool = False, stop: Stop | None = None
    ) -> Iterator[str]:
        """The page, or with `whole` all of it, as plain text; tagged `[rank]` unless one rank is asked."""
        if not whole:
            lines = self.lines(query, ended=ended, stop=stop)
            return plain_text(((line.rank, line.stream, line.text, line.more) for line in lines), query.rank is None)
        _, items = self._walk_all(query, ended, stop)
        return plain_text(map(merge.bare, items), query.rank is None)

    def raw(self, rank: int, stream: str) -> Iterator[bytes]:
        """The bytes as they were written, in order, with a line of our own where some are missing."""
        for view in self.look(LogQuery(rank=rank, stream=stream), True, None):
            source, position = view.track.stream, 0
            while position < view.end:
                data = source.read(position, BLOCK)
                if data:
                    yield data
                    position += len(data)
                    continue
                after = source.next_start(position) or view.end
                yield f"\n{self.gap(source, position, after)}\n".encode()
                position = after

    def look(self, query: LogQuery, ended: bool, stop: Stop | None, hold: int = 0) -> list[View]:
        """Where each asked stream ends now. A last line that began less than `hold` ns ago is held back.

        Lines newer than the moment the look began are left to the next: streams are looked at one after
        the other, and a line of the first must not turn up when a later line of the last has been shown.
        """
        grep = Grep(query.grep) if query.grep is not None else None
        now = self._clock()
        self._drops.clear()
        self._refused.clear()
        streams = self._streams(query)
        if not ended and any(stream.newest() > now - self._settle for stream in streams):
            time.sleep(self._settle / 1e9)
            streams = self._streams(query)
        tracks = [Track(stream, self.gap, grep, stop) for stream in streams]
        if ended or not hold:  # while it is followed the loss still grows, and is told when it has ended
            for track in tracks:
                track.lost_to = lost_to(track.stream, self._node_drops(track.stream.node))
        return [_closed(track) if ended or track.lost_to else _open(track, now, hold) for track in tracks]

    def _streams(self, query: LogQuery) -> list[Stream]:
        found = []
        for node, rank, place in rank_places(self._root, query.rank, self._refused):
            streams = self._rank_streams(node, rank, place)
            wanted = STREAMS if query.stream is None else (query.stream,)
            found += [streams[name] for name in wanted if streams[name].starts]
        return found

    def _rank_streams(self, node: int, rank: int, place: Place) -> dict[str, Stream]:
        known, streams = self._listed.get((node, rank), (-1, {}))
        streams = streams or {name: Stream(node, rank, name, place) for name in STREAMS}
        try:
            with place.opened() as folder:
                stamp = os.fstat(folder).st_mtime_ns
                listing = None if stamp == known else segment_starts(folder)
                for name, stream in streams.items():
                    stream.refresh(folder, stream.starts if listing is None else listing[name])
        except Vanished:
            return {name: Stream(node, rank, name, place) for name in STREAMS}
        # A folder's time is coarse: one changed just now may change again without a new time.
        quiet = stamp < time.time_ns() - 100_000_000
        self._listed[node, rank] = (stamp if quiet else -1, streams)
        return streams

    def unread(self, lang: str = "en") -> str | None:
        """A sentence about what is there and could not be read when lines were last asked for; None is the rule."""
        return unread_reason(sorted(self._refused), lang) if self._refused else None

    def gap(self, stream: Stream, start: int, end: int) -> str:
        """The sentence for missing bytes of a stream."""
        return gap_text(stream, start, end, self._node_drops(stream.node))

    def _node_drops(self, node: int) -> list[Drop]:
        if node not in self._drops:
            self._drops[node] = drops_of(Place(self._root, f"node-{node}"))
        return self._drops[node]

    def _ends(self, views: list[View], query: LogQuery, ended: bool) -> list[tuple[int, bool]]:
        """Where each stream's lines end for this query, and whether a line without newline there goes on."""
        if query.before is None:
            return [(view.end, not ended) for view in views]
        cursor = read_seq(query.before)
        places = [min(view.end, merge.place_before(view.track, cursor)) for view in views]
        return [(place, _goes_on(view, place, ended)) for view, place in zip(views, places, strict=True)]

    def _page_before(self, query: LogQuery, views: list[View], ended: bool) -> list[LogLine]:
        ends = self._ends(views, query, ended)
        runs = [view.track.backward(*end) for view, end in zip(views, ends, strict=True)]
        items, _ = merge.take(merge.backwards(runs), query.count)
        writer = Writer(pin for view in views for pin in merge.pins_of(view))
        lines = [writer.line(item) for item in reversed(items)]
        if ended or query.before is not None:
            return lines
        return merge.pinned(lines, {view.key: view.end for view in views}, query)

    def _page_after(self, query: LogQuery, views: list[View], after: Cursor, ended: bool) -> list[LogLine]:
        writer, items = self._walk(views, after, self._ends(views, query, ended))
        page, all_given = merge.take(items, query.count)
        lines = [writer.line(item) for item in page]
        if ended or query.before is not None:
            return lines
        begun = {view.key: merge.place_after(view.track, after) for view in views}
        return merge.pinned(lines, merge.reached(views, begun, page, all_given), query)

    def _walk(
        self, views: list[View], after: Cursor | None, ends: list[tuple[int, bool]]
    ) -> tuple[Writer, Iterator[Item]]:
        if after is None:
            return merge.forward_from(views, dict.fromkeys((view.key for view in views), 0), set(), ends)
        places = {view.key: merge.place_after(view.track, after) for view in views}
        explicit: set[StreamKey] = {after.stream, *after.pins}
        high = (after.time, *after.stream, after.start)
        inside = {view.key for view in views if view.key in explicit and _inside(view, places[view.key])}
        return merge.forward_from(views, places, inside, ends, high, after.end)


def plain_text(lines: Iterable[Bare], tagged: bool) -> Iterator[str]:
    """Lines for a terminal or a file; pieces of one line that follow each other are joined again."""
    going_on: tuple[int, str] | None = None
    for rank, stream, text, more in lines:
        if going_on is not None and going_on != (rank, stream):
            yield "\n"
            going_on = None
        tag = f"[{rank}] " if tagged and going_on is None else ""
        yield f"{tag}{text}" if more else f"{tag}{text}\n"
        going_on = (rank, stream) if more else None
    if going_on is not None:
        yield "\n"


def _inside(view: View, position: int) -> bool:
    return view.track.stream.read_back(position, 1) not in (b"", b"\n")


def _goes_on(view: View, place: int, ended: bool) -> bool:
    """Is there, or may there come, more of a line that ends at `place` without a newline?"""
    stream = view.track.stream
    if place >= stream.end:
        return not ended and not view.track.lost_to
    return bool(stream.read(place, 1))


def _closed(track: Track) -> View:
    return View(track, max(track.stream.end, track.lost_to))


def _open(track: Track, now: int, hold: int) -> View:
    """The stream up to the lines of `now`; half characters and young unfinished lines wait."""
    end = _settled_end(track, now)
    start = track.open_line(end)
    if start is None:
        return View(track, end)
    finished = track.finished(end)
    if finished <= start or 0 <= now - track.stream.time_at(start) < hold:
        return View(track, start, start, held=True)
    return View(track, finished, start)


def _settled_end(track: Track, now: int) -> int:
    end = track.stream.end
    if track.stream.newest() <= now:
        return end
    chunk = track.stream.chunk_since(now + 1)
    if chunk is None or chunk[1] > now + _SKEWED:
        return end
    return track.since(now + 1)
