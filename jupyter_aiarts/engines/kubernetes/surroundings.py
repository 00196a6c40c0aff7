"""The environment that a job names, in its pods: used where a mount has it, refused with the reason where none does.

Looks at files and blocks: called in a thread (`code.ship`).
"""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from jupyter_aiarts.engines.surroundings import fault_of, machine_in
from jupyter_aiarts.model.elf import node_machine
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.wording import worded


class Settled(Struct, frozen=True, kw_only=True):
    """Where the environment is in a pod, what to know about that, or why it cannot be."""

    in_pod: str | None = None
    notes: tuple[str, ...] = ()
    problem: str | None = None


def settled(spec: JobSpec, in_pod: Callable[[str], str | None], advice: str) -> Settled:
    """The environment of a job whose mounts have what `in_pod` says; `advice` is what to do where they have it not."""
    path = spec.environment
    if path is None:
        return Settled()
    if not os.path.lexists(path):
        note = f"The environment {path} is not on this server; the job looks for it in its image and mounts."
        return Settled(in_pod=path, notes=(note,))
    fault = fault_of(path, None if _is_the_images(path, in_pod) else spec.script) or _wrong_machine(spec, path)
    if fault is not None:
        return Settled(problem=fault)
    place = in_pod(path)
    if place is None:
        text = "The environment {path} is on this server, and no mount of the job has it. {cure}"
        return Settled(problem=worded(text, path=path, cure=advice))
    return Settled(in_pod=place, notes=tuple(_notes(path, place, in_pod)))


def _is_the_images(path: str, in_pod: Callable[[str], str | None]) -> bool:
    """Whether its Python is a link to one that is neither here nor on a mount, as in a venv that an image made."""
    python = os.path.realpath(f"{path}/bin/python")
    return os.path.islink(f"{path}/bin/python") and not os.path.exists(python) and in_pod(python) is None


def _wrong_machine(spec: JobSpec, path: str) -> str | None:
    made_for, wanted = machine_in(path), node_machine(spec.device)
    if made_for is None or wanted is None or made_for == wanted:
        return None
    text = "The environment {path} is made for {made_for}, and nodes with {device} are {machine}."
    return worded(text, path=path, made_for=made_for, device=spec.device, machine=wanted)


def _notes(path: str, place: str, in_pod: Callable[[str], str | None]) -> list[str]:
    notes = []
    if place != os.path.normpath(path):
        notes.append(
            f"The environment {path} is {place} in the pod: programs that keep the name of their own folder, such as "
            "torchrun and pip, may not start there. Run them with python -m."
        )
    python = os.path.realpath(f"{path}/bin/python")
    if (os.path.exists(python) or _is_the_images(path, in_pod)) and in_pod(python) is None:
        notes.append(
            f"The Python of the environment {path} is {python}, which no mount of the job has: the image must have it."
        )
    return notes
