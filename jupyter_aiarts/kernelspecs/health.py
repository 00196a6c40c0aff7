"""Whether a kernel would start: what its files tell for a list, and what its Python says for a doctor."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from jupyter_aiarts._version import __version__
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.environment import Environment, Registered

SECONDS = 30.0
LINES = 6
TRIED = {"opencv_python": "cv2", "opencv_contrib_python": "cv2", "soundfile": "soundfile", "matplotlib": "matplotlib"}
"""Packages that are known to need libraries of the system, and what to import of them."""
_ASK = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, "\\t", error)
"""


def problems(environment: Environment | None, kernel: Registered | None) -> Iterator[Cause]:
    """What can be seen without starting anything; `environment` is None where its folder is gone."""
    if environment is None:
        prefix = kernel.prefix if kernel is not None else ""
        yield Cause(code="environment-gone", values={"path": prefix, "spec": kernel.spec if kernel else None})
        return
    python = os.path.join(environment.path, "bin", "python")
    values = {"path": environment.path, "name": environment.name, "python": python}
    if not os.path.exists(python) and (environment.python is not None or not environment.kernels):
        yield Cause(code="python-gone", values=values, evidence=_links(python))
    elif environment.python is not None and not environment.has_ipykernel:
        yield Cause(code="ipykernel-missing", values=values)
    if kernel is not None and kernel.version != __version__:
        yield Cause(code="kernel-outdated", values={**values, "spec": kernel.spec, "version": kernel.version})


def examine(environment: Environment, packages: frozenset[str]) -> Iterator[Cause]:
    """What only its own Python can tell; runs it, with a limit of time for each question."""
    python = os.path.join(environment.path, "bin", "python")
    values = {"path": environment.path, "name": environment.name, "python": python}
    wanted = ["ipykernel", *dict.fromkeys(module for name, module in TRIED.items() if name in packages)]
    try:
        out = subprocess.run(
            [python, "-I", "-c", _ASK, *wanted],
            capture_output=True, text=True, errors="replace", timeout=SECONDS, stdin=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        yield Cause(code="python-hangs", values={**values, "seconds": SECONDS})
        return
    except OSError as error:
        code = "python-wrong-arch" if error.errno == 8 else "python-gone"
        yield Cause(code=code, values=values, evidence=(f"{python}: {error.strerror}",))
        return
    if out.returncode != 0:
        yield Cause(code="python-broken", values=values, evidence=tuple(out.stderr.strip().splitlines()[-LINES:]))
    for line in out.stdout.splitlines():
        module, _, said = (part.strip() for part in line.partition("\t"))
        yield _import_cause(module, said, values)


def _import_cause(module: str, said: str, values: dict[str, str]) -> Cause:
    library, _, rest = said.partition(": ")
    if "cannot open shared object file" in rest:
        return Cause(code="library-missing", form="kernel-library-missing",
                     values={**values, "module": module, "library": library}, evidence=(said,))  # fmt: skip
    code = "ipykernel-missing" if module == "ipykernel" else "module-broken"
    return Cause(code=code, values={**values, "module": module}, evidence=(said,))


def _links(path: str) -> tuple[str, ...]:
    """Where a link that leads nowhere points."""
    return (f"{path} -> {os.readlink(path)}",) if os.path.islink(path) else ()
