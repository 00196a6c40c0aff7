"""Every environment of this machine and the kernels that stand for them, for all doors alike.

Disks are slow at times, so everything here is done in threads; what is read is kept by `Discovery`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from jupyter_aiarts._version import __version__
from jupyter_aiarts.errors import AiartsError, BadRequest, Conflict, NotAllowed, NotFound
from jupyter_aiarts.kernelrows import Known, named, orphan, row
from jupyter_aiarts.kernelspecs import health
from jupyter_aiarts.kernelspecs.build import display_names
from jupyter_aiarts.kernelspecs.contents import own_kernels, packages
from jupyter_aiarts.kernelspecs.discover import Discovery
from jupyter_aiarts.kernelspecs.install import DIRECTORY, Folders, Scope, Shelf, register_all, unregister
from jupyter_aiarts.kernelspecs.places import Places, homes, places
from jupyter_aiarts.kernelspecs.running import Installers
from jupyter_aiarts.kernelthreads import Threads
from jupyter_aiarts.model.environment import Environment, KernelSize, Registered, ShownKernel

FRESH = 120.0  # seconds after a change in which every look is a whole one: an environment is not made in a moment
MOMENT = 2.0  # seconds in which a program that is removed alone, and not with its package, is not missed
GLANCE = 30.0  # seconds between whole looks while nothing changes


class KernelSettings(Struct, frozen=True, kw_only=True):
    """The admin's `Kernels.*`."""

    directory: str = ""
    folders: tuple[str, ...] = ()
    auto_register: bool = False


class Deed(Struct, frozen=True, kw_only=True):
    """What was done without being asked for, or could not be."""

    action: str  # as the audit log names it
    path: str
    spec: str = ""
    scope: Scope = "global"
    problem: str = ""


class KernelBook:
    """Made by the server, one per process, and by the command line, one per call."""

    def __init__(self, settings: KernelSettings | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._settings = settings or KernelSettings()
        self._environ = os.environ if environ is None else environ
        self._discovery = Discovery()
        self._threads = Threads()
        self._installers = Installers()
        self._places: Places | None = None
        self._titled: tuple[tuple[Environment, ...], dict[str, str]] = ((), {})
        self._known = Known((), ())  # the same while nothing changes
        self._rows: tuple[Known | None, str, float, list[ShownKernel]] = (None, "", 0.0, [])
        self._people: tuple[float, list[str]] = (0.0, [])
        self._told: Known | None = None  # what whoever watches was last told of
        self._marks: tuple[float, ...] = ()
        self._fresh_until = 0.0
        self._glance_at = 0.0
        self._installing: set[str] = set()

    async def all(self, lang: str = "en") -> list[ShownKernel]:
        """Every environment, by name, then the kernels whose environment is gone."""
        return await self._threads.soon(lambda: self._shown(self._look(), lang))

    async def register(self, which: str, scope: Scope, lang: str = "en") -> ShownKernel:
        """Make a kernel of an environment, for everybody or for this user; raises `NotAllowed` with what an admin
        can do."""
        return await self._threads.do(self._register, which, scope, lang)

    async def unregister(self, which: str) -> Registered:
        """Remove a kernel of ours."""
        return await self._threads.do(self._unregister, which)

    async def repair(self, which: str, lang: str = "en") -> AsyncGenerator[str, None]:
        """Do what can be done about a kernel's problems, and tell it line by line; ends with the installer's own
        process when nobody listens any more."""
        from jupyter_aiarts.kernelspecs.installer import command_for, installed

        known = await self._threads.do(self._look)
        one = await self._threads.do(named, which, known, True, self._settings.folders)
        if isinstance(one, Registered):  # without its environment nothing can be done for it
            if not await self._threads.do(health.is_gone, one.prefix):
                raise await self._threads.do(_gone, one)
            for kernel in _meant(which, one, known):
                await self._threads.do(unregister, kernel)
                said = f"{kernel.spec}：已移除，因为 {one.prefix} 已不存在。"
                yield said if lang == "zh" else f"{kernel.spec}: removed, because {one.prefix} is gone."
            return
        done = False
        kernels = known.kernels_of(one.path)
        if health.lacks_ipykernel(one, kernels):
            command = command_for(one, await self._threads.do(packages, one.path), self._environ)
            with self._alone(one):
                heard = self._installers.heard(installed(one, command))
                async with contextlib.aclosing(heard) as lines:  # ends when nobody listens any more
                    async for line in lines:
                        yield line
            done = True
        for kernel in await self._threads.do(health.no_longer, one, kernels):
            await self._threads.do(unregister, kernel)
            kernels = tuple(each for each in kernels if each != kernel)
            said = f"{kernel.spec}：已移除，因为 {kernel.kernel} 已不存在。"
            yield said if lang == "zh" else f"{kernel.spec}: removed, because {kernel.kernel} is gone."
        for scope in dict.fromkeys(kernel.scope for kernel in kernels):
            try:
                specs = (await self._threads.do(self._register, one.path, scope, lang)).specs
            except NotAllowed as error:
                old = [kernel.spec for kernel in kernels if kernel.scope == scope and kernel.version != __version__]
                if old and not done:
                    raise
                for spec in old:  # of one that is as it should be, there is nothing to tell
                    yield _left(spec, error, lang)
                continue
            for spec in specs:
                yield f"{spec}：已重新写入。" if lang == "zh" else f"{spec}: written again."

    async def aclose(self) -> None:
        """End what is being installed, and let it clean up; called by the server when it stops."""
        await self._installers.aclose()

    @contextlib.contextmanager
    def _alone(self, one: Environment) -> Iterator[None]:
        """Two installers at once would spoil an environment."""
        if one.path in self._installing:
            raise Conflict(f"ipykernel is being installed into {one.name} already.", "Wait for it.").in_chinese(
                f"正在将 ipykernel 安装到 {one.name}。", "请等待其完成。"
            )
        self._installing.add(one.path)
        try:
            yield
        finally:
            self._installing.discard(one.path)

    async def doctor(self, which: str, lang: str = "en") -> ShownKernel:
        """One kernel, with what its Python itself has to say."""
        return await self._threads.do(self._examined, which, lang)

    async def size(self, which: str) -> KernelSize:
        """How much disk an environment takes; whoever waits no more ends the looking."""
        from jupyter_aiarts.kernelspecs.size import size_of

        one = await self._threads.do(lambda: named(which, self._look(), also_paths=True))
        if isinstance(one, Registered):
            raise _gone(one)
        cancelled = threading.Event()
        try:
            return await self._threads.do(size_of, one.path, cancelled)
        finally:
            cancelled.set()

    async def folder_of(self, which: str) -> str:
        """The folder of the environment with this name or kernel; raises `NotFound`, `BadRequest`."""
        return await self._threads.soon(self._folder_of, which)

    async def has_news(self) -> bool:
        """Whether environments or kernels are others than when this was last asked; called by `KernelWatch`."""
        return await self._threads.soon(self._has_news)

    async def tend(self, memory: Path) -> list[Deed]:
        """Make kernels of new environments and remove those without one, as `auto_register` asks for."""
        return await self._threads.do(self._tend, memory)

    # -- in a thread -------------------------------------------------------------------------------------------------

    def _look(self) -> Known:
        with self._threads.looking():
            return self._looked()

    def _looked(self) -> Known:
        kernels = self._shelf.registered()
        known = [one.prefix for one in kernels]
        self._places = places(self._environ, self._homes(), self._settings.folders, known)
        found = self._discovery.find(self._places)
        if found is not self._known.environments or kernels is not self._known.kernels:
            self._known = Known(found, kernels)
        return self._known

    def _folder_of(self, which: str) -> str:
        one = named(which, self._look(), True, self._settings.folders)
        if not isinstance(one, Registered):
            return one.path
        if one.spec != which:  # what comes to be there may be somebody else's
            raise _gone(one)
        return one.prefix

    def _homes(self) -> list[str]:
        """Everybody's; kept for a moment, since a directory service may take longer than all else here."""
        until, kept = self._people
        if time.monotonic() >= until:
            kept = homes(everybody=True)
            self._people = (time.monotonic() + MOMENT, kept)
        return kept

    def _titles(self, environments: tuple[Environment, ...]) -> dict[str, str]:
        """What people read, by path; made again when there are others."""
        if self._titled[0] is not environments:
            self._titled = (environments, display_names(environments))
        return self._titled[1]

    def _has_news(self) -> bool:
        """Files and folders that name environments are looked at every time; the environments themselves when one of
        those changed, for a while after, and now and then."""
        moment, marks = time.monotonic(), self._marks_now()
        if marks != self._marks:
            self._fresh_until = moment + FRESH
        elif moment >= self._fresh_until and moment < self._glance_at:
            return False
        self._glance_at = moment + GLANCE
        known = self._look()
        self._marks = self._marks_now()  # what is looked at may be others now
        news, self._told = self._told is not None and known != self._told, known
        if news:
            self._fresh_until = moment + FRESH
        return news

    def _marks_now(self) -> tuple[float, ...]:
        if self._places is None:
            return ()
        folders, known = (path for path, _ in self._folders.scopes()), self._places
        return tuple(_time(path) for path in (*known.lists, *known.holders, *known.absent, *folders))

    def _tend(self, memory: Path) -> list[Deed]:
        from jupyter_aiarts.kernelspecs.tending import Memory, stale, wanted

        kept, known = Memory(memory), self._look()
        before = kept.read()
        there = {path for path in before if os.path.lexists(path)}  # one that is made anew is new
        titles = display_names(known.environments, known.titles_unseen())
        new = wanted(known.environments, known.kernels, there, self._settings.folders)
        deeds = [_removed(one) for one in stale(known.kernels)] + [
            self._registered_alone(one, titles[one.path]) for one in new
        ]
        made = {deed.path for deed in deeds if not deed.problem}
        seen = {path for path in there | made | set(known.by_folder) if os.path.lexists(path)}
        if seen != before:
            try:
                kept.write(seen)
            except OSError as error:
                problem = f"{memory} cannot be written: {error.strerror}"
                deeds.append(Deed(action="register-kernel", path=str(memory), problem=problem))
        return deeds

    def _registered_alone(self, one: Environment, title: str) -> Deed:
        """For everybody where that may be written, else for this user."""
        scope: Scope = "global" if self._folders.may_write("global") else "user"
        try:
            made = self._made(one, title, scope, "en")
        except AiartsError as error:
            return Deed(action="register-kernel", path=one.path, scope=scope, problem=str(error))
        return Deed(action="register-kernel", path=one.path, spec=made.spec or "", scope=scope)

    @cached_property
    def _shelf(self) -> Shelf:
        return Shelf(self._folders)

    @cached_property
    def _folders(self) -> Folders:
        return Folders(self._settings.directory or self._environ.get(DIRECTORY, ""))

    def _shown(self, known: Known, lang: str) -> list[ShownKernel]:
        """Rows are kept while nothing changes, and for a moment: what they start is looked at for each."""
        of, spoken, until, rows = self._rows
        if of is not known or spoken != lang or time.monotonic() >= until:
            titles = self._titles(known.environments)
            rows = [row(one, known.kernels_of(one.path), titles[one.path], lang) for one in known.environments]
            there = {one.path for one in known.environments}
            alone = [one for path, kernels in known.by_folder.items() if path not in there for one in kernels]
            rows += [orphan(one, lang) for one in alone]
            self._rows = (known, lang, time.monotonic() + MOMENT, rows)
        return list(rows)

    def _register(self, which: str, scope: Scope, lang: str) -> ShownKernel:
        known = self._look()
        one = named(which, known, True, self._settings.folders)
        if isinstance(one, Registered):
            raise _gone(one)
        everyone = {**{each.path: each for each in known.environments}, one.path: one}
        titles = display_names(everyone.values(), known.titles_unseen())
        return self._made(one, titles[one.path], scope, lang)

    def _made(self, one: Environment, title: str, scope: Scope, lang: str) -> ShownKernel:
        """Its Python's kernel, where it has one or nothing else to offer, and those that its packages brought."""
        own = own_kernels(one)
        if one.python is None and not own:
            raise BadRequest(
                f"{one.path} has no Python.", "Only environments with a Python, or with a kernel of R or Julia, can be."
            ).in_chinese(f"{one.path} 中没有 Python。", "只有带 Python，或带 R、Julia 内核的环境才能注册为内核。")
        python = [None] if one.python is not None and (one.has_ipykernel or not own) else []
        made = register_all(one, title, scope, self._folders, [*python, *own])
        return row(one, made, title, lang)

    def _unregister(self, which: str) -> Registered:
        """The kernel of this name, or all of an environment; of one's own and everybody's, one's own alone: it is the
        one that is shown and used, and the other may not be this user's to remove."""
        known = self._look()
        exact = [one for one in known.kernels if one.spec == which]
        one = exact[0] if exact else named(which, known)
        kernels = _meant(which, one, known) if isinstance(one, Registered) else known.kernels_of(one.path)
        kernels = [kernel for kernel in kernels if kernel.scope == kernels[0].scope]
        if not kernels:
            raise NotFound(f"{which} is not registered.", "See: aiarts kernels").in_chinese(
                f"{which} 没有注册为内核。", "查看全部：aiarts kernels"
            )
        for kernel in kernels:
            unregister(kernel)
        return kernels[0]

    def _examined(self, which: str, lang: str) -> ShownKernel:
        known = self._look()
        one = named(which, known, True, self._settings.folders)
        if isinstance(one, Registered):
            return orphan(one, lang)
        kernels = known.kernels_of(one.path)
        seen = list(health.problems(one, kernels))
        asks = one.python is not None and (one.has_ipykernel or not one.kernels)
        seen += health.own_programs(one, own_kernels(one))
        if asks and not any(cause.code in ("python-gone", "ipykernel-missing") for cause in seen):
            seen += health.examine(one, packages(one.path))
        title = self._titles(known.environments).get(one.path, one.name)
        return row(one, kernels, title, lang, seen)


def _meant(which: str, one: Registered, known: Known) -> Sequence[Registered]:
    """The kernel of this name, or all that an environment left behind."""
    return [one] if one.spec == which else known.kernels_of(os.path.realpath(one.prefix))


def _left(spec: str, error: NotAllowed, lang: str) -> str:
    """Of a kernel that this user may not write again, where something else was done."""
    hint = error.as_dict(lang)["hint"]
    return (
        f"{spec}：只有管理员才能重新写入。{hint}"
        if lang == "zh"
        else f"{spec}: only an admin can write it again. {hint}"
    )


def _no_more(one: Registered) -> BadRequest:
    command = f"aiarts kernels unregister {one.spec}"
    error = BadRequest(
        f"{one.prefix} is there, but no environment is seen in it: it needs a conda-meta or pyvenv.cfg that can be "
        "read.",
        f"Mend it, or remove its kernel: {command}",
    )
    return error.in_chinese(
        f"{one.prefix} 存在，但其中看不到环境：需要可读取的 conda-meta 或 pyvenv.cfg。",
        f"请修复它，或移除其内核：{command}",
    )


def _gone(one: Registered) -> AiartsError:
    """Why nothing can be done with an environment that is not seen."""
    if health.is_hidden(one.prefix):
        hidden = NotAllowed(f"{one.prefix} may not be seen by you.", "Ask its owner, or an admin.")
        return hidden.in_chinese(f"您无权查看 {one.prefix}。", "请联系其所有者或管理员。")
    if not health.is_gone(one.prefix):
        return _no_more(one)
    command = f"aiarts kernels unregister {one.spec}"
    error = NotFound(f"{one.prefix} is gone.", f"Remove its kernel: {command}")
    return error.in_chinese(f"{one.prefix} 已不存在。", f"移除它的内核：{command}")


def _removed(one: Registered) -> Deed:
    """A kernel whose environment is gone goes too, where that may be."""
    try:
        unregister(one)
    except AiartsError as error:
        return Deed(action="unregister-kernel", path=one.prefix, spec=one.spec, scope=one.scope, problem=str(error))
    return Deed(action="unregister-kernel", path=one.prefix, spec=one.spec, scope=one.scope)


def _time(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
