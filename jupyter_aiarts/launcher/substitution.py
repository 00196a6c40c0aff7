"""The one substitution there is: `${NAME}` in arguments, from the rank's own environment.

Pure. `$${` writes a literal `${`; any other `$` is left alone, so `$HOME` and `$(whoami)` arrive as written.
"""

import re
from typing import Iterable, List, Mapping

_PATTERN = re.compile(r"\$\$\{|\$\{([^}]*)\}")


class UnknownName(ValueError):
    """An argument names a variable that the rank does not have."""

    def __init__(self, name: str, nearest: str) -> None:
        self.name = name
        self.nearest = nearest
        cure = f"; did you mean ${{{nearest}}}?" if nearest else ""
        super().__init__(f"unknown variable ${{{name}}} in the arguments{cure} ($${{ writes a literal ${{)")


def names(text: str) -> List[str]:
    """The names `text` asks for, in order, each once. Used to check a spec before it is submitted."""
    found = (match.group(1) for match in _PATTERN.finditer(text) if match.group(1) is not None)
    return list(dict.fromkeys(found))


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """`text` with every `${NAME}` replaced; values are not looked at again. Raises `UnknownName`."""
    if "${" not in text:
        return text

    def value(match: "re.Match[str]") -> str:
        name = match.group(1)
        if name is None:
            return "${"
        if name not in variables:
            raise UnknownName(name, nearest(name, variables))
        return variables[name]

    return _PATTERN.sub(value, text)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name a person most likely meant, or an empty string."""
    import difflib  # only on the way to an error: it costs more to import than all of this

    by_fold = {candidate.upper(): candidate for candidate in known}
    close = difflib.get_close_matches(name.upper(), by_fold, n=1, cutoff=0.6)
    return by_fold[close[0]] if close else ""
