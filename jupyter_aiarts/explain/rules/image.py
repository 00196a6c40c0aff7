"""Why an image cannot be had, in the runtime's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """A closer cause, or None where nothing more is said."""
    return None
