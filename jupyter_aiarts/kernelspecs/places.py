"""Where environments may be: every file and folder that conda, mamba and micromamba themselves would look at.

Reading is all that is done: no program is started, and what cannot be read is passed over.
"""

from __future__ import annotations

import os
import pwd
import re
import stat
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct

ROOTS = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "miniconda", "anaconda", "conda")
SHARED_ROOTS = ("/opt", "/usr/local", "/usr/share", "/data")
LARGEST = 1 << 20
"""Bytes of a list; nobody writes a longer one."""
LARGEST_CONDARC = 1 << 16
MOST_HOMES = 1000
MOST_LISTED = 5000
"""Folders of one list; anybody can write one, and each of its lines costs everybody a lookup."""
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_USER = re.compile(r"\$(?:(?:USER|LOGNAME)\b|\{(?:USER|LOGNAME)\})")
_CONDARCS = (".condarc", "condarc", "condarc.d", ".mambarc")
_OF_HOME = (
    ".condarc", ".conda/.condarc", ".conda/condarc", ".conda/condarc.d", ".mambarc", ".config/conda/.condarc",
    ".config/conda/condarc", ".config/conda/condarc.d",
)  # fmt: skip


class Places(Struct, frozen=True, kw_only=True):
    """Folders that are environments where they have the marks of one, and folders that hold environments."""

    prefixes: tuple[str, ...]
    holders: tuple[str, ...]
    lists: tuple[str, ...]  # files that name environments; a change of one is news
    absent: tuple[
        str, ...
    ] = ()  # where an installation would be, or a condarc of one's own; when one comes, that is news
    home: str = ""  # one's own: what is below it is shown however many others have
    sure: frozenset[str] = frozenset()  # so are these: kernels were made of them, or one's own list names them


def places(
    environ: Mapping[str, str], homes: Iterable[str], extra: Iterable[str] = (), known: Iterable[str] = ()
) -> Places:
    """All places of these people, most likely first, each once. `extra` folders may be environments or hold some;
    `known` ones were environments once, and are called what they are called."""
    people = list(homes)
    usual = [f"{home}/{name}" for home in people for name in (*ROOTS, ".local/share/mamba")]
    usual += [f"{base}/{name}" for base in SHARED_ROOTS for name in ROOTS]
    lists = [f"{home}/.conda/environments.txt" for home in people]
    named = [_lines(text_of(path)) for path in lists]
    listed = [line for lines in named for line in lines]
    above = frozenset[str]().union(*map(_roots_of, named)) - {*listed}
    roots = [
        *_expanded(_named_roots(environ)),
        *(path for path in [*usual, *sorted(above)] if os.access(path, os.F_OK)),
    ]
    holders = [os.path.join(root, "envs") for root in roots]
    holders += [f"{home}/.conda/envs" for home in people]
    candidates = _condarcs(environ, people, roots)
    rcs = {path: home for each, home in candidates.items() if os.access(each, os.F_OK) for path in _rc_files(each)}
    for rc, home in rcs.items():
        holders += _envs_dirs(rc, home, people[0] if people else "")
    for name in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        holders += _expanded(part for part in environ.get(name, "").split(os.pathsep) if part)
    named_by_admin = list(_expanded(extra))
    met = list(filter(is_path, known))
    return Places(
        prefixes=tuple(dict.fromkeys([*listed, *_absolute([*roots, *named_by_admin]), *met])),
        holders=_absolute([*holders, *named_by_admin]),
        lists=tuple(dict.fromkeys([*lists, *rcs])),
        absent=tuple(sorted({*usual, *_ours(candidates, people)} - {*roots, *rcs})),
        home=os.path.realpath(people[0]) if people else "",
        sure=frozenset([*met, *(named[0] if named else ())]),
    )


def homes(everybody: bool) -> list[str]:
    """One's own home, and with `everybody` those of all who have one here."""
    own = os.path.expanduser("~")
    if not everybody:
        return [own]
    others = {entry.pw_dir for entry in pwd.getpwall() if entry.pw_uid == 0 or entry.pw_uid >= 1000}
    return list(dict.fromkeys([own, *present(others - {"/"})]))


def present(folders: Iterable[str]) -> list[str]:
    """Those that are there, found by listing the folders above them: looking at a home that is not mounted would have
    it mounted, and a directory service may know thousands."""
    above: dict[str, frozenset[str]] = {}
    found = []
    for folder in sorted(folders):
        parent, name = os.path.split(os.path.normpath(folder))
        if parent not in above:
            try:
                above[parent] = frozenset(os.listdir(parent))
            except OSError:
                above[parent] = frozenset()
        if name in above[parent]:
            found.append(folder)
    return found[:MOST_HOMES]


def _named_roots(environ: Mapping[str, str]) -> Iterator[str]:
    """Roots that the environment names: the installer's, the active one's, the program's own place; and the one that
    this very Python is of, which a service has without any variable."""
    for name in ("MAMBA_ROOT_PREFIX", "CONDA_ROOT", "CONDA_ROOT_PREFIX", "_CONDA_ROOT", "CONDA_DIR"):
        if environ.get(name):
            yield environ[name]
    if environ.get("XDG_DATA_HOME"):
        yield f"{environ['XDG_DATA_HOME']}/mamba"
    for folder in environ.get("PATH", "").split(os.pathsep):
        above, _, last = folder.rstrip("/").rpartition("/")
        if last == "condabin":
            yield above
        elif last == "bin" and os.access(f"{above}/conda-meta", os.F_OK):  # as images set it, without activation
            yield _root_of(above)
            yield above
    for name in ("CONDA_EXE", "MAMBA_EXE"):
        if environ.get(name):
            yield os.path.dirname(os.path.dirname(environ[name]))
    own = sys.prefix if os.path.isdir(f"{sys.prefix}/conda-meta") else None
    for prefix in (environ.get("CONDA_PREFIX"), own):
        if prefix:
            yield _root_of(prefix)
            yield prefix


def _root_of(prefix: str) -> str:
    """The installation that an environment belongs to; itself where its folder does not say."""
    return prefix.rpartition("/envs/")[0] or prefix


@lru_cache(maxsize=256)
def _roots_of(prefixes: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_root_of, prefixes))


def _condarcs(environ: Mapping[str, str], people: Sequence[str], roots: Iterable[str]) -> dict[str, str]:
    """Where they may be, and the home of whoever would write each; "" for one that is in nobody's."""
    bases = {base: _home_of(base, people) for base in ("/etc/conda", "/var/lib/conda", *roots)}
    found = [(f"{base}/{name}", home) for base, home in bases.items() for name in _CONDARCS]
    for home in people:
        found += [(f"{home}/{name}", home) for name in _OF_HOME]
    own = people[0] if people else ""
    if environ.get("XDG_CONFIG_HOME"):
        found += [(f"{environ['XDG_CONFIG_HOME']}/conda/{name}", own) for name in _CONDARCS]
    found += [(environ[name], own) for name in ("CONDARC", "MAMBARC") if environ.get(name)]
    return dict(found)


def _ours(condarcs: Mapping[str, str], people: Sequence[str]) -> Iterator[str]:
    """One's own and the system's: with everybody's there would be thousands to look at every two seconds."""
    return (path for path, home in condarcs.items() if home in ("", *people[:1]))


def _home_of(path: str, people: Iterable[str]) -> str:
    return max((home for home in people if home != "/" and path.startswith(f"{home}/")), key=len, default="")


def _rc_files(path: str) -> list[str]:
    """A condarc, or those in a folder of them."""
    if not path.endswith(".d"):
        return [path]
    try:
        return sorted(f"{path}/{name}" for name in os.listdir(path) if name.endswith((".yml", ".yaml")))
    except OSError:
        return []


def _envs_dirs(rc: str, home: str, own: str) -> list[str]:
    """The folders a condarc names, as whoever lives in that home means them; one that is not YAML names none. Variables
    are the reader's, who would look for a folder that is called as they are: only one's own names them, and the
    system's."""
    text, uid = text_and_owner(rc)
    named = _named_in(text) if "envs_" in text and len(text) <= LARGEST_CONDARC else ()
    paths = [_at_home(one, home or own) for one in named]
    if home == own or (not home and uid in (0, os.geteuid())):
        return list(_expanded(paths))
    theirs = (_USER.sub(_login(uid), path) if home and "$" in path else path for path in paths)
    return [path for path in theirs if path.startswith("/") and "$" not in path]


def _at_home(path: str, home: str) -> str:
    """As whoever lives there means it, who may be somebody else."""
    start, rest = next(((one, path[len(one) :]) for one in ("~", "$HOME", "${HOME}") if path.startswith(one)), ("", ""))
    return home + rest if home and start and rest[:1] in ("", "/") else path


def _login(uid: int) -> str:
    """What the system calls somebody; where it does not, a path with their name is passed over."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return "$"


@lru_cache(maxsize=256)
def _named_in(text: str) -> tuple[str, ...]:
    """Kept, since reading YAML takes longer than everything else here.

    Everybody reads everybody's: strings, lists and mappings alone, for a tag may be one of a value that it is not of,
    and merged mappings may grow without end.
    """
    import yaml

    try:
        said: Any = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506  makes no objects
    except (yaml.YAMLError, RecursionError, ValueError):
        return ()
    if not isinstance(said, dict):
        return ()
    listed = said.get("envs_dirs") or said.get("envs_path") or []
    return tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()


@lru_cache(maxsize=256)
def _lines(text: str) -> tuple[str, ...]:
    """The folders that a list names, each with its whole path; kept, since they are many and seldom others."""
    lines = filter(is_path, map(str.strip, text.removeprefix("\ufeff").splitlines()))
    return tuple(os.path.normpath(line) for line in islice(dict.fromkeys(lines), MOST_LISTED))


@lru_cache(maxsize=2 * MOST_LISTED)
def is_path(text: str) -> bool:
    """Whether it is a whole path that the system can be asked about."""
    return text.startswith("/") and _is_name(text)


def _is_name(text: str) -> bool:
    """Whether the system can be asked about it."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def text_of(path: str) -> str:
    """What a plain file holds, up to a limit; nothing for one that cannot be read. Others' files are read too, and
    a pipe in the place of one would never end."""
    return text_and_owner(path)[0]


def text_and_owner(path: str) -> tuple[str, int]:
    """The same, and whose file it is."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # some devices act when they are opened
            return "", -1
        return _held(os.open(path, _READING))
    except (OSError, ValueError):
        return "", -1


def text_within(folder: str, names: Sequence[str], owners: Container[int]) -> str:
    """What a file below a folder holds that belongs to one of these users; nothing where a link leads there: whoever
    made the folder may link to what they may not read themselves. For root, who may read everything."""
    opened: list[int] = []
    try:
        opened.append(os.open(folder, _READING | os.O_DIRECTORY))
        for name in names:
            opened.append(os.open(name, _READING | os.O_NOFOLLOW, dir_fd=opened[-1]))
        return _held(opened.pop())[0] if os.fstat(opened[-1]).st_uid in owners else ""
    except (OSError, ValueError):
        return ""
    finally:
        for file in opened:
            os.close(file)


def _held(file: int) -> tuple[str, int]:
    """What a file that was opened holds, where it is a plain one, and whose it is; it is closed."""
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return "", found.st_uid
        return os.read(file, min(found.st_size, LARGEST)).decode("utf-8", "surrogateescape"), found.st_uid
    finally:
        os.close(file)


def _expanded(paths: Iterable[str]) -> Iterator[str]:
    """With homes and variables filled in: for paths that this user or an admin wrote, and nobody else."""
    named = filter(_is_name, paths)
    return (os.path.expandvars(os.path.expanduser(path)) if "~" in path or "$" in path else path for path in named)


def _absolute(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.normpath(path) for path in paths if is_path(path)))
