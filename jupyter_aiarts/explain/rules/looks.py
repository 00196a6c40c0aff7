"""A closer look at a line of a program: the name, the path or the number in it, and whether it is what it seems."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules import errnos, modules
from jupyter_aiarts.explain.rules.lines import Statement
from jupyter_aiarts.explain.rules.signs import End, named
from jupyter_aiarts.model.later import Later

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

SHM = "/dev/shm"
LOCAL = "local"
_QUOTED_PATH = Later(r"['\"‘“«`](?P<path>(?:/|\./|\.\./|~)[^'\"’”»`\n]{1,400})['\"’”»`]")
_BARE_PATH = Later(r"(?:^|[\s:=(])(?P<path>/[\w.+@%~/-]{2,300})")
_PYTHON = Later(r"^\S{0,200}python[\d.]{0,6}: |^No module named '[\w.]{1,120}'$", re.IGNORECASE)
_REFUSED = ("", "PermissionError", "OSError", "IOError", "RuntimeError", "Error")
_PORT = Later(r"\bport[:= ]{1,2}(\d{2,5})\b|(?:\]|[\w.*]):(\d{2,5})\b(?!:)|',? ?(\d{4,5})\)")


def doubled(value: float | None) -> float | None:
    """Twice what was there, in whole GB; None where that is not known."""
    return float(max(1, math.ceil(value * 2))) if value else None


def shm(spec: JobSpec | None) -> dict[str, Any]:
    """What /dev/shm was and what it could be; this machine's own is not the job's to change."""
    if spec is None or spec.cluster == LOCAL or not spec.shm_gb:
        return {"form": "shared-memory-here"}
    return {"had_gb": spec.shm_gb, "shm_gb": doubled(spec.shm_gb)}


def memory(spec: JobSpec | None) -> dict[str, Any]:
    """What memory it had asked for and twice of that; this machine gives a job what there is, whatever it asks for."""
    if spec is None or spec.cluster == LOCAL or not spec.memory_gb:
        return {"form": "memory-here"}
    return {"had_gb": spec.memory_gb, "memory_gb": doubled(spec.memory_gb)}


def path_in(text: str) -> str | None:
    """The path that a line names; the last quoted one, else one that stands for itself."""
    quoted = [match["path"] for match in _QUOTED_PATH.finditer(text)]
    if quoted:
        return quoted[-1]
    bare = _BARE_PATH.search(text)
    return bare["path"].rstrip(".:,") if bare is not None else None


# -- modules and libraries -------------------------------------------------------------------------------------------


def module(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    if line.kind and line.kind not in ("ModuleNotFoundError", "ImportError", "RuntimeError", "ModuleNotFound"):
        return None
    if not line.kind and not _PYTHON.match(line.text):
        return None
    name = match["name"].strip(".")
    top = name.partition(".")[0]
    if match["shadow"]:
        return {"name": name, "top": top, "form": "module-shadowed"}
    if name in modules.PIP or top == "google":
        package = modules.PIP.get(name)
        return {"name": name, "package": package, "form": "module-package" if package else "module-missing"}
    if top in modules.CANN:
        return {"name": name, "form": "module-of-cann"}
    if top in modules.PYTHON or top == "encodings":
        return {"name": name, "form": "module-of-python"}
    if top != name:  # Python found the first part, else it would name that
        return {"name": name, "top": top, "form": "module-part-missing"}
    if top in modules.LOCAL or (spec is not None and spec.script and _stem(spec.script) == top):
        return {"name": name, "form": "module-local"}
    if top in modules.NO_PIP:
        return {"name": name, "form": "module-built"}
    return {"name": name, "package": modules.PIP.get(top, name.replace("_", "-"))}


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def library(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    if line.kind and line.kind not in (
        "ImportError",
        "OSError",
        "RuntimeError",
        "ModuleNotFoundError",
        "NotFoundError",
    ):
        return None
    name = match["lib"].rpartition("/")[2]
    why = errnos.errno_of(line.text[match.end() :])
    if why is not None and why != errnos.ENOENT:
        return None
    version = re.search(r"\.so\.(\d+(?:\.\d+)?)", name)
    return {
        "name": name,
        "form": modules.library_form(name),
        "package": modules.APT.get(name),
        "version": version[1] if version else None,
    }


# -- places that are full, files that are missing ----------------------------------------------------------------


def full_place(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    number = errnos.errno_of(line.text)
    if number not in (errnos.ENOSPC, errnos.EDQUOT):
        return None
    if number == errnos.EDQUOT:
        return {"path": path_in(line.text), "form": "disk-quota"}
    path = path_in(line.text) or (end.full[0] if len(end.full) == 1 else None)
    return {"path": path, "form": "disk-full-at" if path else "disk-full-somewhere"}


def _is_shm(text: str) -> bool:
    small = text.lower()
    return SHM in small or "shared memory" in small or "</torch_" in small or "(shm)" in small


def full_shm(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    if not _is_shm(line.text) and (tuple(end.full) != (SHM,) or path_in(line.text)):
        return None
    number = errnos.errno_of(line.text)
    if number not in (None, errnos.ENOSPC, errnos.EAGAIN) or "too many open files" in line.small:
        return None
    return shm(spec)


def bus_error(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    """A bus error alone may also be a mapped file that was cut; of a loader's worker, or with no room, it is not."""
    return shm(spec) if SHM in end.full or "worker" in line.small or _is_shm(line.text) else None


def no_memory(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    if "cannot allocate memory in static tls" in line.small or "shared memory" in line.small:
        return None
    if "</torch_" in line.text or "ibv_" in line.small:
        return None
    return {"form": "memory-refused", **memory(spec)}


def worker_killed(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    return {"form": "memory-of-worker", **memory(spec)}


def _of_shell(text: str) -> str | None:
    """The file in `bash: ./run.sh: Permission denied`, which a shell names as it was called."""
    words = [word.strip() for word in text.split(":")]
    return next((word for word in reversed(words[1:-1]) if "/" in word and " " not in word), None)


def denied(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    number = errnos.errno_of(line.text)
    if number not in (errnos.EACCES, errnos.EPERM, errnos.EROFS) or line.kind == "ImportError":
        return None
    if line.kind not in _REFUSED and "[Errno" not in line.text:
        return None  # words of the program's own
    path = path_in(line.text) or _of_shell(line.text)
    if number == errnos.EROFS:
        return {"path": path, "form": "read-only"}
    if path and path.startswith(("/dev/davinci", "/dev/nvidia", "/dev/devmm", "/dev/hisi")):
        return {"path": path, "form": "permission-card"}
    if number == errnos.EPERM and not path:
        return None
    return {"path": path, "form": "permission-at" if path else "permission-somewhere"}


def missing_file(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    if line.kind not in ("FileNotFoundError", "OSError", "IOError") or errnos.errno_of(line.text) != errnos.ENOENT:
        return None
    path = path_in(line.text)
    if path is None:
        quoted = re.search(r"['\"]([^'\"\n]{1,300})['\"]\s*$", line.text)
        path = quoted[1] if quoted is not None else None
    return {"path": path} if path else None


def taken_port(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    numbers = [number for groups in _PORT.findall(line.text) for number in groups if number]
    port = next((int(number) for number in numbers if 1 <= int(number) <= 65535), None)
    return {"port": port} if port is not None else {"form": "port-taken-somewhere"}


# -- starting --------------------------------------------------------------------------------------------------------


def missing_command(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    """A shell goes on after a command it did not find, so only an end that says the same is decided by it."""
    if end.exit_code not in (127, None):
        return None
    caught = named(match)
    name = next((value for key, value in caught.items() if key.startswith("name")), "")
    if "\r" in name or "\\r" in name or "^M" in name:
        return {"form": "script-crlf"}
    return {"name": name.strip("'\"`‘’“”:："), "form": "command-missing"}


def interpreter(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    name = match["name"]
    if name.endswith(("^M", "\r", "\\r")):
        return {"form": "script-crlf"}
    return {"name": name, "form": "interpreter-missing"}


def arguments(match: re.Match[str], line: Statement, end: End, spec: JobSpec | None) -> dict[str, Any] | None:
    """Argument readers end with 2."""
    return named(match) if end.exit_code in (1, 2, None) else None
