"""Environments and their kernels as all doors show and name them: from what was found to rows of a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from jupyter_aiarts.errors import BadRequest, NotFound
from jupyter_aiarts.explain import explain
from jupyter_aiarts.kernelspecs import health
from jupyter_aiarts.kernelspecs.contents import is_text, read
from jupyter_aiarts.kernelspecs.owner import owner_of
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.environment import Environment, Registered, ShownKernel


class Known(Struct, frozen=True, dict=True):
    """What one look found."""

    environments: tuple[Environment, ...]
    kernels: tuple[Registered, ...]

    def kernels_of(self, path: str) -> tuple[Registered, ...]:
        """Its kernels here, one's own before everybody's, as Jupyter takes them, Python's first."""
        return self.by_folder.get(path, ())

    def titles_unseen(self) -> list[str]:
        """What kernels are called whose environments cannot be seen here: another user's, in a home that is closed."""
        seen = {one.path for one in self.environments}
        return [one.display_name for folder, kernels in self.by_folder.items() if folder not in seen for one in kernels]

    @cached_property
    def by_folder(self) -> dict[str, tuple[Registered, ...]]:
        """Kernels by the folder of their environment, links followed: once for all of them, and not where the folder is
        known to be no link."""
        found: dict[str, list[Registered]] = {}
        real = {one.path for one in self.environments}
        for one in self.kernels:
            folder = one.prefix if one.prefix in real else os.path.realpath(one.prefix)
            found.setdefault(folder, []).append(one)
        return {folder: tuple(sorted(kernels, key=_taken)) for folder, kernels in found.items()}


def _taken(one: Registered) -> tuple[bool, str]:
    return one.scope != "user", one.kernel


def row(
    one: Environment, kernels: Sequence[Registered], title: str, lang: str, seen: Iterable[Cause] | None = None
) -> ShownKernel:
    """An environment; `seen` is what is wrong with it where more than its files was asked."""
    kernel = kernels[0] if kernels else None
    causes = health.problems(one, kernels) if seen is None else seen
    return ShownKernel(
        name=one.name,
        path=one.path,
        kind=one.kind,
        owner=one.owner,
        python=one.python,
        registered=kernel.scope if kernel is not None else None,
        spec=kernel.spec if kernel is not None else None,
        display_name=kernel.display_name if kernel is not None else title,
        specs=tuple(each.spec for each in kernels),
        kernels=one.kernels,
        frameworks=one.frameworks,
        problems=tuple(explain(cause, lang) for cause in causes),
    )


def orphan(kernel: Registered, lang: str) -> ShownKernel:
    """A kernel whose environment is not there any more, as far as this user can see; which of the forms it has, `kind`
    says."""
    [cause] = health.problems(None, [kernel])
    return ShownKernel(
        name=os.path.basename(kernel.prefix),
        path=kernel.prefix,
        kind=cause.form.removeprefix("environment-") or "gone",
        owner="",
        python=None,
        registered=kernel.scope,
        spec=kernel.spec,
        specs=(kernel.spec,),
        display_name=kernel.display_name,
        problems=(explain(cause, lang),),
    )


def named(
    which: str, known: Known, also_paths: bool = False, trusted: Iterable[str] | None = None
) -> Environment | Registered:
    """The one that has this kernel name, folder or name; with `also_paths` a folder that nobody had named yet; then a
    kernel whose environment had that folder or name. A name means one's own, then everybody's; where `trusted` folders
    are given, since something of it is to be run, somebody else's is not meant by its name: anybody can call theirs as
    they like."""
    if "\0" in which or not is_text(which):
        raise NotFound("No environment or kernel can be called that.", "See: aiarts kernels").in_chinese(
            "环境或内核不可能叫这个名字。", "查看全部：aiarts kernels"
        )
    real = os.path.realpath(os.path.expanduser(which)) if "/" in which else ""
    by_spec = [one for one in known.kernels if one.spec == which]
    real = os.path.realpath(by_spec[0].prefix) if by_spec else real
    found = [one for one in known.environments if real == one.path]
    found = found or _nearest(which, _called(which, known), trusted)
    if len(found) > 1:
        paths = ", ".join(one.path for one in found[:5])
        raise BadRequest(
            f"{which!r} names {len(found)} environments: {paths}.", "Give the folder of one of them."
        ).in_chinese(f"有 {len(found)} 个环境都叫 {which!r}：{paths}。", "请给出其中一个的文件夹。")
    if found:
        return found[0]
    if by_spec:
        return by_spec[0]
    if also_paths and real and (os.path.isdir(f"{real}/conda-meta") or os.path.isfile(f"{real}/pyvenv.cfg")):
        return read(real)
    left = _left(which, real, known)
    if left:
        return left[0]
    raise NotFound(f"No environment or kernel is called {which[:200]!r}.", "See: aiarts kernels").in_chinese(
        f"没有叫 {which[:200]!r} 的环境或内核。", "查看全部：aiarts kernels"
    )


def _left(which: str, real: str, known: Known) -> tuple[Registered, ...]:
    """The kernels of one environment that is gone, which had this folder or this name; several of that name are told
    apart by their kernels' own."""
    there = {one.path for one in known.environments}
    gone = {path: kernels for path, kernels in known.by_folder.items() if path not in there}
    if real:
        return gone.get(real, ())
    called = [kernels for kernels in gone.values() if os.path.basename(kernels[0].prefix) == which]
    if len(called) > 1:
        specs = ", ".join(kernels[0].spec for kernels in called[:5])
        raise BadRequest(
            f"The environments of {len(called)} kernels were called {which!r}: {specs}.", "Give one of these names."
        ).in_chinese(f"有 {len(called)} 个内核的环境都曾叫 {which!r}：{specs}。", "请给出其中一个的名称。")
    return called[0] if called else ()


def _called(which: str, known: Known) -> list[Environment]:
    """Those with this name; `base` is what conda calls an installation's own."""
    found = [one for one in known.environments if one.name == which]
    if not found and which == "base":
        found = [one for one in known.environments if os.path.isdir(f"{one.path}/condabin")]
    return found


def _nearest(which: str, found: list[Environment], trusted: Iterable[str] | None) -> list[Environment]:
    """One's own, else everybody's, else others', where those will do."""
    folders = tuple(os.path.realpath(folder) for folder in trusted or ())
    ranks = {one.path: _distance(one.path, folders) for one in found}
    nearest = [one for one in found if ranks[one.path] == min(ranks.values())]
    if trusted is None or not nearest or ranks[nearest[0].path] < 2:
        return nearest
    whose = ", ".join(f"{one.path} ({one.owner})" for one in nearest[:5])
    raise BadRequest(
        f"{which!r} is neither yours nor everybody's: {whose}.", f"Give its folder if you mean it: {nearest[0].path}"
    ).in_chinese(f"{which!r} 既不是您的，也不是公用的：{whose}。", f"如确实要用，请给出其文件夹：{nearest[0].path}")


def _distance(path: str, folders: Iterable[str]) -> int:
    """0 for one's own, 1 for root's and those that the admin named, 2 for anybody else's."""
    try:
        owner = owner_of(path)
    except OSError:
        owner = None
    if owner is not None and owner[0] == os.geteuid():
        return 0
    is_named = any(f"{path}/".startswith(f"{folder.rstrip('/')}/") for folder in folders)
    return 1 if is_named or (owner is not None and owner[0] == 0) else 2
