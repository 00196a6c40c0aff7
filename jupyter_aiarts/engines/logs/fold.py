"""Runs of repeated lines as one, and progress bars as their last state: for eyes, pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from jupyter_aiarts.model.job import LogLine

from .query import join_seq

ALIKE = 3  # so many lines that differ in numbers alone are progress; two may be two facts

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?")
_BAR = re.compile(r"[█▏▎▍▌▋▊▉░▒▓━─╸╺#=>.·\s-]+")


def fold(lines: Sequence[LogLine]) -> list[LogLine]:
    """Each run of alike lines of one rank and stream as its last line; `folded`: how many went into it.

    Equal lines always fold; lines that differ in numbers or in a bar's length fold from three on. Lines of
    other ranks in between don't end a run. Of a line rewritten with carriage returns the last state is kept.
    The first line's `seq` still stands for all lines there were: paging on from it misses and repeats none.
    """
    shown: dict[int, LogLine] = {}
    for run in _runs(lines):
        if len(run) >= ALIKE or len({lines[place].text for place in run}) == 1:
            shown[run[-1]] = _folded([lines[place] for place in run])
        else:
            shown.update((place, last_state(lines[place])) for place in run)
    kept = [shown[place] for place in sorted(shown)]
    if kept and 0 not in shown:
        kept[0] = replace(kept[0], seq=join_seq(lines[0].seq, kept[0].seq))
    return kept


def _runs(lines: Sequence[LogLine]) -> list[list[int]]:
    """Places of alike lines that follow each other inside their rank and stream."""
    runs: list[list[int]] = []
    current: dict[tuple[int, int, str], tuple[str | None, list[int]]] = {}
    for place, line in enumerate(lines):
        source = (line.node, line.rank, line.stream)
        look = None if line.more else alike(last_state(line).text)
        before, run = current.get(source, (None, []))
        if not run or look is None or look != before:
            run = []
            runs.append(run)
        run.append(place)
        current[source] = (look, run)
    return runs


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
