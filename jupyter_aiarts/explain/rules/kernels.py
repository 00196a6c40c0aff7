"""A library that a kernel's doctor missed: who has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from jupyter_aiarts.explain.rules.modules import APT, library_form
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """With the package that brings it, where that is known."""
    if cause.form != "kernel-library-missing":
        return None
    library = str(cause.values.get("library"))
    if library_form(library) == "libgl-missing" and cause.values.get("module") == "cv2":
        return replace(cause, form="kernel-libgl-missing")
    if library in APT:
        return replace(cause, form="kernel-library-package", values={**cause.values, "package": APT[library]})
    return None
