"""A log as it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_aiarts.model.job import LogLine

from . import merge
from .fold import fold
from .merge import NOTHING, View
from .query import Key, LogQuery, StreamKey, read_seq
from .search import Stop
from .track import MORE, Item

if TYPE_CHECKING:
    from .runlog import RunLog

HOLD = 1_000_000_000  # ns that an unfinished line may wait for its end before it is shown as it is
STEP_LINES = 5000
POLL = 0.25  # seconds


class Follower:
    """Gives new lines step by step. Each step blocks for some reads, never for new lines: run it in a thread.

        follower = log.follow(query)
        while not follower.done:
            for line in await in_thread(follower.step, ended): …   # ended: was so before this step
            await sleep(follower.pause)                            # or until something changed

    After a broken connection `after=` the last line's `seq` goes on without a loss or a repeat.
    """

    def __init__(self, log: RunLog, query: LogQuery, stop: Stop | None) -> None:
        self._log, self._query, self._stop = log, query, stop
        self._places: dict[StreamKey, int] = {}
        self._inside: set[StreamKey] = set()
        self._high: Key = NOTHING
        self._high_end = 0
        self._begun = False
        self.done = False
        self.pause = POLL

    def step(self, ended: bool) -> list[LogLine]:
        """The lines that are complete and were not given yet, in order, at most some thousands.

        `ended`: the run had ended before this call, so everything is in the files and no line is unfinished.
        Else an unfinished last line waits for its end, but not over a second; then it comes with `more`, and
        its rest follows as a line of its own. Once ended, no line means that all were given (`done`).
        """
        views = self._log.look(self._query, ended, self._stop, HOLD)
        lines = self._next(views, ended) if self._begun else self._first(views, ended)
        self._begun = True
        if not ended:
            lines = merge.pinned(lines, {view.key: self._places.get(view.key, 0) for view in views}, self._query)
        return fold(lines) if self._query.fold else lines

    def _first(self, views: list[View], ended: bool) -> list[LogLine]:
        if self._query.after is None:
            return self._tail(views, ended)
        cursor = read_seq(self._query.after)
        self._high, self._high_end = (cursor.time, *cursor.stream, cursor.start), cursor.end
        for view in views:
            self._places[view.key] = merge.place_after(view.track, cursor)
        for key in {cursor.stream, *cursor.pins} & self._places.keys():
            view = next(view for view in views if view.key == key)
            if view.track.stream.read_back(self._places[key], 1) not in (b"", b"\n"):
                self._inside.add(key)
        return self._next(views, ended)

    def _tail(self, views: list[View], ended: bool) -> list[LogLine]:
        runs = [view.track.backward(view.end, not ended) for view in views]
        items, _ = merge.take(merge.backwards(runs), self._query.count)
        writer = merge.Writer(pin for view in views for pin in merge.pins_of(view))
        lines = [writer.line(item) for item in reversed(items)]
        self._high, self._high_end = writer.high, writer.high_end
        self._all_given(views, ended)
        return lines

    def _next(self, views: list[View], ended: bool) -> list[LogLine]:
        places = {view.key: self._places.setdefault(view.key, 0) for view in views}
        ends = [(view.end, not ended) for view in views]
        writer, items = merge.forward_from(views, places, self._inside, ends, self._high, self._high_end)
        page, all_given = merge.take(items, STEP_LINES)
        lines = [writer.line(item) for item in page]
        self._high, self._high_end = writer.high, writer.high_end
        if all_given:
            self._all_given(views, ended)
        else:
            self._some_given(page)
        return lines

    def _all_given(self, views: list[View], ended: bool) -> None:
        for view in views:
            self._places[view.key] = max(view.end, self._places.get(view.key, 0))
        self._inside = {view.key for view in views if view.open is not None and not view.held}
        self.done = ended
        self.pause = POLL

    def _some_given(self, page: list[Item]) -> None:
        for _, rank, lane, _, end, _, kind in page:
            self._places[rank, lane] = end
            if kind == MORE:
                self._inside.add((rank, lane))
            else:
                self._inside.discard((rank, lane))
        self.pause = 0.0
