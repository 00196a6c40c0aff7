"""Text for a terminal: widths as they are seen, colours where they are wanted, nothing that takes the
terminal over."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence

COLOURS = {
    "queued": "33",
    "starting": "36",
    "running": "32",
    "paused": "35",
    "succeeded": "32",
    "failed": "31",
    "lost": "31",
    "stopped": "90",
    "dim": "2",
    "bold": "1",
    "error": "31",
}
_COLOUR_CODE = re.compile(r"\x1b\[[0-9;:]*m")
_ESCAPE = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links, clipboard
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # device control strings and their kin
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # cursor moves and colours
    r"|\x1b[ -/]*[0-~]?"
)
NARROWEST = 12  # columns; with fewer the terminal's own wrapping reads better
# A word with the spaces after it, or one character of a script without spaces with the marks that close it.
_PIECE = re.compile(
    "[\u2e80-\uffef][\uff0c\u3002\uff1b\uff1a\uff01\uff1f\u3001\uff09\u201d]* *|[^\\s\u2e80-\uffef]+ *|\\s+"
)
# Controls, and the marks that reorder text so that a name reads as another.
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Style(NamedTuple):
    """How to write for one reader: language, whether colours are welcome, and how wide a line may be (0: any)."""

    lang: str = "en"
    colour: bool = False
    columns: int = 0

    def paint(self, text: str, colour: str) -> str:
        """`text` in one of `COLOURS`, or as it is."""
        code = COLOURS.get(colour)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text


def wants_colour(stream: Any, environ: Optional[Mapping[str, str]] = None) -> bool:
    """Colours only for a terminal that can show them, and never against NO_COLOR (no-color.org)."""
    env = os.environ if environ is None else environ
    return bool(stream.isatty()) and not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def width(text: str) -> int:
    """Columns a terminal needs: two for a wide character, none for a combining one."""
    if text.isascii():  # nearly every cell of a table of thousands
        return len(text)
    columns = 0
    for char in text:
        if not unicodedata.combining(char) and unicodedata.category(char) not in ("Mn", "Me", "Cf"):
            columns += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return columns


def pad(text: str, columns: int) -> str:
    """`text` filled with spaces to this many columns."""
    return text + " " * max(0, columns - width(text))


def wrapped(text: str, style: Style, lead: str = "") -> str:
    """`text` after `lead`, in lines that fit; those below the first stand where it began. Words stay whole, so that a
    path or a command can be copied."""
    room = style.columns - width(lead)
    if style.columns <= 0 or room < NARROWEST:
        return lead + text
    lines = [""]
    for piece in _PIECE.findall(text):
        if lines[-1] and width(lines[-1] + piece.rstrip()) > room:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return lead + ("\n" + " " * width(lead)).join(line.rstrip() for line in lines)


def plain(text: Any) -> str:
    """Somebody else's text on one line, with nothing in it that a terminal obeys."""
    return _CONTROL.sub("\ufffd", str(text))


def log_text(text: str, colour: bool) -> str:
    """A log line for a terminal: its colours stay if wanted, every other escape code goes; of a progress bar
    that was redrawn with `\\r`, what stood there last."""
    parts = [part for part in text.split("\r") if part]
    kept: List[str] = []
    position = 0
    last = parts[-1] if parts else ""
    for match in _ESCAPE.finditer(last):
        kept.append(plain(last[position : match.start()]))
        if colour and _COLOUR_CODE.fullmatch(match.group()):
            kept.append(match.group())
        position = match.end()
    kept.append(plain(last[position:]))
    line = "".join(kept)
    return line + "\x1b[0m" if "\x1b" in line else line


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], style: Style, phase_column: Optional[int] = None) -> str:
    """Aligned columns; the last one is not padded. `phase_column` is coloured by the phase each row carries
    last."""
    shown = [[plain(cell) for cell in row[: len(heads)]] for row in rows]
    columns = [max([width(heads[i]), *(width(row[i]) for row in shown)]) for i in range(len(heads))]
    lines = [style.paint(_row(heads, columns), "dim")]
    for row, source in zip(shown, rows):
        cells = [pad(cell, size) for cell, size in zip(row, columns)]
        if phase_column is not None:
            cells[phase_column] = style.paint(cells[phase_column], source[-1])
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _row(cells: Sequence[str], columns: Sequence[int]) -> str:
    return "  ".join(pad(cell, size) for cell, size in zip(cells, columns)).rstrip()
