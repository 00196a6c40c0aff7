"""From a plan's start to the words of a command, or to the sentence that says why it cannot work."""

import errno
import os
import stat
from typing import List, Mapping, Optional

from .octets import to_bytes, to_text
from .plan import Plan, Start
from .problem import Problem, Refused
from .substitution import UnknownName, nearest, substitute

_SHEBANG_LIMIT = 256  # what the kernel looks at


def command(plan: Plan, environ: Mapping[str, str], notebook_runner: str) -> List[str]:
    """The argv of a rank with this environment; `argv[0]` is a path. Raises `Refused`."""
    start = plan.start
    search = environ.get("PATH", os.defpath)
    if start.kind == "command":
        return [_shell(search), "-c", start.line or ""]
    path = start.path or ""
    _check_file(path)
    head = _head(start, path, search, notebook_runner)
    try:
        return head + [substitute(word, environ) for word in plan.args] + plan.paths
    except UnknownName as error:
        raise Refused(
            Problem("unknown-variable", str(error), "use a variable that the job's environment has")
        ) from error


def _head(start: Start, path: str, search: str, notebook_runner: str) -> List[str]:
    if start.kind == "shell":
        return [_shell(search), path]
    if start.kind == "exec":
        _check_executable(path, search)
        return [path]
    python = find(start.python, search)
    if python is None:
        message = f"the Python that is to run {path} is not there: {start.python}"
        raise Refused(Problem("start-file-bad-interpreter", message, "choose a Python that exists where the job runs"))
    return [python, notebook_runner, path] if start.kind == "notebook" else [python, path]


def find(program: str, search: str) -> Optional[str]:
    """The path of an executable, looked for along `search` unless it already is one."""
    folders = [""] if "/" in program else search.split(os.pathsep)
    for folder in folders:
        path = os.path.join(folder or ".", program)
        if os.path.isfile(to_bytes(path)) and os.access(to_bytes(path), os.X_OK):
            return path
    return None


def _shell(search: str) -> str:
    for program in ("bash", "/bin/bash", "sh", "/bin/sh"):
        path = find(program, search)
        if path is not None:
            return path
    raise Refused(Problem("start-file-bad-interpreter", "there is neither bash nor sh to run the job with", ""))


def _check_file(path: str) -> None:
    """Refuse what is no readable file, and say which of the many reasons it is."""
    try:
        mode = os.stat(to_bytes(path)).st_mode
    except OSError as error:
        raise Refused(_absent(path, error)) from error
    if stat.S_ISDIR(mode):
        hint = "name the file in it that is to run"
        raise Refused(Problem("start-file-missing", f"the start file is a directory: {path}", hint))
    if not os.access(to_bytes(path), os.R_OK):
        hint = "make it readable for the user the job runs as"
        raise Refused(Problem("permission-denied", f"the start file cannot be read: {path}", hint))


def _absent(path: str, error: OSError) -> Problem:
    if error.errno == errno.EACCES:
        hint = "make every folder on the way to it accessible for the user the job runs as"
        return Problem("permission-denied", f"the start file cannot be reached: {path}", hint)
    if os.path.islink(to_bytes(path)):
        target = to_text(os.readlink(to_bytes(path)))
        if error.errno == errno.ELOOP:
            message = f"the start file is a symbolic link that leads back to itself: {path} -> {target}"
        else:
            message = f"the start file is a symbolic link to something that is not there: {path} -> {target}"
        return Problem("start-file-broken-symlink", message, "put the target back, or name the real file")
    return Problem("start-file-missing", f"the start file is not there: {path}", _nearby(path))


def _nearby(path: str) -> str:
    """Where the path stops being true; that is usually what was mistyped."""
    folder = os.path.dirname(path)
    while folder not in ("", "/") and not os.path.isdir(to_bytes(folder)):
        folder = os.path.dirname(folder)
    if folder != os.path.dirname(path):
        return f"the last part of that path that exists is {folder or '/'}"
    names = sorted(to_text(name) for name in os.listdir(to_bytes(folder))) if os.path.isdir(to_bytes(folder)) else []
    close = nearest(os.path.basename(path), names)
    if close:
        return f"did you mean {os.path.join(folder, close)}?"
    return f"{folder} holds: {', '.join(names[:8])}" if names else f"{folder} is empty"


def _check_executable(path: str, search: str) -> None:
    if not os.access(to_bytes(path), os.X_OK):
        raise Refused(
            Problem("start-file-not-executable", f"the start file is not executable: {path}", f"chmod +x {path}")
        )
    with open(to_bytes(path), "rb") as file:
        first = file.read(_SHEBANG_LIMIT)
    if first.startswith(b"#!"):
        _check_interpreter(path, first[2:].split(b"\n", 1)[0], search)


def _check_interpreter(path: str, line: bytes, search: str) -> None:
    words = to_text(line).strip(" \t").split(None, 1)
    program = words[0] if words else ""
    carriage = line.endswith(b"\r")
    if program.rstrip("\r") == "/usr/bin/env" and len(words) > 1 and not words[1].startswith("-"):
        program = words[1].split()[0]
        known = find(program, search) is not None and not carriage
    else:
        known = os.path.exists(to_bytes(program)) and not (carriage and len(words) == 1)
    if known:
        return
    if carriage:
        shown = to_text(line.rstrip())
        message = f"the first line of {path} has a Windows line end, so no interpreter is found: #!{shown}"
        raise Refused(Problem("start-file-bad-interpreter", message, f"sed -i 's/\\r$//' {path}"))
    message = f"the first line of {path} names an interpreter that is not there: {program or '(nothing)'}"
    raise Refused(Problem("start-file-bad-interpreter", message, "correct the #! line, or install that interpreter"))


def refusal(argv: List[str], environ: Mapping[str, str], workdir: str, step: str, number: int) -> Problem:
    """The problem behind a chdir or exec that failed with this errno after everything had looked right."""
    if step == "workdir":
        code = "permission-denied" if number == errno.EACCES else "workdir-missing"
        return Problem(code, f"cannot enter the working folder {workdir}: {os.strerror(number)}", "")
    if number == errno.E2BIG:
        return _too_large(argv, environ)
    if number == errno.ENOEXEC:
        hint = "begin it with a line such as #!/bin/bash, or run it as a shell or Python file"
        return Problem(
            "start-file-bad-interpreter", f"the system cannot execute {argv[0]}: {os.strerror(number)}", hint
        )
    if number == errno.EINVAL:
        return Problem("start-file-bad-interpreter", f"an argument or variable for {argv[0]} holds a NUL byte", "")
    if number == errno.EACCES:
        return Problem("start-file-not-executable", f"not allowed to execute {argv[0]}", "is its disk mounted noexec?")
    return Problem("start-file-bad-interpreter", f"cannot execute {argv[0]}: {os.strerror(number)}", "")


def _too_large(argv: List[str], environ: Mapping[str, str]) -> Problem:
    limit = os.sysconf("SC_ARG_MAX")
    single = 32 * os.sysconf("SC_PAGE_SIZE")  # Linux: MAX_ARG_STRLEN
    words = [len(to_bytes(word)) + 1 for word in argv]
    pairs = [len(to_bytes(name)) + len(to_bytes(value)) + 2 for name, value in environ.items()]
    message = (
        f"arguments ({sum(words)} bytes) and environment ({sum(pairs)} bytes) are too large for the system: "
        f"at most {limit} bytes together and {single} for one of them (the largest has {max(words + pairs)})"
    )
    return Problem("environment-too-large", message, "put large values into a file and pass its path")
