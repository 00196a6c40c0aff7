"""pod.env: `export NAME=VALUE` lines that bash and dash source unharmed, whatever the value.

Pure. Values stand between single quotes, where no shell looks at anything but the closing quote;
`$'…'` would keep newlines on one line but dash does not know it, so a value with newlines spans lines.
"""

import re
from typing import Dict, Mapping

from .octets import to_bytes, to_text

_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = b"0123456789"
_PLAIN = _LETTERS + _DIGITS + b"./:,@%+=-"
_LINE = rb"export ([A-Za-z_][A-Za-z0-9_]*)=((?:'[^']*'|\\'|[A-Za-z0-9_./:,@%+=-])*)\n"
_PIECE = rb"'([^']*)'|\\(')|([^'\\]+)"


def render(variables: Mapping[str, str]) -> bytes:
    """The file's content, in the order given.

    Names that are no shell identifiers are left out, since a shell cannot hold them.
    """
    lines = (
        b"export " + to_bytes(name) + b"=" + quote(to_bytes(value)) + b"\n"
        for name, value in variables.items()
        if is_identifier(to_bytes(name))
    )
    return b"".join(lines)


def is_identifier(name: bytes) -> bool:
    """Whether a shell variable can have this name."""
    return bool(name) and name[:1] not in _DIGITS and not name.translate(None, _LETTERS + _DIGITS)


def quote(value: bytes) -> bytes:
    """`value` as one shell word."""
    if not value.translate(None, _PLAIN):
        return value
    return b"'" + value.replace(b"'", b"'\\''") + b"'"


def parse(content: bytes) -> Dict[str, str]:
    """What `render` was given; raises `ValueError` naming the line that `render` cannot have written."""
    variables: Dict[str, str] = {}
    pattern = re.compile(_LINE)
    position = 0
    while position < len(content):
        line = pattern.match(content, position)
        if line is None:
            number = content.count(b"\n", 0, position) + 1
            raise ValueError(f"line {number} is not `export NAME=VALUE` with plain or single-quoted text")
        variables[to_text(line.group(1))] = to_text(_unquote(line.group(2)))
        position = line.end()
    return variables


def _unquote(word: bytes) -> bytes:
    return b"".join(match.group(match.lastindex or 0) for match in re.finditer(_PIECE, word))
