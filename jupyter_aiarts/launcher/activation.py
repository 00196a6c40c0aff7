"""The environment a job names (a conda environment or a venv), activated as its users know it.

A shell learns once per node what activating sets; ranks then start from that without any shell. The same lines start
the kernels that are made of environments (`kernelspecs`).
"""

import os
import re
import signal
import subprocess
import tempfile
from typing import Any, AnyStr, Dict, Mapping, NamedTuple, Optional, Sequence, Set

from .octets import to_bytes, to_text
from .plan import Plan
from .problem import Problem, Refused

SECONDS = 60.0
LARGEST = 4 << 20
SCRIPT = r"""
# A script that fails, or that this shell cannot read, does not keep a terminal from starting; nothing else either. Nor
# are its `set -e` and `set -u` for the next one.
_aiarts_source() { command . "$1" </dev/null >&2 || :; set +eu; }
_aiarts_drop() { # the first $1 of PATH
    case ":$PATH:" in *":$1:"*)
        _aiarts_path=":$PATH:"
        _aiarts_path="${_aiarts_path%%":$1:"*}:${_aiarts_path#*":$1:"}"
        _aiarts_path="${_aiarts_path#:}"
        export PATH="${_aiarts_path%:}"
        unset _aiarts_path ;;
    esac
}
_aiarts_leave() { # what was active before, which may be the server's own: a venv, or the conda environment _aiarts_old
    if [ -n "${VIRTUAL_ENV:-}" ]; then _aiarts_drop "$VIRTUAL_ENV/bin"; fi
    unset VIRTUAL_ENV PYTHONHOME
    if [ -z "$_aiarts_old" ]; then return; fi
    set --
    for _aiarts_script in "$_aiarts_old"/etc/conda/deactivate.d/*.sh; do set -- "$_aiarts_script" "$@"; done
    for _aiarts_script in "$@"; do
        if [ -r "$_aiarts_script" ]; then _aiarts_source "$_aiarts_script"; fi
    done
    _aiarts_drop "$_aiarts_old/bin"
    unset CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_PROMPT_MODIFIER
    export CONDA_SHLVL=0
}
_aiarts_keeps() { [ -s "$1/conda-meta/state" ] || [ -d "$1/etc/conda/env_vars.d" ]; }
_aiarts_activate() {
    _aiarts_old=${CONDA_PREFIX:-}
    _aiarts_leave
    _aiarts_python=$1/bin/python
    if [ ! -x "$_aiarts_python" ]; then _aiarts_python=$(command -v python3 || :); fi
    if [ -n "$_aiarts_python" ] && { _aiarts_keeps "$1" || _aiarts_keeps "$_aiarts_old"; }; then
        # Packages and `conda env config vars set` keep variables there, as JSON.
        eval "$("$_aiarts_python" -I -S -c '
import glob, json, re, shlex, sys
def kept(prefix):
    found = {}
    state = prefix + "/conda-meta/state"
    for path in sorted(glob.glob(glob.escape(prefix) + "/etc/conda/env_vars.d/*")) + [state]:
        try:
            with open(path, encoding="utf-8") as file:
                said = json.load(file)
            found.update(said.get("env_vars", {}) if path == state else said)
        except (OSError, ValueError, AttributeError, TypeError):
            continue
    return {name: value for name, value in found.items() if re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", name)}
for name in kept(sys.argv[2]) if sys.argv[2] else ():
    if name != "PATH":
        print("unset", name)
for name, value in kept(sys.argv[1]).items():
    if value != "***unset***":
        print("export %s=%s" % (name, shlex.quote(str(value))))
' "$1" "$_aiarts_old" 2>/dev/null)"
    fi
    unset _aiarts_old _aiarts_python
    if [ ! -d "$1/conda-meta" ]; then
        export VIRTUAL_ENV="$1" PATH="$1/bin${PATH:+:$PATH}"
        return
    fi
    _aiarts_root=${1%/envs/*}
    if [ -d "$_aiarts_root/condabin" ]; then
        # Its installation, so that `conda` is found, and by the name that conda itself has for it.
        if [ "$_aiarts_root" = "$1" ]; then set -- "$1" base; fi
        if [ -x "$_aiarts_root/bin/conda" ]; then export CONDA_EXE="$_aiarts_root/bin/conda"; fi
        _aiarts_drop "$_aiarts_root/condabin"
        export PATH="$_aiarts_root/condabin${PATH:+:$PATH}"
    fi
    unset _aiarts_root
    export PATH="$1/bin${PATH:+:$PATH}"
    export CONDA_PREFIX="$1" CONDA_DEFAULT_ENV="$2" CONDA_SHLVL=1 CONDA_PROMPT_MODIFIER="($2) "
    for _aiarts_script in "$1"/etc/conda/activate.d/*.sh; do
        if [ -r "$_aiarts_script" ]; then _aiarts_source "$_aiarts_script"; fi
    done
    unset _aiarts_script
}
"""
"""For any POSIX shell; activation scripts are mostly written for bash, so that is taken where it is."""

SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh")
_ASK = SCRIPT + '_aiarts_activate "$1" "$2"\nexec cat /proc/self/environ\n'
_SHELLS_OWN = frozenset(["_", "PWD", "OLDPWD", "SHLVL"])
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET = re.compile(
    r"(?:^|_)(?:TOKEN|SECRETS?|PASS(?:WORDS?|WD|PHRASE)|CREDENTIALS?|\w*KEY|JWT|BEARER)(?:_|\Z)", re.IGNORECASE
)
"""Names of variables that `conda env config vars set` may keep a secret under: ranks get them, and pod.env, which is
shown, does not."""


class Change(NamedTuple):
    """What activating does to variables."""

    set: Dict[str, str]
    unset: Set[str]


class Heard(NamedTuple):
    """What a program said; its code is None when it took too long and was ended."""

    code: Optional[int]
    out: bytes
    complaints: bytes


def activated(plan: Plan) -> Plan:
    """The plan whose ranks run in the environment that it names; raises `Refused`. What the user set still wins."""
    if plan.environment is None:
        return plan
    change = learn(plan.environment, plan.environ)
    kept = {name: value for name, value in plan.environ.items() if name not in change.unset}
    shown = {name: value for name, value in change.set.items() if not _SECRET.search(name)}
    return plan._replace(environ={**kept, **change.set}, extra={**shown, **plan.extra})


def learn(prefix: str, environ: Mapping[str, str]) -> Change:
    """What activating the environment at `prefix` changes in `environ`; raises `Refused`."""
    if not os.path.isdir(to_bytes(prefix)):
        hint = "make it again, or name another; in a pod it must be on a mount of the job"
        raise Refused(Problem("start-file-bad-interpreter", f"the environment of the job is not there: {prefix}", hint))
    after = _after(prefix, environ)
    changed = {name: value for name, value in after.items() if environ.get(name) != value}
    gone = {name for name in environ if name not in after and _NAME.match(name)}
    return Change({name: value for name, value in changed.items() if name not in _SHELLS_OWN}, gone - _SHELLS_OWN)


def _after(prefix: str, environ: Mapping[str, str]) -> Dict[str, str]:
    """The environment of a shell that has activated it."""
    shell = a_shell()
    if shell is None:
        raise _failed(prefix, "there is neither bash nor sh to do it with")
    name = os.path.basename(prefix.rstrip("/"))
    words = [to_bytes(word) for word in (shell, "-c", _ASK, "activate", prefix, name)]
    try:
        said = heard(words, {to_bytes(name): to_bytes(value) for name, value in environ.items()}, SECONDS)
    except OSError as error:
        raise _failed(prefix, f"{shell}: {error.strerror}") from error
    last = to_text(said.complaints).strip().splitlines()[-1:]
    if said.code is None:
        raise _failed(prefix, f"its scripts have not ended after {SECONDS:g} s")
    if said.code != 0:
        raise _failed(prefix, "; ".join([f"its scripts ended with code {said.code}", *last]))
    pairs = (word.partition(b"=") for word in said.out.split(b"\0") if b"=" in word)
    return {to_text(name): to_text(value) for name, _, value in pairs}


def a_shell() -> Optional[str]:
    """The shell that can read most activation scripts."""
    return next((path for path in SHELLS if os.access(path, os.X_OK)), None)


def heard(words: Sequence[AnyStr], environ: Mapping[AnyStr, AnyStr], seconds: float, **more: Any) -> Heard:
    """What a program says until it ends, into files: a child that outlives it can hold a pipe open, and not that.
    Raises `OSError` where it cannot be started; `more` is for `Popen`. Called here and by a kernel's doctor."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=complaints, env=environ, start_new_session=True, **more
        )
        code = _waited(child, seconds)
        out.seek(0)
        complaints.seek(0)
        return Heard(code, out.read(LARGEST), complaints.read(LARGEST))


def _waited(child: "subprocess.Popen[bytes]", seconds: float) -> Optional[int]:
    """Its exit code, None when it took too long; whatever it left running is ended."""
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except OSError:
            pass  # all of it has ended
        child.wait()


def _failed(prefix: str, why: str) -> Refused:
    message = f"the environment {prefix} could not be activated: {why}"
    return Refused(Problem("start-file-bad-interpreter", message, f"see {prefix}/etc/conda/activate.d"))
