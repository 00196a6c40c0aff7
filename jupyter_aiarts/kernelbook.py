"""Every environment of this machine and the kernels that stand for them, for all doors alike.

Disks are slow at times, so everything here is done in threads; what is read is kept by `Discovery`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Iterable, Mapping

from msgspec import Struct

from jupyter_aiarts.errors import BadRequest, NotFound
from jupyter_aiarts.explain import explain
from jupyter_aiarts.kernelspecs import health
from jupyter_aiarts.kernelspecs.build import display_names
from jupyter_aiarts.kernelspecs.discover import Discovery, packages, read
from jupyter_aiarts.kernelspecs.install import Folders, Scope, register, registered, unregister
from jupyter_aiarts.kernelspecs.places import homes, places
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.environment import Environment, Registered, ShownKernel

LONGEST_LINE = 2000


class KernelSettings(Struct, frozen=True, kw_only=True):
    """The admin's `Kernels.*`."""

    directory: str = ""
    folders: tuple[str, ...] = ()


class _Known(Struct, frozen=True):
    environments: tuple[Environment, ...]
    kernels: tuple[Registered, ...]

    def kernel_of(self, path: str) -> Registered | None:
        return next((one for one in self.kernels if os.path.realpath(one.prefix) == path), None)


class KernelBook:
    """Made by the server, one per process, and by the command line, one per call."""

    def __init__(self, settings: KernelSettings | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings or KernelSettings()
        self._environ = os.environ if environ is None else environ
        self._discovery = Discovery()

    async def all(self, lang: str = "en") -> list[ShownKernel]:
        """Every environment, by name, then the kernels whose environment is gone."""
        return await asyncio.to_thread(lambda: self._shown(self._look(), lang))

    async def register(self, which: str, scope: Scope, lang: str = "en") -> ShownKernel:
        """Make a kernel of an environment, for everybody or for this user; raises `NotAllowed` with what an admin
        can do."""
        return await asyncio.to_thread(self._register, which, scope, lang)

    async def unregister(self, which: str) -> Registered:
        """Remove a kernel of ours."""
        return await asyncio.to_thread(self._unregister, which)

    async def repair(self, which: str, lang: str = "en") -> AsyncGenerator[str, None]:
        """Do what can be done about a kernel's problems, and tell it line by line; ends with the installer's own
        process when nobody listens any more."""
        known = await asyncio.to_thread(self._look)
        one = _named(which, known)
        if isinstance(one, Registered):  # without its environment nothing can be done for it
            await asyncio.to_thread(unregister, one)
            yield f"{one.spec}: removed, because {one.prefix} is gone."
            return
        if one.python is not None and not one.has_ipykernel:
            async with contextlib.aclosing(_installed(one)) as lines:  # so that it ends when nobody listens any more
                async for line in lines:
                    yield line
        kernel = known.kernel_of(one.path)
        if kernel is not None:
            await asyncio.to_thread(self._register, one.path, kernel.scope, lang)
            yield f"{kernel.spec}: written again."

    async def doctor(self, which: str, lang: str = "en") -> ShownKernel:
        """One kernel, with what its Python itself has to say."""
        return await asyncio.to_thread(self._examined, which, lang)

    # -- in a thread -------------------------------------------------------------------------------------------------

    def _look(self) -> _Known:
        kernels = registered(self._folders())
        extra = [*self._settings.folders, *(one.prefix for one in kernels)]
        everyone = self._discovery.find(places(self._environ, homes(everybody=True), extra))
        return _Known(everyone, kernels)

    def _folders(self) -> Folders:
        return Folders(self._settings.directory)

    def _shown(self, known: _Known, lang: str) -> list[ShownKernel]:
        titles = display_names(known.environments)
        rows = [_row(one, known.kernel_of(one.path), titles[one.path], lang) for one in known.environments]
        there = {one.path for one in known.environments}
        orphans = [one for one in known.kernels if os.path.realpath(one.prefix) not in there]
        return [*rows, *(_orphan(one, lang) for one in orphans)]

    def _register(self, which: str, scope: Scope, lang: str) -> ShownKernel:
        known = self._look()
        one = _named(which, known, also_paths=True)
        if isinstance(one, Registered):
            raise NotFound(f"{one.prefix} is gone.", f"Remove its kernel: aiarts kernels unregister {one.spec}")
        if one.python is None:
            raise BadRequest(f"{one.path} has no Python.", "Only environments with a Python can be registered.")
        titles = display_names({**{each.path: each for each in known.environments}, one.path: one}.values())
        return _row(one, register(one, titles[one.path], scope, self._folders()), titles[one.path], lang)

    def _unregister(self, which: str) -> Registered:
        known = self._look()
        one = _named(which, known)
        kernel = one if isinstance(one, Registered) else known.kernel_of(one.path)
        if kernel is None:
            raise NotFound(f"{which} is not registered.", "See: aiarts kernels")
        unregister(kernel)
        return kernel

    def _examined(self, which: str, lang: str) -> ShownKernel:
        known = self._look()
        one = _named(which, known, also_paths=True)
        if isinstance(one, Registered):
            return _orphan(one, lang)
        kernel = known.kernel_of(one.path)
        seen = list(health.problems(one, kernel))
        if not any(cause.code in ("python-gone", "ipykernel-missing") for cause in seen):
            seen += health.examine(one, packages(one.path))
        title = display_names(known.environments).get(one.path, one.name)
        return _row(one, kernel, title, lang, seen)


def _row(
    one: Environment, kernel: Registered | None, title: str, lang: str, seen: Iterable[Cause] | None = None
) -> ShownKernel:
    causes = health.problems(one, kernel) if seen is None else seen
    return ShownKernel(
        name=one.name,
        path=one.path,
        kind=one.kind,
        owner=one.owner,
        python=one.python,
        registered=kernel.scope if kernel is not None else None,
        spec=kernel.spec if kernel is not None else None,
        display_name=kernel.display_name if kernel is not None else title,
        kernels=one.kernels,
        frameworks=one.frameworks,
        problems=tuple(explain(cause, lang) for cause in causes),
    )


def _orphan(kernel: Registered, lang: str) -> ShownKernel:
    """A kernel whose environment is not there any more."""
    return ShownKernel(
        name=os.path.basename(kernel.prefix),
        path=kernel.prefix,
        kind="gone",
        owner="",
        python=None,
        registered=kernel.scope,
        spec=kernel.spec,
        display_name=kernel.display_name,
        problems=tuple(explain(cause, lang) for cause in health.problems(None, kernel)),
    )


def _named(which: str, known: _Known, also_paths: bool = False) -> Environment | Registered:
    """The one that has this kernel name, folder or name; with `also_paths` a folder that nobody had named yet."""
    real = os.path.realpath(os.path.expanduser(which)) if "/" in which else ""
    by_spec = [one for one in known.kernels if one.spec == which]
    found = [one for one in known.environments if real == one.path or (by_spec and by_spec[0].prefix == one.path)]
    found = found or [one for one in known.environments if one.name == which]
    if len(found) > 1:
        paths = ", ".join(one.path for one in found[:5])
        raise BadRequest(f"{which!r} names {len(found)} environments: {paths}.", "Give the folder of one of them.")
    if found:
        return found[0]
    if by_spec:
        return by_spec[0]
    if also_paths and real and (os.path.isdir(f"{real}/conda-meta") or os.path.isfile(f"{real}/pyvenv.cfg")):
        return read(real)
    raise NotFound(f"No environment or kernel is called {which[:200]!r}.", "See: aiarts kernels")


async def _installed(one: Environment) -> AsyncGenerator[str, None]:
    """Install ipykernel into an environment, line by line; raises `BadRequest` with the command that failed."""
    command = [
        os.path.join(one.path, "bin", "python"),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "ipykernel",
    ]
    child = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    last = ""
    try:
        assert child.stdout is not None
        async for raw in child.stdout:
            last = raw.decode("utf-8", "replace").rstrip()[:LONGEST_LINE] or last
            yield last
        if await child.wait() != 0:
            line = " ".join(command)
            raise BadRequest(f"ipykernel could not be installed into {one.name}: {last}", f"What was tried: {line}")
    finally:
        if child.returncode is None:  # nobody listens any more
            child.kill()
            await child.wait()
