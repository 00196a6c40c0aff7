"""Whether a kernel would start: what its files tell for a list, and what its Python says for a doctor."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence

from jupyter_aiarts._version import __version__
from jupyter_aiarts.kernelspecs.contents import spec_file
from jupyter_aiarts.kernelspecs.owner import as_owner
from jupyter_aiarts.launcher.activation import SCRIPT, Heard, a_shell, heard
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.elf import HEAD, machine_of
from jupyter_aiarts.model.environment import Environment, OwnKernel, Registered

SECONDS = 45.0  # whoever asks gives up after a minute, and would never hear of it
LINES = 6
TRIED = {
    "opencv": "cv2", "py_opencv": "cv2", "opencv_python": "cv2", "opencv_python_headless": "cv2",
    "opencv_contrib_python": "cv2", "opencv_contrib_python_headless": "cv2", "matplotlib": "matplotlib",
    "soundfile": "soundfile", "pysoundfile": "soundfile", "pyaudio": "pyaudio", "open3d": "open3d", "h5py": "h5py",
}  # fmt: skip
"""Packages that are known to need libraries of the system, and what to import of them; frameworks do, too."""
_WORD = "aiarts-doctor"
"""What our own lines begin with: scripts and packages may print what they like beside them."""
_ASK = """
import importlib, sys
word, *names = sys.argv[1:]
for name in names:
    print("\\n" + word, "try", name, sep="\\t", flush=True)
    try:
        importlib.import_module(name)
    except Exception as error:
        print("\\n" + word, "failed", name, " ".join(str(error).split()), sep="\\t", flush=True)
print("\\n" + word, "end", sep="\\t", flush=True)
"""
_AS_KERNELS_START = (
    SCRIPT
    + f"""
_aiarts_activate "$1" "$2"
printf '{_WORD}\\tactivated\\n'
shift 2
exec "$@"
"""
)
_LIBRARY = re.compile(r"([^:]+\.so[\w.]*): (cannot open shared object file|wrong ELF class)")


def problems(environment: Environment | None, kernels: Sequence[Registered]) -> Iterator[Cause]:
    """What can be seen without starting anything, of an environment and of the kernels that stand for it; `environment`
    is None where its folder is gone."""
    if environment is None:
        kernel = kernels[0]
        form = (
            "environment-hidden"
            if is_hidden(kernel.prefix)
            else ""
            if is_gone(kernel.prefix)
            else "environment-unmarked"
        )
        yield Cause(code="environment-gone", form=form, values={"path": kernel.prefix, "spec": kernel.spec})
        return
    python = f"{environment.path}/bin/python"
    values = {"path": environment.path, "name": environment.name, "python": python}
    if not os.access(python, os.F_OK) and (environment.python is not None or _needs_python(environment, kernels)):
        yield Cause(code="python-gone", values=values, evidence=_links(python))
    elif lacks_ipykernel(environment, kernels):
        yield Cause(code="ipykernel-missing", values=values)
    for kernel in {one.spec: one for one in no_longer(environment, kernels)}.values():  # one's own and everybody's
        more = {"spec": kernel.spec, "kernel": kernel.kernel}
        yield Cause(code="environment-gone", form="kernel-gone", values={**values, **more})
    old = next((kernel for kernel in kernels if kernel.version != __version__), None)
    if old is not None:
        yield Cause(code="kernel-outdated", values={**values, "spec": old.spec, "version": old.version})


def lacks_ipykernel(environment: Environment, kernels: Iterable[Registered]) -> bool:
    """Whether its Python should be a kernel and cannot: for want of any other, or because one was made of it."""
    return environment.python is not None and not environment.has_ipykernel and _needs_python(environment, kernels)


def _needs_python(environment: Environment, kernels: Iterable[Registered]) -> bool:
    return not environment.kernels or any(not kernel.kernel for kernel in kernels)


def no_longer(environment: Environment, kernels: Iterable[Registered]) -> list[Registered]:
    """Those that start a kernel which the environment brought once, and which is surely gone."""
    others = [kernel for kernel in kernels if kernel.kernel and kernel.kernel not in environment.kernels]
    return [kernel for kernel in others if is_gone(spec_file(environment.path, kernel.kernel))]


def own_programs(environment: Environment, kernels: Iterable[OwnKernel]) -> Iterator[Cause]:
    """Programs that kernels of its own (R, Julia) start, and that are nowhere to be found."""
    path = f"{environment.path}/bin{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    for own in kernels:
        if shutil.which(own.argv[0], path=path) is None:
            values = {"path": environment.path, "name": environment.name, "kernel": own.name, "program": own.argv[0]}
            yield Cause(code="python-gone", form="program-gone", values=values, evidence=_links(own.argv[0]))


def is_hidden(prefix: str) -> bool:
    """Whether a folder cannot be seen by this user, which is not the same as gone."""
    try:
        os.lstat(os.path.join(prefix, "."))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def is_gone(prefix: str) -> bool:
    """Whether a folder is surely not there; a disk that does not answer says nothing of that kind."""
    try:
        os.lstat(prefix)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def examine(environment: Environment, packages: frozenset[str]) -> Iterator[Cause]:
    """What only its own Python can tell: it is run as a kernel would be, activated, and for a limited time."""
    python = os.path.join(environment.path, "bin", "python")
    values = {"path": environment.path, "name": environment.name, "python": python}
    if _made_for(python, environment.path) not in (None, os.uname().machine):
        yield Cause(code="python-wrong-arch", values=values)
        return
    wanted = ["ipykernel", *dict.fromkeys(module for name, module in TRIED.items() if name in packages)]
    wanted += [name for name in environment.frameworks if name not in wanted]
    words = [a_shell() or "/bin/sh", "-c", _AS_KERNELS_START, "doctor", environment.path, environment.name]
    try:
        who, environ = as_owner(environment.path, os.environ)
        said = heard([*words, python, "-c", _ASK, _WORD, *wanted], environ, SECONDS, cwd="/", **who)
    except OSError as error:
        yield Cause(code="python-broken", values=values, evidence=(f"{words[0]}: {error.strerror}",))
        return
    yield from _read(said, values)


def _read(said: Heard, values: dict[str, str]) -> Iterator[Cause]:
    told = [line.split("\t")[1:] for line in _text(said.out) if line.startswith(f"{_WORD}\t")]
    for module, *reason in (words for kind, *words in told if kind == "failed"):
        yield _import_cause(module, " ".join(reason), values)
    last, *rest = told[-1] if told else ["nothing"]
    if last == "end":
        return
    more = {**values, "seconds": SECONDS, "module": "".join(rest[:1])}
    evidence = (*_how(said.code), *_text(said.complaints)[-LINES:])
    if last == "nothing":  # not even activated
        yield Cause(code="activation-failed", form="activation-hangs" if said.code is None else "", values=more,
                    evidence=evidence)  # fmt: skip
    elif last in ("try", "failed"):  # the Python itself is well
        yield Cause(code="module-broken", form="module-hangs" if said.code is None else "", values=more,
                    evidence=evidence)  # fmt: skip
    else:
        yield Cause(code="python-hangs" if said.code is None else "python-broken", values=more, evidence=evidence)


def _text(raw: bytes) -> list[str]:
    return raw.decode("utf-8", "replace").strip().splitlines()


def _how(code: int | None) -> Iterator[str]:
    """How it ended, where it did not say so itself."""
    if code is not None and code < 0:
        try:
            yield f"ended by {signal.Signals(-code).name}"
        except ValueError:
            yield f"ended by signal {-code}"


def _import_cause(module: str, said: str, values: dict[str, str]) -> Cause:
    match = _LIBRARY.search(said)
    library, rest = (part.strip() for part in match.groups()) if match is not None else ("", "")
    made_for = _made_for(library, values["path"]) if library else None
    if made_for not in (None, os.uname().machine) or rest == "wrong ELF class":
        # The loader says of a library for another processor that it is not there, and means that it passed it over.
        more = {"module": module, "library": library, "made_for": made_for or rest, "machine": os.uname().machine}
        return Cause(code="python-wrong-arch", form="library-wrong-arch", values={**values, **more}, evidence=(said,))
    if library:
        return Cause(code="library-missing", form="kernel-library-missing",
                     values={**values, "module": module, "library": library}, evidence=(said,))  # fmt: skip
    code = "ipykernel-missing" if module == "ipykernel" else "module-broken"
    return Cause(code=code, values={**values, "module": module}, evidence=(said,))


def _made_for(library: str, prefix: str) -> str | None:
    """The processor that a library is for, where it is in the environment or named by its whole path."""
    path = library if os.path.isabs(library) else os.path.join(prefix, "lib", library)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return machine_of(file.read(HEAD))
    except OSError:
        return None


def _links(path: str) -> tuple[str, ...]:
    """Where a link that leads nowhere points."""
    return (f"{path} -> {os.readlink(path)}",) if os.path.islink(path) else ()
