"""Where a path is visible and why it "does not exist": a pure judgement over the path map.

Files are looked at through the two functions that come in, so that the same rules are tested on a table of names. What
is found is language-neutral; `explain.words.paths` has the sentences.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from jupyter_aiarts.model.places import Look, Place, Walk, below, covering, from_export, joined, walk

Names = Callable[[str], Sequence[str]]
"""The names in a folder of this server; none where it cannot be listed."""

MACHINE = Place(name="machine", cluster="", kind="machine", pod="/", here="/")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))", re.ASCII)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
MOST_FOLDERS = 3


class View(Struct, frozen=True, kw_only=True):
    """A path as one side has it; `form` names the sentence."""

    where: Literal["server", "pod", "node"]
    form: str
    cluster: str | None = None
    path: str | None = None
    visible: bool | None = None
    place: Place | None = None


class Reason(Struct, frozen=True, kw_only=True):
    """Why a path does not exist where it is looked for, and what to write instead where that is known."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)
    write: str | None = None


class Whereabouts(Struct, frozen=True, kw_only=True):
    """What there is to say about one path."""

    path: str
    visible: bool | None
    views: tuple[View, ...]
    reasons: tuple[Reason, ...]

    @property
    def write(self) -> str | None:
        """What to write instead: the first that is known."""
        return next((one.write for one in self.reasons if one.write is not None), None)


class Question(Struct, frozen=True, kw_only=True):
    """A path as somebody wrote it, the folder that relative ones are looked for in, and whom it is asked about."""

    text: str
    folder: str = "/"
    home: str = "/"
    variables: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None


def judge(asked: Question, places: Sequence[Place], look: Look, names: Names) -> Whereabouts:
    """Where a path is visible, on this server and in the pods of one cluster or of all."""
    path, reasons = _meant(asked, look)
    is_meant = path == whole(asked.text, asked)
    here = walk(path, (MACHINE,), look)
    if not asked.text.startswith(("/", "~")) and not reasons and (here.found is not True or asked.cluster):
        reasons.append(Reason(code="relative", values={"folder": asked.folder, "path": path}))
    views = [View(where="server", form="here" if here.found else "not-here", path=path, visible=here.found)]
    pods: list[tuple[list[View], list[Reason]]] = []
    for cluster in dict.fromkeys(one.cluster for one in places):
        mine = [one for one in places if one.cluster == cluster]
        if cluster == asked.cluster or (asked.cluster is None and mine[0].kind != "machine"):
            pods.append(in_pods(path, here, mine, look, names))
    if here.found is False and asked.cluster is None:
        reasons += [*_other_side(path, places, look), *lacking(path, MACHINE, look, names)]
    for seen, why in pods:
        views += seen
        reasons += why
    told = [view for view in views if view.where == ("server" if asked.cluster is None else "pod")]
    visible = told[0].visible if told and is_meant else False
    if visible is True and asked.cluster is None:
        reasons = [one for one in reasons if one.code == "link-outside"]  # nobody asked about pods: the views say it
    return Whereabouts(path=path, visible=visible, views=tuple(views), reasons=tuple(reasons))


def _meant(asked: Question, look: Look) -> tuple[str, list[Reason]]:
    """The path that is meant, and what is wrong with how it was written; what exists as it is written is meant."""
    path = whole(asked.text, asked)
    if walk(path, (MACHINE,), look).found is True:
        return path, []
    better, reasons = as_written(asked)
    if better is None:
        return path, reasons
    fixed = whole(better, asked)
    # full-width characters are at home in names; only a file that is there shows that they were not meant
    if any(one.code == "full-width" for one in reasons) and walk(fixed, (MACHINE,), look).found is not True:
        return path, []
    return fixed, reasons


def whole(text: str, asked: Question) -> str:
    """The path from the root on; `~` is the home of whoever runs this server."""
    if text == "~" or text.startswith("~/"):
        text = asked.home + text[1:]
    found = posixpath.normpath(posixpath.join(asked.folder, text))
    return "/" + found.lstrip("/")


# -- as it is written ----------------------------------------------------------------------------------------------


def as_written(asked: Question) -> tuple[str | None, list[Reason]]:
    """What was probably meant by a text that is no path as it stands, and why it is none."""
    text = asked.text
    if _WINDOWS.match(text):
        return None, [Reason(code="windows", values={"path": text})]
    if _ADDRESS.match(text):
        return None, [Reason(code="address", values={"path": text})]
    reasons: list[Reason] = []
    known = asked.variables
    steps: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("invisible", lambda one: _INVISIBLE.sub("", one)),
        ("full-width", lambda one: "".join(_narrow(char) for char in one)),
        ("space", str.strip),
        ("variable", lambda one: _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match[0]), one)),
    )
    for code, step in steps:
        better = step(text)
        if better != text and better:
            reasons.append(Reason(code=code, values={"path": asked.text}, write=better))
            text = better
    if _VARIABLE.search(text) and not any(one.code == "variable" for one in reasons):
        reasons.append(Reason(code="variable", values={"path": asked.text}))
    # the last has all that was changed before it
    final = text if text != asked.text else None
    return final, [Reason(code=one.code, values=one.values, write=final) for one in reasons]


def _narrow(char: str) -> str:
    """The plain form of a full-width character: what an input method leaves in a path."""
    return unicodedata.normalize("NFKC", char) if "\uff01" <= char <= "\uff5e" or char == "\u3000" else char


def lacking(path: str, place: Place, look: Look, names: Names) -> list[Reason]:
    """What stands where a path of this place breaks off: a name that differs in what the eye does not see."""
    at = place.here or "/"
    for part in [part for part in (below(path, place.pod) or "").split("/") if part]:
        there = look(posixpath.join(at, part))
        if there is False:
            code, twin = _twin(part, names(at))
            if twin is None:
                return []
            folder = joined(place.pod, below(at, place.here or "/") or "")
            rest = below(path, posixpath.join(folder, part)) or ""
            values = {"folder": folder, "name": twin}
            return [Reason(code=code, values=values, write=joined(posixpath.join(folder, twin), rest))]
        at = posixpath.join(at, part)
    return []


def _twin(name: str, others: Iterable[str]) -> tuple[str, str | None]:
    known = [other for other in others if other != name]
    keys: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("twin-form", lambda text: unicodedata.normalize("NFC", text)),
        ("twin-case", str.casefold),
        ("twin-space", str.strip),
        ("twin-look", lambda text: _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).strip().casefold()),
    )
    for code, key in keys:
        twin = next((other for other in known if key(other) == key(name)), None)
        if twin is not None:
            return code, twin
    return "", None


# -- in pods -------------------------------------------------------------------------------------------------------


def in_pods(
    path: str, here: Walk, places: Sequence[Place], look: Look, names: Names
) -> tuple[list[View], list[Reason]]:
    """How the pods of one cluster see a path of this server, of pods, of nodes or of an NFS server."""
    cluster = places[0].cluster
    target, reasons = _in_pod_words(path, here, places)
    if target is None:
        return [View(where="pod", form="pod-none", cluster=cluster, visible=False)], [_no_mount(path, places)]
    there = walk(target, places, look)
    if there.found is None and there.place is None:
        return [View(where="pod", form="pod-none", cluster=cluster, visible=False)], [_gone(path, here, there, places)]
    form = {True: "pod-same" if target == path else "pod-other", False: "pod-missing", None: "pod-unknown"}[there.found]
    view = View(where="pod", form=form, cluster=cluster, path=target, visible=there.found, place=there.place)
    if there.found is False and there.place is not None:
        reasons += lacking(target, there.place, look, names)
    return [view, *_on_nodes(target, places)], reasons


def _in_pod_words(path: str, here: Walk, places: Sequence[Place]) -> tuple[str | None, list[Reason]]:
    """The path that a pod would have to be given, and why it is another one than was written."""
    cluster = places[0].cluster
    ours, theirs = covering(path, places, "here"), covering(path, places, "pod")
    if ours is not None and (here.found is not False or theirs is None):
        target = joined(ours[0].pod, ours[1])
        values = {"path": path, "cluster": cluster}
        return target, [] if target == path else [Reason(code="other-side-here", values=values, write=target)]
    if theirs is not None:
        return path, []
    for code, found in (
        ("other-side-node", covering(path, places, "node")),
        ("other-side-export", from_export(path.lstrip("/"), places)),
    ):
        if found is not None:
            target = joined(found[0].pod, found[1])
            return target, [Reason(code=code, values={"path": path, "cluster": cluster}, write=target)]
    return None, []


def _gone(path: str, here: Walk, there: Walk, places: Sequence[Place]) -> Reason:
    """A path that leaves the mounts: by a link, or because none was ever there."""
    if there.link is None:
        return _no_mount(path, places)
    link, leads_to = there.link
    values = {"link": link, "target": leads_to, "cluster": places[0].cluster}
    real = covering(here.at, places, "here") if here.found else None
    return Reason(code="link-outside", values=values, write=joined(real[0].pod, real[1]) if real else None)


def _no_mount(path: str, places: Sequence[Place]) -> Reason:
    values = {"path": path, "cluster": places[0].cluster}
    folders = [one.here for one in places if one.here is not None and one.kind != "pod"][:MOST_FOLDERS]
    if not folders:
        return Reason(code="no-mount", values=values)
    return Reason(code="no-mount-but", values={**values, "folders": ", ".join(dict.fromkeys(folders))})


def _on_nodes(target: str, places: Sequence[Place]) -> list[View]:
    """The same file on a node, or by its address on the NFS server or in the claim."""
    found = covering(target, places, "pod")
    if found is None or found[0].kind not in ("host", "nfs", "claim"):
        return []
    place, rest = found
    path = joined(place.node if place.kind == "host" and place.node else place.source, rest)
    return [View(where="node", form=f"on-{place.kind}", cluster=place.cluster, path=path, place=place)]


def _other_side(path: str, places: Sequence[Place], look: Look) -> list[Reason]:
    """A path of pods or nodes that was looked for on this server."""
    for side, code in (("pod", "other-side-pod"), ("node", "other-side-nodes-here")):
        found = covering(path, [one for one in places if one.kind not in ("machine", "pod")], side)  # type: ignore[arg-type]
        if found is None:
            continue
        place, rest = found
        values = {"path": path, "cluster": place.cluster}
        if place.here is None:
            return [Reason(code="other-side-unseen", values=values)]
        return [Reason(code=code, values=values, write=joined(place.here, rest))]
    return []
