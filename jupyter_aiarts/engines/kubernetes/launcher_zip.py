"""The launcher as one zip, for images without this package: `python3 -I -S launcher.zip prepare`, then `… pod`.

Its sources are the same line by line, so that a traceback in a pod points at the right ones here; comments, docstrings,
the types of functions and of what they assign, and blanks that only readers need, half of it all, stay at home.
"""

from __future__ import annotations

import ast
import io
import re
import zipfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from re import Match

from jupyter_aiarts import launcher

_EPOCH = (1980, 1, 1, 0, 0, 0)
_AT_HOME = ("freeports.py", "watched.py")  # of jobs on this machine, and of what a notebook runs
# Strings are here to be passed over: a # in one is no comment.
_TEXTS = (
    r'r?"""(?:[^"\\]|\\.|"(?!""))*"""',
    r"'''(?:[^'\\]|\\.|'(?!''))*'''",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'(?:[^'\\\n]|\\.)*'",
)
_WORDS = re.compile("|".join([*_TEXTS, r"[ \t]*#[^\n]*", r"[(\[{]", r"[)\]}]", r"\n[ \t]*", r"[ \t]+"]), re.DOTALL)
_MARGINS = re.compile(r"[ \t]+(?=\n)")
_NEXT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)")
_TYPING = re.compile(r"^from typing import ([\w,]+)$", re.MULTILINE)
_APART = re.compile(r"\w[ \t]+\w")  # blanks without which two words would be one


def pack() -> bytes:
    """The zip's bytes; the same sources give the same bytes, so a hash of them names a version."""
    home = Path(launcher.__file__).parent
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(home.rglob("*.py")):
            name = path.relative_to(home).as_posix()
            if name not in _AT_HOME:
                _add(archive, name, bare(path.read_text("utf-8")))
    return content.getvalue()


def bare(source: str) -> str:
    """The same program, line by line, without what only its readers need. For sources of this package's form: no
    string that is part of an expression begins a line with three quotes, and no function has a class in it."""
    depth = 0

    def kept(match: Match[str]) -> str:
        nonlocal depth
        word = match.group()
        if word in "([{":
            depth += 1
        elif word in ")]}":
            depth -= 1
        elif word[0] == "\n":
            return "\n" if depth else word
        elif not word.strip():
            return " " if _APART.match(source, match.start() - 1) else ""
        elif word.lstrip()[0] == "#":
            return ""
        elif word.endswith('"""'):
            return _text(match)
        return word

    source = _untyped(source)
    return _needed(_MARGINS.sub("", _WORDS.sub(kept, source)))


def _needed(source: str) -> str:
    """Without the names of types that nothing has any more."""
    imported = _TYPING.search(source)
    if imported is None:
        return source
    before, after = source[: imported.start()], source[imported.end() :]
    left = [name for name in imported.group(1).split(",") if re.search(rf"\b{name}\b", after)]
    return f"{before}from typing import {','.join(left)}{after}" if left else before + after


def _text(match: Match[str]) -> str:
    """A long string; a docstring only where a block has to hold something."""
    word, source = match.group(), match.string
    margin = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    if margin.strip():
        return word
    following = _NEXT.match(source, match.end())
    ends = following is not None and len(following.group(1)) < len(margin)
    return ("pass" if ends else "") + "\n" * word.count("\n")


def _untyped(source: str) -> str:
    """Functions without the types of what they take, give and assign: only checkers read them."""
    content = source.encode("utf-8")
    starts = [0, *accumulate(len(line) for line in content.splitlines(keepends=True))]
    pieces, done = [], 0
    for begin, end in sorted(set(_types(ast.parse(source), content, starts))):
        pieces += [content[done:begin], b"\n" * content.count(b"\n", begin, end)]
        done = end
    return b"".join([*pieces, content[done:]]).decode("utf-8")


def _types(tree: ast.AST, content: bytes, starts: list[int]) -> Iterator[tuple[int, int]]:
    """Where they stand."""

    def end(node: ast.expr) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return starts[node.end_lineno - 1] + node.end_col_offset

    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield starts[node.lineno - 1] + node.col_offset + len(node.arg.encode("utf-8")), end(node.annotation)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            begin = starts[node.returns.lineno - 1] + node.returns.col_offset
            yield content.rindex(b"->", 0, begin), end(node.returns)
        if isinstance(node, ast.FunctionDef):
            for one in ast.walk(node):
                # No bracket holds its lines together, so one of several lines has to stay.
                if isinstance(one, ast.AnnAssign) and one.value and one.annotation.end_lineno == one.lineno:
                    yield end(one.target), end(one.annotation)


def _add(archive: zipfile.ZipFile, name: str, source: str) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, source.encode("utf-8"))
