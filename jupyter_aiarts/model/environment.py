"""A Python environment on this machine, and the kernelspec that stands for it."""

# Annotations are values: see spec.py.

from typing import Literal

from msgspec import Struct, field

from jupyter_aiarts.model.job import Explanation


class Environment(Struct, frozen=True, kw_only=True):
    """What its files tell; `python` is None where it has none."""

    name: str
    path: str
    kind: Literal["conda", "venv"]
    owner: str
    python: str | None = None
    has_ipykernel: bool = False
    kernels: tuple[str, ...] = ()  # kernelspecs of its own that are not Python's: R, Julia
    frameworks: dict[str, str] = field(default_factory=dict)


class OwnKernel(Struct, frozen=True, kw_only=True):
    """A kernelspec that came with an environment's packages: R's, Julia's."""

    name: str
    argv: tuple[str, ...]
    display_name: str
    language: str
    interrupt_mode: Literal["signal", "message"] = "signal"
    env: dict[str, str] = field(default_factory=dict)


class Registered(Struct, frozen=True, kw_only=True):
    """A kernelspec of ours."""

    spec: str  # its name, as Jupyter knows it
    display_name: str
    folder: str
    prefix: str
    scope: Literal["global", "user"]
    version: str = ""  # of this package, when it was written
    kernel: str = ""  # the environment's own kernelspec that it starts; empty for Python's


class ShownKernel(Struct, frozen=True, kw_only=True):
    """An environment as every door shows it, with the kernel that stands for it, if any, and what is wrong with it."""

    name: str
    path: str
    kind: str
    owner: str
    python: str | None
    registered: Literal["global", "user"] | None
    spec: str | None = None
    display_name: str | None = None
    specs: tuple[str, ...] = ()  # all its kernels here; `spec` is the first
    kernels: tuple[str, ...] = ()
    frameworks: dict[str, str] = field(default_factory=dict)
    problems: tuple[Explanation, ...] = ()


class KernelRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which environment, by its folder, its name or its kernel's, and for whom."""

    which: str
    scope: Literal["global", "user"] = "global"


class KernelSize(Struct, frozen=True, kw_only=True):
    """How much disk an environment takes. Not `complete`: looking was given up, and it is more than that.

    Files that are linked into other environments too, as conda does it, count once here and once there.
    """

    path: str
    bytes: int
    files: int
    complete: bool
