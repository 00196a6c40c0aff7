"""Job descriptions of other platforms, made into specs: a PAI-DLC params file and an AIArts PostJob body."""

from __future__ import annotations

from jupyter_aiarts.model.dlc import from_dlc
from jupyter_aiarts.model.keys import as_object
from jupyter_aiarts.model.mapped import Mapped
from jupyter_aiarts.model.postjob import MARKS, from_postjob

__all__ = ["Mapped", "from_dlc", "from_postjob", "recognise"]


def recognise(raw: object) -> Mapped:
    """A spec out of what a client posted: text is a DLC params file, a PostJob body is known by its keys, the rest is
    a spec already. Every submission comes through here.
    """
    if isinstance(raw, str):
        return from_dlc(raw)
    given = as_object(raw)
    is_postjob = "jobName" in given or len(MARKS & given.keys()) >= 2
    return from_postjob(given) if is_postjob else Mapped(spec=dict(given))
