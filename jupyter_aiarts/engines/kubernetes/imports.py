"""Which modules beside a start file it imports: found by reading it, never by running it.

What is decided while running (`importlib`, a changed `sys.path`) is not seen. A start file that Python cannot parse
as a whole (Python 2, a notebook's magics) is searched line by line.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

LARGEST_SOURCE = 4 << 20
"""Longer ones are data that ends with `.py`; they are shipped as they are, and not searched."""

_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\(?([\w, \t*]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)


class Named(Struct, frozen=True):
    """A module as an import statement names it: `level` dots, then names."""

    level: int
    parts: tuple[str, ...]


def neighbours(start: Path, root: Path) -> Iterator[Path]:
    """The modules below `root` that `start` imports, and those that they import; each once, packages included.

    Paths are given as they are named; whether a link leads out of `root` is for the caller to say.
    """
    seen: set[Path] = {start}
    waiting: list[tuple[Path, tuple[str, ...]]] = [(start, ())]
    while waiting:
        path, package = waiting.pop()
        for named in imported(path):
            for found, inside in _files(root, _absolute(named, package)):
                if found not in seen:
                    seen.add(found)
                    waiting.append((found, inside))
                    yield found


def imported(path: Path) -> list[Named]:
    """Every module that a file names in an import statement; `from a import b` names both `a` and `a.b`."""
    if path.suffix.lower() not in (".py", ".ipynb"):
        return []
    with open(path, "rb") as file:
        content = file.read(LARGEST_SOURCE + 1)
    if len(content) > LARGEST_SOURCE:
        return []
    text = content.decode("utf-8", "replace")
    pieces = _cells(text) if path.suffix.lower() == ".ipynb" else [text]
    return [named for piece in pieces for named in _named(piece)]


def _cells(text: str) -> list[str]:
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [text]


def _named(source: str) -> list[Named]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # somebody's `"\d"` is not ours to tell
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _named_in_lines(source)
    found: list[Named] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [Named(0, tuple(alias.name.split("."))) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += _from(node.level, node.module or "", [alias.name for alias in node.names])
    return found


def _named_in_lines(source: str) -> list[Named]:
    found: list[Named] = []
    for match in _FROM.finditer(source):
        found += _from(len(match[1]), match[2], [word.split()[0] for word in match[3].split(",") if word.split()])
    for match in _IMPORT.finditer(source):
        found += [Named(0, tuple(word.split()[0].split("."))) for word in match[1].split(",") if word.split()]
    return found


def _from(level: int, module: str, names: list[str]) -> list[Named]:
    base = tuple(part for part in module.split(".") if part)
    return [Named(level, base), *(Named(level, (*base, name)) for name in names if name != "*")]


def _absolute(named: Named, package: tuple[str, ...]) -> tuple[str, ...]:
    """The module's name from the root; nothing for one that lies above it, where Python finds none either."""
    if not named.level:
        return named.parts
    if named.level - 1 >= len(package):
        return ()
    return (*package[: len(package) - (named.level - 1)], *named.parts)


def _files(root: Path, parts: tuple[str, ...]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The files that importing this module runs, each with its package; folders without `__init__.py` are packages."""
    if not all(part.isidentifier() for part in parts):
        return
    folder = root
    for depth, part in enumerate(parts, 1):
        package = folder / part
        if (package / "__init__.py").is_file():
            yield package / "__init__.py", parts[:depth]
        elif (folder / f"{part}.py").is_file():
            yield folder / f"{part}.py", parts[: depth - 1]
            return
        elif not package.is_dir():
            return
        folder = package
