"""What the guides' code blocks mean: files to write, commands with what they print, cells of a notebook.

- a second word after the language names a file: the block is written there;
- `console`: lines after `$ ` are commands, the others what they print, where `…` stands for anything (alone on a
  line: any lines), `<id>` for a job's id, and `[exit N]` for an exit code other than 0;
- `python` without a file name: a cell of the page's notebook;
- `bash`: commands that are not run here, each excused by name in `test_docs.py`;
- `text`: nothing to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## (.+?)\s*$", re.MULTILINE)
LANGUAGES = {"console", "python", "bash", "text", "yaml", "json", "ini"}


class Block(NamedTuple):
    """One fenced block; `line` is where its text begins in its page, `section` the `##` heading above it."""

    language: str
    file: str
    text: str
    line: int
    section: str = ""


class Command(NamedTuple):
    """One command of a console block, the output it is said to have, and the exit code."""

    line: str
    expected: list[str]
    status: int


def blocks(page: Path) -> Iterator[Block]:
    """The page's blocks, in order."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        language, _, file = match[1].strip().partition(" ")
        headings = SECTION.findall(FENCE.sub("", text[: match.start()]))
        yield Block(language, file, match[2], text.count("\n", 0, match.start(2)) + 1, headings[-1] if headings else "")


def commands(text: str) -> Iterator[Command]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, *expected = part.rstrip("\n").split("\n")
        code = re.fullmatch(r"\[exit (\d+)\]", expected[-1]) if expected else None
        yield Command(line, expected[:-1] if code else expected, int(code[1]) if code else 0)


def pattern(expected: list[str]) -> re.Pattern[str]:
    """What the output must match as a whole; columns may be wider or narrower than in the guide."""
    return re.compile("".join(_line(line) for line in expected))


def squeezed(text: str) -> str:
    """Output with every run of blanks as one, and none at the ends of lines."""
    return re.sub(r" +(?=\n|$)", "", re.sub(r"[ \t]+", " ", text))


def _line(line: str) -> str:
    if line.strip() == "…":
        return r"(?:[^\n]*\n)*?"
    pieces = [re.escape(piece) for piece in squeezed(line).split("…")]
    return r"[^\n]*".join(pieces).replace("<id>", "[a-z][a-z0-9]{9}") + r"\n"
