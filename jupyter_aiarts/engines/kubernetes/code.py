"""How code reaches a pod: in place, where the pod has a mount that this server sees too, else shipped with the job.

Looks at files and blocks: called in a thread (`checks.prepare`). What counts as the same files here and there: a mount
whose `path` the admin named; a path of the host that exists here; an NFS export that this server has mounted too; a
target that exists here on a file system of its own (`places.seen_here`). Anything less sure is shipped.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes.imports import neighbours
from jupyter_aiarts.engines.kubernetes.mounts import PodMount
from jupyter_aiarts.engines.kubernetes.names import CODE_FOLDER
from jupyter_aiarts.engines.kubernetes.places import mount_table, seen_here
from jupyter_aiarts.engines.kubernetes.surroundings import settled
from jupyter_aiarts.engines.lookup import look, names
from jupyter_aiarts.model.mounttable import Mounted
from jupyter_aiarts.model.places import below, joined
from jupyter_aiarts.model.quantity import human_size
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.whereabouts import Question, judge
from jupyter_aiarts.model.wording import worded

LARGEST_ZIP = 700 * 1024
LARGEST_UNPACKED = 50 << 20
MOST_FILES = 5_000

#: Where `%%aiarts submit` puts a cell, below the notebook's folder: the modules of a cell lie beside the notebook.
CELLS = (".aiarts", "cells")
ANYWHERE = ("/", "/tmp")
"""Folders that every container has."""

IMAGE_FOLDER = "."
"""The folder that the image itself starts in."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


class Shipment(Struct, frozen=True, kw_only=True):
    """What of a job's code goes where. `kind` is `none` for a command, or a file that only the pod can have."""

    kind: Literal["mounted", "shipped", "none"] = "none"
    script_in_pod: str | None = None
    workdir_in_pod: str = IMAGE_FOLDER
    python_path: tuple[str, str] | None = None  # as it was given, and as it is true in the pod; empty: leave it out
    files: tuple[str, ...] = ()
    zip: bytes | None = None
    environment: str | None = None  # the folder in the pod of the environment that the job names
    notes: tuple[str, ...] = ()
    problems: tuple[dict[str, str], ...] = ()


class Places:
    """Where folders of this server are in a pod."""

    def __init__(self, mounts: Sequence[PodMount], table: Sequence[Mounted] = ()) -> None:
        seen = [(seen_here(mount, table), mount.target) for mount in mounts]
        found = [(os.path.realpath(one[0]), joined(target, one[1])) for one, target in seen if one is not None]
        self._known = sorted(found, key=lambda pair: len(pair[0]), reverse=True)

    def in_pod(self, path: str) -> str | None:
        """The path of the same file or folder in the pod, links followed; None when the pod does not have it."""
        real = os.path.realpath(path)
        for here, target in self._known:
            rest = below(real, here)
            if rest is not None:
                return os.path.join(target, rest) if rest else target
        return None

    def words(self) -> str:
        """What a person can do who has too much to ship."""
        if self._known:
            folders = ", ".join(here for here, _ in self._known)
            return worded("Put it below {folders}, which the job mounts.", folders=folders)
        return worded(
            "Put it on storage that both this server and the job have: name it in mounts, "
            "or ask the admin for one in default_mounts."
        )


def ship(spec: JobSpec, mounts: Sequence[PodMount]) -> Shipment:
    """How this job's code gets to its pods, and where its environment is; `workdir` has been filled in. Problems are
    in the answer."""
    places = Places(mounts, mount_table())
    shipment = _sent(spec, places)
    if spec.environment is None:
        return shipment
    around = settled(spec, places.in_pod, places.words())
    wrong = ({"key": "environment", "message": around.problem},) if around.problem is not None else ()
    return structs.replace(
        shipment,
        environment=around.in_pod,
        notes=(*shipment.notes, *around.notes),
        problems=(*shipment.problems, *wrong),
    )


def _sent(spec: JobSpec, places: Places) -> Shipment:
    if spec.script is None:
        workdir, notes = _workdir(spec, places, IMAGE_FOLDER)
        kind: Literal["mounted", "none"] = "none" if workdir == IMAGE_FOLDER else "mounted"
        return Shipment(kind=kind, workdir_in_pod=workdir, python_path=_python_path(spec, places), notes=notes)
    path = os.path.join(spec.workdir or "/", os.path.expanduser(spec.script))
    if not os.path.lexists(path):
        return _absent(spec, path, places)
    mounted = places.in_pod(path)
    if mounted is not None and os.path.isfile(path):
        workdir, notes = _workdir(spec, places, os.path.dirname(mounted))
        moved = _python_path(spec, places)
        return Shipment(kind="mounted", script_in_pod=mounted, workdir_in_pod=workdir, python_path=moved, notes=notes)
    return _shipped(spec, path, places)


def reuse(asked: JobSpec, plan: Mapping[str, Any], content: bytes | None) -> Shipment:
    """The same code once more, from an earlier run's spec, plan.json and code.zip."""
    before, then = asked.env.get("PYTHONPATH"), plan["env"].get("PYTHONPATH", "")
    return Shipment(
        kind="shipped" if content else "mounted" if plan["start"]["path"] else "none",
        script_in_pod=plan["start"]["path"],
        workdir_in_pod=plan["workdir"],
        python_path=None if before is None or before == then else (before, then),
        files=tuple(zipfile.ZipFile(io.BytesIO(content)).namelist()) if content else (),
        zip=content,
        environment=plan.get("environment"),
    )


def variables(spec: JobSpec, shipment: Shipment) -> dict[str, str]:
    """The user's variables as the ranks in a pod get them."""
    env = dict(spec.env)
    if shipment.python_path is not None and env.get("PYTHONPATH") == shipment.python_path[0]:
        env["PYTHONPATH"] = shipment.python_path[1]
        if not env["PYTHONPATH"]:
            del env["PYTHONPATH"]
    return env


def _absent(spec: JobSpec, path: str, places: Places) -> Shipment:
    """A start file that is not here: a fault, unless it can only be meant to be in the pod."""
    if not os.path.isabs(os.path.expanduser(spec.script or "")) and os.path.isdir(spec.workdir or "/"):
        twin = judge(Question(text=path), (), look, names).write  # a name that only looks the same
        return _refused(f"The start file {path} is not there." + (f" Did you mean {twin}?" if twin else ""))
    workdir, notes = _workdir(spec, places, os.path.dirname(path))
    note = f"The start file {path} is not on this server; the job looks for it in its image and mounts."
    moved = _python_path(spec, places)
    return Shipment(kind="none", script_in_pod=path, workdir_in_pod=workdir, python_path=moved, notes=(note, *notes))


def _workdir(spec: JobSpec, places: Places, otherwise: str) -> tuple[str, tuple[str, ...]]:
    """The folder that ranks start in, and a note when it cannot be the one that was asked for."""
    asked = spec.workdir
    if asked is None:
        return otherwise, ()
    in_pod = places.in_pod(asked)
    if in_pod is not None:
        return in_pod, ()
    if asked in ANYWHERE or not os.path.isdir(asked):
        return asked, ()  # a folder of the image's
    name = "the image's own working folder" if otherwise == IMAGE_FOLDER else otherwise
    return otherwise, (f"The folder {asked} is not on a mount of the job, which starts in {name}.",)


def _python_path(spec: JobSpec, places: Places, shipped: str | None = None) -> tuple[str, str] | None:
    """PYTHONPATH before and after: its folders named as the pod knows them.

    A folder that was shipped needs no entry: the start file lies in it. Where no entry is left, the variable goes,
    so that it does not hide the image's own.
    """
    given = spec.env.get("PYTHONPATH", "")
    entries = [one for one in given.split(":") if not os.path.isabs(one) or os.path.realpath(one) != shipped]
    named = ":".join((places.in_pod(one) or one) if os.path.isabs(one) else one for one in entries)
    return None if named == given else (given, named)


# -- shipping ------------------------------------------------------------------------------------------------------


def _shipped(spec: JobSpec, path: str, places: Places) -> Shipment:
    start = Path(os.path.realpath(path))
    root = start.parents[2] if start.parts[-3:-1] == CELLS else start.parent
    name = os.path.basename(path)
    try:
        _check_start(path, start)
        found = _collect(start, name, root, places)
        content = _pack(found)
    except OSError as error:
        return _refused(f"{error.filename or path} cannot be read: {os.strerror(error.errno or 0)}.")
    except ValueError as error:
        return _refused(str(error))
    if len(content) > LARGEST_ZIP:
        size = f"{human_size(len(content))} when compressed, and at most {human_size(LARGEST_ZIP)} are shipped"
        what = f"{name} and the {len(found) - 1} modules it imports are" if len(found) > 1 else f"{name} is"
        return _refused(f"{what} {size}. {places.words()}")
    beside = os.path.realpath(spec.workdir or root) == str(root)
    workdir, notes = (CODE_FOLDER, ()) if beside else _workdir(spec, places, CODE_FOLDER)
    return Shipment(
        kind="shipped",
        script_in_pod=f"{CODE_FOLDER}/{name}",
        workdir_in_pod=workdir,
        python_path=_python_path(spec, places, str(root)),
        files=tuple(sorted(found)),
        zip=content,
        notes=(*notes, *_alone(name)),
    )


def _alone(name: str) -> tuple[str, ...]:
    """What people expect of a script that calls others."""
    if os.path.splitext(name)[1].lower() in (".py", ".ipynb"):
        return ()
    return (f"{name} is shipped alone: the files it calls must be in the image or on a mount.",)


def _refused(message: str) -> Shipment:
    return Shipment(problems=({"key": "script", "message": message},))


def _check_start(path: str, start: Path) -> None:
    if os.path.islink(path) and not start.exists():
        raise ValueError(f"The start file {path} is a link to something that is not there: {start}.")
    if start.is_dir():
        raise ValueError(f"The start file {path} is a folder. Name the file in it that is to run.")
    if os.path.basename(path).startswith("."):
        raise ValueError(f"The start file {path} begins with a dot, and such files are not shipped. Rename it.")
    if start.suffix.lower() not in (".py", ".sh", ".ipynb") and not os.access(start, os.X_OK):
        raise ValueError(f"The start file {path} is not executable: chmod +x {path}")


def _collect(start: Path, name: str, root: Path, places: Places) -> dict[str, tuple[bytes, int]]:
    """Content and mode of every file to ship, by its name in the zip. Raises ValueError with a sentence."""
    found = {name: _read(start)}
    total = len(found[name][0])
    for path in neighbours(start, root):
        entry = path.relative_to(root).as_posix()
        real = below(os.path.realpath(path), str(root))
        if real is None or any(part.startswith(".") for part in real.split("/")):
            raise ValueError(
                f"The start file imports {path}, a link to {os.path.realpath(path)}, which is not shipped: only what "
                f"lies in {root} is, and no dot-files. Copy it there. {places.words()}"
            )
        if entry == name:
            raise ValueError(f"{name} is both a link to {start} and a module that is imported. Name the file itself.")
        found[entry] = _read(path)
        total += len(found[entry][0])
        if total > LARGEST_UNPACKED or len(found) > MOST_FILES:
            raise ValueError(f"{name} and the modules it imports are too many or too large to ship. {places.words()}")
    return found


def _read(path: Path) -> tuple[bytes, int]:
    """A file's content and whether it may be executed. A pipe or a device would never end."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError(f"{path} is not a plain file.")
        content = file.read(LARGEST_UNPACKED + 1)
    if len(content) > LARGEST_UNPACKED:
        raise ValueError(f"{path} is larger than {human_size(LARGEST_UNPACKED)}, and such files are not shipped.")
    return content, 0o755 if mode & 0o100 else 0o644


def _pack(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """The zip's bytes; the same files give the same bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            source, mode = files[name]
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, source)
    return content.getvalue()
