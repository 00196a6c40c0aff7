"""A rank's variables in this very process, to look at its failure here: what is set, what is not, and the way back.

`%aiarts env JOB --rank N --apply` and `with job.env(rank=N).apply():` both come here.
"""

from __future__ import annotations

import os
from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional

from jupyter_aiarts.kernel.shown import Shown
from jupyter_aiarts.kernel.terminal import Style, plain
from jupyter_aiarts.kernel.words import default_lang, say

KERNELS_OWN = frozenset(
    {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "HOME", "USER", "SHELL", "TMPDIR", "VIRTUAL_ENV", "IPYTHONDIR"}
)
"""What this process and everything it starts is found by; another machine's values break it."""
KERNELS_PREFIXES = ("PYTHON", "CONDA_", "JUPYTER", "JPY_")
RUNS_PREFIX = "AIARTS_"
"""Names that tie a process to its run: a launcher ends whatever carries them, and the client reads them."""
PLACES = ("_PATH", "_FILE", "_DIR")
"""How names of variables end that hold one path."""


class Sorted(NamedTuple):
    """A rank's variables: those to set, and for each other one the word of `TEXTS` that says why not."""

    wanted: Dict[str, str]
    left_out: Dict[str, str]


def sort_out(variables: Mapping[str, Optional[str]], is_there: Callable[[str], bool] = os.path.exists) -> Sorted:
    """What of a rank's variables another process may have."""
    reasons = {name: _objection(name, value, is_there) for name, value in sorted(variables.items())}
    wanted = {name: variables[name] or "" for name, reason in reasons.items() if reason is None}
    return Sorted(wanted, {name: reason for name, reason in reasons.items() if reason is not None})


def _objection(name: str, value: Optional[str], is_there: Callable[[str], bool]) -> Optional[str]:
    if value is None:
        return "why-secret"
    if name.startswith(RUNS_PREFIX):
        return "why-runs"
    if name in KERNELS_OWN or name.startswith(KERNELS_PREFIXES):
        return "why-kernels"
    if not _can_be_set(name, value):
        return "why-not-settable"
    if name.endswith(PLACES) and value.startswith("/") and not is_there(value):
        return "why-not-here"
    return None


def _can_be_set(name: str, value: str) -> bool:
    """Whether the system takes it at all; whoever answered may have sent anything."""
    try:
        octets = os.fsencode(name + value)
    except UnicodeEncodeError:
        return False
    return bool(name) and "=" not in name and b"\0" not in octets


class Applied(Shown):
    """Variables that were set in this process: `set`, `left_out`, and `restore`, which the end of a `with` calls."""

    def __init__(self, variables: Mapping[str, Optional[str]], lang: Optional[str] = None) -> None:
        self._lang = lang
        self._values = dict(variables)
        self.set, self._reasons = sort_out(variables)
        self._before: Dict[str, Optional[str]] = {name: os.environ.get(name) for name in self.set}
        os.environ.update(self.set)
        _in_force.append(self)

    @property
    def left_out(self) -> Dict[str, str]:
        """What was not set, each with why."""
        return {name: say(self._lang or default_lang(), reason) for name, reason in self._reasons.items()}

    def restore(self) -> List[str]:
        """Put everything back as it was; the names. Once is enough."""
        before, self._before = self._before, {}
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if self in _in_force:
            _in_force.remove(self)
        return list(before)

    def __enter__(self) -> Applied:
        return self

    def __exit__(self, *error: object) -> None:
        self.restore()

    def text(self, style: Style) -> str:
        """What was set by name, what was not and why, and how to undo it."""
        lines = [say(style.lang, "applied", count=len(self.set)) + " " + _names(self.set)]
        for reason in dict.fromkeys(self._reasons.values()):
            names = [name for name, one in self._reasons.items() if one == reason]
            shown = [f"{name} ({self._values[name]})" for name in names] if reason == "why-not-here" else names
            lines.append(say(style.lang, "left-out", why=say(style.lang, reason)) + " " + _names(shown))
        return "\n".join([*lines, say(style.lang, "undo-applied")])


_in_force: List[Applied] = []


def restore_all() -> List[str]:
    """Undo everything that was applied in this process, the last first; the names that changed."""
    names: Dict[str, None] = {}
    while _in_force:
        names.update(dict.fromkeys(_in_force[-1].restore()))
    return sorted(names)


def _names(names: Iterable[str]) -> str:
    return plain(", ".join(names)) or "–"
