"""The launcher as one zip, for images without this package: `python3 -I -S launcher.zip prepare`, then `… pod`.

Its sources are the same line by line, so that a traceback in a pod points at the right ones here; comments and
docstrings, a third of them, stay at home.
"""

import io
import os
import re
import zipfile
from typing import List, Match

_EPOCH = (1980, 1, 1, 0, 0, 0)
_AT_HOME = ("archive.py", "watched.py")
"""What only a server or a notebook runs."""
# Strings are here to be passed over: a # in one is no comment.
_TEXTS = (
    r'r?"""(?:[^"\\]|\\.|"(?!""))*"""',
    r"'''(?:[^'\\]|\\.|'(?!''))*'''",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'(?:[^'\\\n]|\\.)*'",
)
_WORDS = re.compile("|".join([*_TEXTS, r"[ \t]*#[^\n]*"]), re.DOTALL)
_NEXT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)")


def pack() -> bytes:
    """The zip's bytes; the same sources give the same bytes, so a hash of them names a version."""
    home = os.path.dirname(os.path.abspath(__file__))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _sources(home):
            with open(os.path.join(home, *name.split("/")), encoding="utf-8") as file:
                _add(archive, name, bare(file.read()))
    return content.getvalue()


def bare(source: str) -> str:
    """The same program, line by line, without what only its readers need. For sources of this package's form: no
    string that is part of an expression begins a line with three quotes."""
    return _WORDS.sub(_kept, source)


def _kept(match: Match[str]) -> str:
    word, source = match.group(), match.string
    if word.lstrip().startswith("#"):
        return ""
    margin = source[source.rfind("\n", 0, match.start()) + 1 : match.start()]
    if not word.endswith('"""') or margin.strip():
        return word
    following = _NEXT.match(source, match.end())
    # A block has to hold something.
    ends = following is not None and len(following.group(1)) < len(margin)
    return ("pass" if ends else "") + "\n" * word.count("\n")


def _sources(home: str) -> List[str]:
    """The Python files of this folder and of the packages in it, as the zip names them."""
    own = [name for name in os.listdir(home) if name.endswith(".py") and name not in _AT_HOME]
    packages = [name for name in os.listdir(home) if os.path.exists(os.path.join(home, name, "__init__.py"))]
    below = [f"{folder}/{name}" for folder in packages for name in os.listdir(os.path.join(home, folder))]
    return sorted(own + [name for name in below if name.endswith(".py")])


def _add(archive: zipfile.ZipFile, name: str, source: str) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, source.encode("utf-8"))
