"""The tree of refusals that is drawn is the tree that there is."""

from __future__ import annotations

import re

from jupyter_aiarts.engines.kubernetes import refusals
from jupyter_aiarts.engines.kubernetes.refusals import Refused
from jupyter_aiarts.errors import AiartsError

_DRAWN = re.compile(r"^    ([├└]── )?(\w+) +\((\w+)\) +(\d{3})  ([a-z-]+)(?:  |$)", re.MULTILINE)


def test_the_drawn_tree_is_the_tree() -> None:
    """The docstring names every class with its base, status and code, those below `Refused` as such, and no others."""
    found = _DRAWN.findall(refusals.__doc__ or "")
    drawn = [(bool(below), name, base, int(status), code) for below, name, base, status, code in found]
    there = [one for one in vars(refusals).values() if isinstance(one, type) and issubclass(one, AiartsError)]
    ours = [one for one in there if one.__module__ == refusals.__name__]
    assert drawn == [
        (Refused in one.__bases__, one.__name__, one.__bases__[0].__name__, one.status, one.code) for one in ours
    ]
