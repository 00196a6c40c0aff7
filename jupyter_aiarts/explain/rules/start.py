"""Which path a start file was looked for at: for the action that asks the path map about it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from msgspec import structs

from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """The same cause with the path that the job named; None where it named none."""
    if spec is None or not isinstance(spec.script, str) or "path" in cause.values:
        return None
    folder = spec.workdir if isinstance(spec.workdir, str) else ""
    path = spec.script if spec.script.startswith("~") else posixpath.join(folder, spec.script)
    return structs.replace(cause, values={**cause.values, "path": path})
