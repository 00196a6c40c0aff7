"""Writing kernelspecs, and removing them: the only place that does. Whole or not at all, and only what is ours.

A kernelspec is written beside its place under another name and then renamed, so that no Jupyter ever reads half of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shlex
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from jupyter_aiarts._version import __version__
from jupyter_aiarts.errors import BadRequest, NotAllowed
from jupyter_aiarts.kernelspecs.build import MARK, files, is_name_for, plain_text, spec_name
from jupyter_aiarts.kernelspecs.marks import Mark, is_settled, mark_of
from jupyter_aiarts.kernelspecs.places import is_path, text_of
from jupyter_aiarts.model.environment import Environment, OwnKernel, Registered

USUAL = "/usr/local/share/jupyter/kernels"
HERE = Path(__file__).parent
SAME_FOR_ALL = ("start.sh", "kernel.py", "logo-svg.svg")
DIRECTORY = "AIARTS_KERNELS_DIRECTORY"
"""The variable by which a command outside Jupyter is told of the admin's `Kernels.directory`."""
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_TRIES, _LOOKS = 100, 5
DRAWER = ".aiarts-"
ABANDONED = 3600.0  # seconds after which nobody is writing into a drawer any more
SECONDS = 2.0  # between looks at kernelspecs that somebody may have changed in their place

Scope = Literal["global", "user"]


class Folders:
    """Where kernelspecs go: the shared folder and the user's own, as this Jupyter reads them. What is below one's own
    home is not shared, though a Jupyter that is installed there reads it."""

    def __init__(self, configured: str = "", shared: Iterable[str] | None = None, user: str | None = None) -> None:
        from jupyter_core import paths

        read = paths.jupyter_path("kernels")
        self.user = user or os.path.join(paths.jupyter_data_dir(), "kernels")
        home = os.path.expanduser("~").rstrip("/")
        own = [path for path in read if home and path.startswith(f"{home}/")]
        usual = [path for path in (USUAL, *read) if path in read and path not in (self.user, *own)]
        self.own = tuple(dict.fromkeys([self.user, *own]))
        self.shared = tuple(dict.fromkeys([configured] if configured else shared or usual))

    def target(self, scope: Scope) -> str:
        """The folder to write to: of the shared ones the first that may be written, else the first of all."""
        if scope == "user":
            return self.user
        return next((path for path in self.shared if _is_writable(path)), self.shared[0] if self.shared else USUAL)

    def may_write(self, scope: Scope) -> bool:
        """Whether a kernelspec can be put there, as far as that can be told beforehand."""
        return _is_writable(self.target(scope))

    def scopes(self) -> Iterator[tuple[str, Scope]]:
        for path in self.own:
            if path not in self.shared:
                yield path, "user"
        for path in self.shared:
            yield path, "global"


class Shelf:
    """Every kernelspec of ours that this Jupyter can see. What was read of one is kept until its file is another; the
    files themselves are looked at when a folder of them changed, as it does with each that we write, and now and
    then."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._read: dict[str, tuple[tuple[int, int, int], Registered | None]] = {}
        self._last: tuple[Registered, ...] = ()
        self._marks: list[Mark] = []
        self._until = 0.0

    def registered(self) -> tuple[Registered, ...]:
        """One's own first, each folder's by name; the same tuple while nothing changes."""
        marks = [mark_of(folder) for folder, _ in self._folders.scopes()]
        if marks != self._marks or time.monotonic() >= self._until:
            found = self._found()
            self._last = self._last if found == self._last else found
            self._marks = marks
            self._until = time.monotonic() + SECONDS if all(map(is_settled, marks)) else 0.0
        return self._last

    def _found(self) -> tuple[Registered, ...]:
        kept, read = self._read, {}
        found = []
        for folder, scope in self._folders.scopes():
            for name in _names(folder):
                place = f"{folder}/{name}"
                try:
                    file = os.stat(f"{place}/kernel.json")
                except OSError:
                    continue
                mark = (file.st_ino, file.st_mtime_ns, file.st_size)
                before = kept.get(place)
                one = before[1] if before is not None and before[0] == mark else _read(place, scope)
                read[place] = (mark, one)
                if one is not None:
                    found.append(one)
        self._read = read
        return tuple(found)


def registered(folders: Folders) -> tuple[Registered, ...]:
    """Every kernelspec of ours that this Jupyter can see."""
    return Shelf(folders).registered()


def register(
    environment: Environment, display_name: str, scope: Scope, folders: Folders, own: OwnKernel | None = None
) -> Registered:
    """Write the kernelspec of an environment, of its Python or of an `own` one that it brings; one that is there
    already is replaced. Raises `NotAllowed`."""
    [made] = register_all(environment, display_name, scope, folders, [own])
    return made


def register_all(
    environment: Environment,
    display_name: str,
    scope: Scope,
    folders: Folders,
    kernels: Iterable[OwnKernel | None],
) -> list[Registered]:
    """The same for several of one environment, None for its Python's: all of them, or none where one is refused."""
    parent = Path(folders.target(scope))
    names = {spec_name(environment, own): own for own in kernels}
    try:
        _make(parent, scope)
        for place in (parent / name for name in names):
            if _is_theirs(place):
                raise BadRequest(
                    f"{place} is there and is not ours.", "Rename or remove it, then register again."
                ).in_chinese(f"{place} 已存在，且不是由本程序注册的。", "请将其改名或移除后再注册。")
        with contextlib.ExitStack() as open_drawers:
            drawers = {name: open_drawers.enter_context(_drawer(parent)) for name in names}
            for name, own in names.items():
                _fill(drawers[name], files(environment, display_name, __version__, own), scope)
            for name, drawer in drawers.items():
                _swap(drawer, parent / name)
    except OSError as error:
        raise _refused(error, environment, scope, str(parent)) from error
    return [
        _read(str(parent / name), scope)
        or Registered(
            spec=name, display_name=display_name, folder=str(parent / name), prefix=environment.path, scope=scope
        )
        for name in names
    ]


def unregister(one: Registered) -> None:
    """Remove a kernelspec of ours; what is not ours, or not any more, is left alone. Raises `NotAllowed`."""
    place = Path(one.folder)
    if _mark(one.folder) is None:
        raise BadRequest(
            f"{place} is not ours.", "Only kernels that were registered here are removed here."
        ).in_chinese(f"{place} 不是由本程序注册的。", "这里只移除由本程序注册的内核。")
    try:
        with _drawer(place.parent) as drawer:
            os.rename(place, drawer / "old")
    except OSError as error:
        line = _as_admin(["kernels", "unregister", one.spec], str(place.parent))
        said = error.strerror or error
        refusal = NotAllowed(f"{place} cannot be removed: {said}.", f"An admin can: {line}")
        raise refusal.in_chinese(f"无法移除 {place}：{said}。", f"管理员可以执行：{line}") from error


def _is_theirs(place: Path) -> bool:
    """Whether something is there that is not ours. One that is being replaced may be away between two looks."""
    return all(place.exists() and _mark(str(place)) is None for _ in range(_LOOKS))


def _names(folder: str) -> list[str]:
    """What may be a kernelspec there; a name that is no text can be none of ours."""
    try:
        return sorted(name for name in os.listdir(folder) if name == plain_text(name))
    except OSError:
        return []


def _read(place: str, scope: Scope) -> Registered | None:
    mark = _mark(place)
    if mark is None:
        return None
    name = os.path.basename(place)
    return Registered(
        spec=name,
        display_name=plain_text(str(mark.get("display_name", name))),
        folder=place,
        prefix=plain_text(str(mark.get("prefix", ""))),
        scope=scope,
        version=plain_text(str(mark.get("version", ""))),
        kernel=plain_text(str(mark.get("kernel", ""))),
    )


def _mark(place: str) -> dict[str, Any] | None:
    """What we wrote about a kernelspec into its metadata; None for one that is not ours, as a copy under another name
    is not: it is its maker's, and may have been changed."""
    try:
        said = json.loads(text_of(f"{place}/kernel.json"))
        mark = said["metadata"][MARK]
        is_ours = is_name_for(os.path.basename(place), mark["prefix"], mark.get("kernel", "")) and is_path(
            mark["prefix"]
        )
        return {**mark, "display_name": said.get("display_name")} if is_ours else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


@contextlib.contextmanager
def _drawer(parent: Path) -> Iterator[Path]:
    """A folder beside the kernelspecs that no Jupyter takes for one; gone afterwards."""
    _sweep(parent)
    path = Path(tempfile.mkdtemp(prefix=DRAWER, dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Drawers that somebody was killed over. One with a kernelspec that was to be replaced stays: it may be the only
    one."""
    for name in _names(str(parent)):
        if name.startswith(DRAWER):
            with contextlib.suppress(OSError):
                found = os.lstat(parent / name)
                is_old = time.time() - found.st_mtime > ABANDONED and not os.path.lexists(parent / name / "old")
                if is_old and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                    shutil.rmtree(parent / name)


def _fill(drawer: Path, texts: Mapping[str, str], scope: Scope) -> None:
    folder = drawer / "new"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    for name in SAME_FOR_ALL:
        shutil.copyfile(HERE / name, folder / name)
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


def _make(folder: Path, scope: Scope) -> None:
    """The folder and those above it; for everybody to enter where it is everybody's, whatever the admin's umask is."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        if scope == "global":
            path.chmod(0o755)


def _swap(drawer: Path, place: Path) -> None:
    """Put the new folder in its place; the old one, if any, goes with the drawer. There is always one of the two where
    the file system can exchange them, and whoever does the same at this moment does it before or after."""
    new, old = drawer / "new", drawer / "old"
    for _ in range(_TRIES):
        try:
            os.rename(new, place)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                if old.exists():
                    os.rename(old, place)
                raise
        if _exchanged(new, place):
            return
        shutil.rmtree(old, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.rename(place, old)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(place))


def _exchanged(one: Path, other: Path) -> bool:
    """Whether both have each other's name now; not every file system and not every C library can."""
    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    code: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return code == 0


def _is_writable(path: str) -> bool:
    """Whether it may be written, or made where it is not there yet."""
    folder = os.path.abspath(path)
    while not os.path.exists(folder):  # `Path.exists` raises for what is below a folder that may not be entered
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK | os.X_OK)


def _refused(error: OSError, environment: Environment, scope: Scope, folder: str) -> NotAllowed:
    where, said = error.filename or "", error.strerror or error
    message = f"The kernel cannot be written to {where}: {said}. Nothing was changed."
    chinese = f"内核无法写入 {where}：{said}。没有任何改动。"
    if scope == "user":
        return NotAllowed(message, "Make that folder writable.").in_chinese(chinese, "请使该文件夹可写。")
    line = _as_admin(["kernels", "register", environment.path], folder)
    hint = f"An admin can register it for everybody: {line} Or register it for yourself: add --user."
    return NotAllowed(message, hint).in_chinese(
        chinese, f"管理员可以为所有人注册：{line} 或者只为自己注册：加上 --user。"
    )


def _as_admin(words: list[str], folder: str) -> str:
    """What an admin has to type so that the same happens in the same folder."""
    told = ["env", f"{DIRECTORY}={folder}"] if folder != USUAL else []
    return shlex.join(["sudo", *told, _program(), *words])


def _program() -> str:
    """Our own command, as an admin would have to type it."""
    beside = os.path.join(os.path.dirname(sys.executable), "aiarts")
    return beside if os.path.exists(beside) else "aiarts"
