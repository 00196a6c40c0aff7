"""What a panel of widgets shows of a value: words as HTML, numbers as bars, the end of a log as lines. Plain data."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

from jupyter_aiarts.kernel.terminal import log_text, plain


class Bar(NamedTuple):
    """One number: `value` of `whole`, None where it is not known; `key` names it from one look to the next."""

    key: str
    label: str
    text: str
    value: Optional[float]
    whole: Optional[float]
    is_drawn: bool = True  # whether its past is a line


class Face(NamedTuple):
    """One look. Everything from outside is escaped in `html`, and is text in the others."""

    html: str = ""
    bars: Sequence[Bar] = ()
    lines: Sequence[Dict[str, Any]] = ()


def log_lines(lines: Iterable[Any], tagged: bool) -> List[Dict[str, Any]]:
    """Log lines as a view takes them: escape codes dropped, with their rank where there are several."""
    return [
        {
            "text": (f"[{line.rank}] " if tagged else "") + log_text(line, colour=False),
            "stream": plain(line.stream),
        }
        for line in lines
    ]
