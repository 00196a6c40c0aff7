"""Writing kernelspecs, and removing them: the only place that does. Whole or not at all, and only what is ours.

A kernelspec is written beside its place under another name and then renamed, so that no Jupyter ever reads half of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from jupyter_aiarts._version import __version__
from jupyter_aiarts.errors import BadRequest, NotAllowed
from jupyter_aiarts.kernelspecs.build import MARK, files, spec_name
from jupyter_aiarts.model.environment import Environment, Registered

USUAL = "/usr/local/share/jupyter/kernels"
HERE = Path(__file__).parent
SAME_FOR_ALL = ("start.sh", "kernel.py")
LARGEST = 1 << 20

Scope = Literal["global", "user"]


class Folders:
    """Where kernelspecs go: the shared folder and the user's own, as this Jupyter reads them."""

    def __init__(self, configured: str = "", shared: Iterable[str] | None = None, user: str | None = None) -> None:
        from jupyter_core import paths

        read = paths.jupyter_path("kernels")
        self.user = user or os.path.join(paths.jupyter_data_dir(), "kernels")
        usual = [USUAL, *(path for path in read if path != self.user)]
        self.shared = tuple(
            dict.fromkeys([configured] if configured else shared or [one for one in usual if one in read])
        )

    def target(self, scope: Scope) -> str:
        """The folder to write to: of the shared ones the first that may be written, else the first of all."""
        if scope == "user":
            return self.user
        return next((path for path in self.shared if _is_writable(path)), self.shared[0] if self.shared else USUAL)

    def scopes(self) -> Iterator[tuple[str, Scope]]:
        yield self.user, "user"
        for path in self.shared:
            yield path, "global"


def registered(folders: Folders) -> tuple[Registered, ...]:
    """Every kernelspec of ours that this Jupyter can see."""
    return tuple(one for folder, scope in folders.scopes() for one in _ours(folder, scope))


def register(environment: Environment, display_name: str, scope: Scope, folders: Folders) -> Registered:
    """Write the kernelspec of an environment; one that is there already is replaced. Raises `NotAllowed`."""
    parent = Path(folders.target(scope))
    name = spec_name(environment)
    place = parent / name
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if place.exists() and _mark(place) is None:
            raise BadRequest(f"{place} is there and is not ours.", "Rename or remove it, then register again.")
        with _drawer(parent) as drawer:
            _fill(drawer, environment, display_name, scope)
            _swap(drawer, place)
    except OSError as error:
        raise _refused(error, environment, scope) from error
    return _read(place, scope) or Registered(
        spec=name, display_name=display_name, folder=str(place), prefix=environment.path, scope=scope
    )


def unregister(one: Registered) -> None:
    """Remove a kernelspec of ours; what is not ours, or not any more, is left alone. Raises `NotAllowed`."""
    place = Path(one.folder)
    if _mark(place) is None:
        raise BadRequest(f"{place} is not ours.", "Only kernels that were registered here are removed here.")
    try:
        with _drawer(place.parent) as drawer:
            os.rename(place, drawer / "old")
    except OSError as error:
        line = shlex.join(["sudo", _program(), "kernels", "unregister", one.spec])
        raise NotAllowed(f"{place} cannot be removed: {error.strerror or error}.", f"An admin can: {line}") from error


def _ours(folder: str, scope: Scope) -> Iterator[Registered]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        found = _read(Path(folder) / name, scope)
        if found is not None:
            yield found


def _read(place: Path, scope: Scope) -> Registered | None:
    mark = _mark(place)
    if mark is None:
        return None
    return Registered(
        spec=place.name,
        display_name=str(mark.get("display_name", place.name)),
        folder=str(place),
        prefix=str(mark.get("prefix", "")),
        scope=scope,
        version=str(mark.get("version", "")),
    )


def _mark(place: Path) -> dict[str, Any] | None:
    """What we wrote about a kernelspec into its metadata; None for one that is not ours."""
    try:
        with open(place / "kernel.json", encoding="utf-8") as file:
            said = json.loads(file.read(LARGEST))
        mark = said["metadata"][MARK]
        return {**mark, "display_name": said.get("display_name")} if "prefix" in mark else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


@contextlib.contextmanager
def _drawer(parent: Path) -> Iterator[Path]:
    """A folder beside the kernelspecs that no Jupyter takes for one; gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix=".aiarts-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _fill(drawer: Path, environment: Environment, display_name: str, scope: Scope) -> None:
    folder = drawer / "new"
    folder.mkdir()
    for name, text in files(environment, display_name, __version__).items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    for name in SAME_FOR_ALL:
        shutil.copyfile(HERE / name, folder / name)
    for logo in ("logo-32x32.png", "logo-64x64.png", "logo-svg.svg"):
        if (HERE / logo).exists():
            shutil.copyfile(HERE / logo, folder / logo)
    _lend(folder / "lib", scope)
    if scope == "global":
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)  # whatever the admin's umask is


def _lend(lib: Path, scope: Scope) -> None:
    """Our own package for the kernel's `%load_ext`: a link where everybody may follow it, else a copy of its part."""
    lib.mkdir()
    package = HERE.parent
    if scope == "user" or all(path.stat().st_mode & stat.S_IXOTH for path in (package, *package.parents)):
        (lib / package.name).symlink_to(package)
        return
    for name in ("__init__.py", "_version.py"):
        (lib / package.name).mkdir(exist_ok=True)
        shutil.copyfile(package / name, lib / package.name / name)
    for room in ("kernel", "launcher"):
        shutil.copytree(package / room, lib / package.name / room, ignore=shutil.ignore_patterns("__pycache__"))


def _swap(drawer: Path, place: Path) -> None:
    """Put the new folder in its place; the old one, if any, goes with the drawer."""
    if place.exists():
        os.rename(place, drawer / "old")
    try:
        os.rename(drawer / "new", place)
    except OSError:
        if (drawer / "old").exists():
            os.rename(drawer / "old", place)
        raise


def _is_writable(path: str) -> bool:
    """Whether it may be written, or made where it is not there yet."""
    folder = Path(path)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)


def _refused(error: OSError, environment: Environment, scope: Scope) -> NotAllowed:
    where = error.filename or ""
    message = f"The kernel cannot be written to {where}: {error.strerror or error}. Nothing was changed."
    line = shlex.join(["sudo", _program(), "kernels", "register", environment.path])
    hint = f"An admin can register it for everybody: {line}" if scope == "global" else "Make that folder writable."
    return NotAllowed(message, hint + (" Or register it for yourself: add --user." if scope == "global" else ""))


def _program() -> str:
    """Our own command, as an admin would have to type it."""
    beside = os.path.join(os.path.dirname(sys.executable), "aiarts")
    return beside if os.path.exists(beside) else "aiarts"
