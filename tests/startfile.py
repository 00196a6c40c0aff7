"""Start files of tests, none of which is ever written to again."""

from __future__ import annotations

from itertools import count
from pathlib import Path


def start_file(folder: Path, text: str, name: str = "train.py") -> str:
    """The name of a file with this text; another one where the name is taken by another text.

    A process that runs may not have read its file yet: one that is written anew at that moment is empty, or somebody
    else's, and the job would end at once.
    """
    first = folder / name
    for number in count(1):
        path = first if number == 1 else first.with_name(f"{first.stem}-{number}{first.suffix}")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            if path.read_text(encoding="utf-8") != text:
                continue
        return str(path.relative_to(folder))
    raise AssertionError("counting has no end")
