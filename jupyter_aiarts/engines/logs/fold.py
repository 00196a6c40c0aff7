"""Runs of repeated lines as one, and progress bars as their last state: for eyes, pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from jupyter_aiarts.model.harmless import family, harmless_among
from jupyter_aiarts.model.job import LogLine

from .query import join_seq

AT_ONCE = 1000  # lines that are looked at together for known floods
ALIKE = 3  # so many lines that differ in numbers alone are progress; two may be two facts

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?")
_BAR = re.compile(r"[█▏▎▍▌▋▊▉░▒▓━─╸╺#=>.·\s-]+")


def fold(lines: Sequence[LogLine]) -> list[LogLine]:
    """Each run of alike lines of one rank and stream as its last line; `folded`: how many went into it.

    Equal lines always fold; lines that differ in numbers or in a bar's length fold from three on. Lines of
    other ranks in between don't end a run. Of a line rewritten with carriage returns the last state is kept.
    Lines of a flood that is known to mean nothing fold whatever they say, and the one that is left says so.
    The first line's `seq` still stands for all lines there were: paging on from it misses and repeats none.
    """
    shown: dict[int, LogLine] = {}
    floods = _floods(lines)
    for run in _runs(lines, floods):
        if floods[run[0]] is not None:
            shown[run[-1]] = _flood([lines[place] for place in run], [floods[place] for place in run])
        elif len(run) >= ALIKE or len({lines[place].text for place in run}) == 1:
            shown[run[-1]] = _folded([lines[place] for place in run])
        else:
            shown.update((place, last_state(lines[place])) for place in run)
    kept = [shown[place] for place in sorted(shown)]
    if kept and 0 not in shown:
        kept[0] = replace(kept[0], seq=join_seq(lines[0].seq, kept[0].seq))
    return kept


def _floods(lines: Sequence[LogLine]) -> list[str | None]:
    """Which known flood each line belongs to."""
    found: list[str | None] = []
    for start in range(0, len(lines), AT_ONCE):
        part = lines[start : start + AT_ONCE]
        known = harmless_among([line.text for line in part])
        found += [None if line.more else line.harmless or kind for line, kind in zip(part, known, strict=True)]
    return found


def _flood(run: list[LogLine], kinds: list[str | None]) -> LogLine:
    """One line for a flood, by its own name, or by its family's where it is of several kinds."""
    names = {kind for kind in kinds if kind}
    return replace(_folded(run), harmless=names.pop() if len(names) == 1 else family(names.pop()))


def _runs(lines: Sequence[LogLine], floods: Sequence[str | None]) -> list[list[int]]:
    """Places of alike lines that follow each other inside their rank and stream."""
    runs: list[list[int]] = []
    current: dict[tuple[int, int, str], tuple[str | None, list[int]]] = {}
    for place, line in enumerate(lines):
        source = (line.node, line.rank, line.stream)
        look = None if line.more else _look(line, floods[place])
        before, run = current.get(source, (None, []))
        if not run or look is None or look != before:
            run = []
            runs.append(run)
        run.append(place)
        current[source] = (look, run)
    return runs


def _look(line: LogLine, flood: str | None) -> str:
    return f"\0{family(flood)}" if flood is not None else alike(last_state(line).text)


def alike(text: str) -> str:
    """The text without what changes in progress: numbers, and the length of bars."""
    return _BAR.sub(" ", _NUMBER.sub("0", text))


def last_state(line: LogLine) -> LogLine:
    """A line that was rewritten with carriage returns, as it stood at the end."""
    if "\r" not in line.text:
        return line
    states = [state for state in line.text.split("\r") if state.strip()]
    if len(states) < 2:
        return replace(line, text=states[0] if states else "")
    return replace(line, text=states[-1], folded=line.folded + len(states) - 1)


def _folded(run: list[LogLine]) -> LogLine:
    states = [last_state(line) for line in run]
    return replace(states[-1], folded=sum(state.folded for state in states) + len(run) - 1)
