"""The kubelet's copy of a pod's log: what is left where the launcher's port cannot be reached.

It is text with a time before each line. It is shorter than the launcher's log (the kubelet serves the newest file of
a rotation only) and does not tell stdout from stderr. Lines that the runtime cut at 16 KiB come whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator

from jupyter_aiarts.engines.kubernetes.book import PodEntry
from jupyter_aiarts.engines.kubernetes.node_archive import Batch, NodeArchive
from jupyter_aiarts.engines.kubernetes.rejoin import COMPARED, HeldLine, Line, New, Rejoin
from jupyter_aiarts.engines.logs.segments import STREAMS, Place, Vanished, segment_starts
from jupyter_aiarts.engines.logs.stream import Stream
from jupyter_aiarts.model.times import parse

LONGEST = 256 * 1024  # a longer line is handed on in parts
WINDOW = 8 << 20  # bytes of each held stream that a line of the kubelet's is looked for in
CHECKPOINT = 10  # seconds of the log between notes of how far it is held
OVERLAP = 1  # seconds, and what is left of the last one, that a new connection repeats
SECOND = 1_000_000_000
CUT = "the kubelet no longer had all of it"
_BLOCK = 1 << 20
_PREFIX = re.compile(rb"\[(0|[1-9][0-9]{0,6})\] ")
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")


class LineReader:
    """Lines out of a byte stream that comes in pieces; a line with no time is the kubelet's own word."""

    def __init__(self) -> None:
        self._rest = b""
        self._inside: Line | None = None  # the last part of a very long line that goes on
        self._second: tuple[bytes, int] = (b"", 0)
        self.notes: list[str] = []

    def feed(self, received: bytes) -> list[Line]:
        """Lines that are whole now, and parts of very long ones, cut at the same places whenever they come."""
        lines = (self._rest + received).split(b"\n")
        rest = lines.pop()
        found = [line for text in lines for line in self._parts(text + b"\n")]
        while len(rest) > 2 * LONGEST:
            found += self._part(rest[:LONGEST], True)
            rest = rest[LONGEST:]
        self._rest = rest
        return found

    def end(self) -> list[Line]:
        """Nothing follows: what there is of a last line is all of it."""
        rest, self._rest = self._rest, b""
        return list(self._parts(rest)) if rest else []

    def _parts(self, text: bytes) -> Iterator[Line]:
        for start in range(0, len(text), LONGEST):
            yield from self._part(text[start : start + LONGEST], start + LONGEST < len(text))

    def _part(self, text: bytes, more: bool) -> list[Line]:
        before = self._inside
        if before is not None:
            line = Line(before.t, text, before.part + 1)
        else:
            t, length = self._stamp(text)
            if t < 0:
                self.notes = [*self.notes[-9:], text[:500].decode("utf-8", "replace").strip()]
                return []
            line = Line(t, text[length:])
        self._inside = line if more else None
        return [line]

    def _stamp(self, text: bytes) -> tuple[int, int]:
        """The time in ns and the length of what says it; -1 when there is none."""
        match = _STAMP.match(text)
        if match is None:
            return -1, 0
        second = match[1] + match[3]
        if second != self._second[0]:
            try:
                self._second = (second, int(parse(second.decode()).timestamp()))
            except ValueError:
                return -1, 0
        return self._second[1] * SECOND + int((match[2] or b"0").ljust(9, b"0")), match.end()


class Unseen:
    """Passes each line once over all connections: a later one begins by repeating the last seconds.

    Not by its time alone: the runtime stamps stdout and stderr apart, so times may go back a little.
    """

    def __init__(self) -> None:
        self.newest = 0
        self._recent: Counter[tuple[int, int]] = Counter()
        self._repeated: Counter[tuple[int, int]] = Counter()

    @property
    def since(self) -> int:
        """From when on a new connection must repeat, in whole seconds since the epoch; 0: from the beginning."""
        return max(0, self.newest // SECOND - OVERLAP)

    def reconnect(self) -> None:
        """What comes now begins at `since`."""
        self._repeated = self._recent.copy()

    def unseen(self, lines: list[Line]) -> list[Line]:
        """Those that were not given yet."""
        return [line for line in lines if self._is_new(line)]

    def _is_new(self, line: Line) -> bool:
        key = (line.t, hash((line.text, line.part)))
        if self._repeated[key] > 0:
            self._repeated[key] -= 1
            return False
        if line.t // SECOND > self.newest // SECOND:
            oldest = (line.t // SECOND - OVERLAP) * SECOND
            self._recent = Counter({key: count for key, count in self._recent.items() if key[0] >= oldest})
        self.newest = max(self.newest, line.t)
        self._recent[key] += 1
        return True


class KubeletCopy:
    """Puts the kubelet's lines of one pod into the archive, those that are not there yet."""

    def __init__(self, node: NodeArchive, pod: PodEntry) -> None:
        self._node, self._pod = node, pod
        self._ranks = node.ranks or (node.node,)
        self._is_part = pod.since > 0  # of the kubelet's log only the newest part is asked for
        self._rejoins: dict[int, Rejoin] = {}
        self._last = self._ranks[0]  # the rank of the last line: further parts of it are this one's too
        self._unseen = Unseen()
        self._cut: set[int] = set()  # ranks that are marked as missing something
        self.has_added = False

    def reconnect(self) -> int:
        """Called before each connection; the time from which on lines are wanted, in seconds since the epoch."""
        self._unseen.reconnect()
        return self._unseen.since or self._pod.since

    def take(self, lines: list[Line]) -> bool:
        """Keep what is new; whether the kubelet had not given it all before. Raises `OSError`.

        After an error this copy is of no use: what it had in hand is not on disk, and a new one finds the place again.
        """
        batch = Batch(self._node)
        unseen = self._unseen.unseen(lines)
        for line in unseen:
            self._add(batch, line)
        batch.write()
        self._node.recover()
        return bool(unseen)

    def settle(self) -> None:
        """No more comes for now: nothing is to wait, and how far we are is written down now and then."""
        batch = Batch(self._node)
        for rank, rejoin in self._rejoins.items():
            self._append(batch, rank, rejoin, rejoin.flush())
        batch.write()
        if self._unseen.since >= self._pod.since + CHECKPOINT:
            self._node.settle(self._pod, since=self._unseen.since)

    def close(self) -> bool:
        """The kubelet has no more. Marks the ranks whose last lines it did not have; whether there are any."""
        self.settle()
        batch = Batch(self._node)
        unmet = [rank for rank in self._node.known_ranks(self._pod) if not self._rejoin(rank).is_met]
        for rank in unmet:
            if rank not in self._cut:
                batch.lose(rank, CUT)
        batch.write()
        return bool(unmet)

    def _add(self, batch: Batch, line: Line) -> None:
        if line.part:
            rejoin = self._rejoin(self._last)
            self._append(batch, self._last, rejoin, rejoin.flush())
            if rejoin.was_new:
                batch.append(self._last, "stdout", line.t, line.text)
            return
        self._last, text = split_rank(line.text, self._ranks)
        rejoin = self._rejoin(self._last)
        self._append(batch, self._last, rejoin, rejoin.feed(Line(line.t, text)))

    def _append(self, batch: Batch, rank: int, rejoin: Rejoin, found: list[New]) -> None:
        if found and rejoin.lost:
            rejoin.lost = False
            self._cut.add(rank)
            batch.lose(rank, CUT)
        for new in found:
            batch.append(rank, new.stream, new.t, new.data)
            # A launcher of several ranks ends a last line that had no end: that alone is no news.
            self.has_added = self.has_added or new.data != b"\n"

    def _rejoin(self, rank: int) -> Rejoin:
        if rank not in self._rejoins:
            self._rejoins[rank] = rejoin_of(self._node, rank, self._pod.begins, self._is_part)
        return self._rejoins[rank]


def split_rank(text: bytes, ranks: tuple[int, ...]) -> tuple[int, bytes]:
    """Whose line this is: a launcher of several ranks writes `[rank] ` before each."""
    match = _PREFIX.match(text) if len(ranks) > 1 else None
    if match is None or int(match[1]) not in ranks:
        return ranks[0], text
    return int(match[1]), text[match.end() :]


def rejoin_of(node: NodeArchive, rank: int, begins: dict[str, int], is_part: bool) -> Rejoin:
    """How the kubelet's lines of a rank go on after those that are held of its pod."""
    place = Place(node.folder.parent, node.folder.name, "log", str(rank))
    found = [_held_lines(Stream(node.node, rank, name, place), begins.get(f"{rank}.{name}", 0)) for name in STREAMS]
    cut = max(lines[0].t if is_cut and lines else 0 for lines, is_cut in found)
    return Rejoin(found[0][0], found[1][0], cut, is_part)


def _held_lines(stream: Stream, begin: int) -> tuple[list[HeldLine], bool]:
    """The newest lines from `begin` on, and whether older ones were left out."""
    try:
        with stream.place.opened() as folder:
            stream.refresh(folder, segment_starts(folder)[stream.stream])
    except Vanished:
        return [], False
    position = max(begin, stream.end - WINDOW)
    is_cut, lines, rest, start = position > begin, [], b"", position
    while position < stream.end:
        block = stream.read(position, _BLOCK)
        if not block:
            position, rest = stream.next_start(position) or stream.end, b""
            start = position
            continue
        texts = (rest + block).split(b"\n")
        position += len(block)
        rest = texts.pop()
        lines += _stamped(stream, start, [text + b"\n" for text in texts])
        start = position - len(rest)
    if rest:
        lines.append(HeldLine(stream.time_at(start), rest, open=True))
    return lines[int(is_cut) :], is_cut


def _stamped(stream: Stream, start: int, texts: list[bytes]) -> list[HeldLine]:
    chunks = stream.stamps(start, start + sum(map(len, texts)))
    offsets = [offset for offset, _ in chunks]
    found: list[HeldLine] = []
    for text in texts:
        found.append(HeldLine(chunks[max(0, bisect_right(offsets, start) - 1)][1], text[:COMPARED]))
        start += len(text)
    return found
