"""What must be true between the keys of a spec, and inside values that a type alone cannot describe.

Each rule says the problems it sees, a key and a sentence for each. `RULES` says which keys a rule builds on:
it is left out when one of them already has a problem, because it would complain about a default.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from jupyter_aiarts.model.argv import path_arguments, render_arguments
from jupyter_aiarts.model.checking import Findings, label, shown, too_long
from jupyter_aiarts.model.placement import ring_shapes
from jupyter_aiarts.model.reserved import why_reserved
from jupyter_aiarts.model.spec import CPU, LOCAL, JobSpec
from jupyter_aiarts.model.wording import worded

MAX_TOTAL = 1_572_864
"""Arguments and variables together: 1.5 MiB of the 2 MiB that Linux gives, the rest is for what we add."""

_OVERHEAD = 9
"""Of each string, beside its own bytes: the closing NUL and a pointer."""

Say = Callable[[str, str], None]
Rule = Callable[[JobSpec, Say], None]
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CLAIM = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/.*)?", re.DOTALL)
_EXPORT = re.compile(r"(nfs://[^/\s]+|[^/\s:]+:)/.*", re.DOTALL)
_OBJECT = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")


def broken_rules(spec: JobSpec, secrets: Mapping[str, str], findings: Findings) -> None:
    """Note every rule that the spec breaks; `secrets` are the new values of its `secret_env`."""
    touched = findings.touched()
    for rule, keys in RULES:
        if touched.isdisjoint(keys):
            rule(spec, findings.add)
    _sizes(spec, secrets, findings.add)


def _name(spec: JobSpec, say: Say) -> None:
    if not spec.name.strip():
        say("name", "name holds only spaces. Give the job a name, or leave the key out.")
    if unreadable_in(spec.name):
        message = "name must not hold control characters or line breaks, and it is {value}."
        say("name", worded(message, value=shown(spec.name)))


def unreadable_in(name: str) -> bool:
    """Whether a name would not show as written: control characters, line and direction changes."""
    bidirectional = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return any(
        unicodedata.category(letter) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(letter) in bidirectional
        for letter in name
    )


def _start(spec: JobSpec, say: Say) -> None:
    if spec.script is None and spec.command is None:
        say("script", "There is nothing to run: give script a start file, or command a shell line.")
    if spec.script is not None and spec.command is not None:
        say("command", "script and command are both given, and a job has one start. Remove one of them.")


def _command_alone(spec: JobSpec, say: Say) -> None:
    for key in ("args", "params") if spec.command is not None else ():
        if getattr(spec, key):
            message = "{key} belongs to script and cannot be passed to command. Write it into the command line."
            say(key, worded(message, key=key))


def _kind(spec: JobSpec, say: Say) -> None:
    if spec.kind == "distributed" and spec.nodes < 2:
        say(
            "nodes",
            "A distributed job runs on two or more nodes. Set nodes to 2 or more, or kind to regular.",
        )
    if spec.kind == "regular" and spec.nodes > 1:
        say(
            "kind",
            worded(
                "A regular job has one node, and nodes is {nodes}. Set kind to distributed, or nodes to 1.",
                nodes=spec.nodes,
            ),
        )


def _cards(spec: JobSpec, say: Say) -> None:
    if spec.device == CPU and spec.devices:
        say(
            "device",
            worded(
                "devices asks for {cards} cards per node, and cpu has none. "
                "Set device to the kind of card you want, or leave devices out.",
                cards=spec.devices,
            ),
        )


def _shape(spec: JobSpec, say: Say) -> None:
    shapes = ring_shapes(spec.device, spec.kind)
    if shapes is None or spec.devices in shapes:
        return
    if spec.kind == "distributed":
        say(
            "devices",
            worded(
                "A distributed job on {device} takes 8 cards per node, and devices is {cards}.",
                device=spec.device,
                cards=spec.devices,
            ),
        )
    else:
        say(
            "devices",
            worded(
                "A job on {device} takes 0, 1, 2, 4 or 8 cards, because a board has two rings of four, "
                "and devices is {cards}.",
                device=spec.device,
                cards=spec.devices,
            ),
        )


def _variables(spec: JobSpec, say: Say) -> None:
    for key, names in (("env", spec.env), ("secret_env", spec.secret_env)):
        for name in names:
            if not _VARIABLE.fullmatch(name) or len(name) > 4096:
                say(
                    f"{key}.{label(name)}",
                    worded(
                        "{name} cannot be a variable's name: use letters, digits and underscores, "
                        "not starting with a digit.",
                        name=shown(name),
                    ),
                )
            elif why_reserved(name, spec.cluster):
                say(f"{key}.{name}", why_reserved(name, spec.cluster))
    for name in spec.env.keys() & spec.secret_env.keys():
        message = "{name} is in env and in secret_env. Keep it in one of them."
        say(f"env.{label(name)}", worded(message, name=label(name)))


def _mounts(spec: JobSpec, say: Say) -> None:
    seen: dict[str, int] = {}
    for index, mount in enumerate(spec.mounts):
        key, target = f"mounts[{index}]", mount.target.rstrip("/")
        if target in seen:
            say(
                f"{key}.target",
                worded(
                    "{first} and {second} have the same target, {target}.",
                    first=f"mounts[{seen[target]}]",
                    second=key,
                    target=shown(mount.target),
                ),
            )
        seen.setdefault(target, index)
        if spec.cluster != LOCAL and not mount.source.startswith("/") and not _is_volume(mount.source):
            say(
                f"{key}.source",
                worded(
                    "{key} must be a volume claim, an NFS export (server:/export) or a whole path, and it is {value}.",
                    key=f"{key}.source",
                    value=shown(mount.source),
                ),
            )


def _is_volume(source: str) -> bool:
    return bool(_CLAIM.fullmatch(source) or _EXPORT.fullmatch(source))


def _queue(spec: JobSpec, say: Say) -> None:
    if spec.queue is None:
        return
    if unreadable_in(spec.queue):
        say("queue", _uncontrolled("queue", spec.queue))
    elif spec.cluster != LOCAL and not _OBJECT.fullmatch(spec.queue):
        say(
            "queue",
            worded(
                "queue must be the name of a queue or namespace (small letters, digits, dashes), and it is {value}.",
                value=shown(spec.queue),
            ),
        )


def _run_as(spec: JobSpec, say: Say) -> None:
    if spec.run_as in ("image", "user"):
        return
    if spec.cluster == LOCAL:
        say("run_as", "Jobs on this machine run as the user of the server. Leave run_as out.")
    elif any(int(number) >= 2**32 - 1 for number in spec.run_as.split(":")):
        message = "run_as must name ids below 4,294,967,295, and it is {value}."
        say("run_as", worded(message, value=shown(spec.run_as)))


def _submission(spec: JobSpec, say: Say) -> None:
    if spec.submission_id is not None and unreadable_in(spec.submission_id):
        say("submission_id", _uncontrolled("submission_id", spec.submission_id))


def _uncontrolled(key: str, value: str) -> str:
    return worded("{key} must not hold control characters, and it is {value}.", key=key, value=shown(value))


def _sizes(spec: JobSpec, secrets: Mapping[str, str], say: Say) -> None:
    """Linux refuses to start a process with too much; say it now, with the key."""
    total = sum(_bytes(text) for text in [*render_arguments(spec), *path_arguments(spec), spec.command or ""])
    for place, variables in (("env", spec.env), ("secret_env", secrets)):
        for name, text in variables.items():
            length = _bytes(f"{name}={text}") - _OVERHEAD
            total += length + _OVERHEAD
            if too_long(length):
                where = f"{place}.{label(name)}"
                say(where, worded("{key} {fault}.", key=where, fault=too_long(length)))
    if total > MAX_TOTAL:
        say(
            "args",
            worded(
                "Arguments and variables are {total} bytes together, and at most {most} are allowed: "
                "Linux starts no process with many more. Put them into a file and pass the file's path.",
                total=f"{total:,}",
                most=f"{MAX_TOTAL:,}",
            ),
        )


def _bytes(text: str) -> int:
    """What a string takes in a new process. "replace": what cannot be encoded was noted before."""
    return len(text.encode("utf-8", "replace")) + _OVERHEAD


RULES: tuple[tuple[Rule, tuple[str, ...]], ...] = (
    (_name, ("name",)),
    (_start, ("script", "command")),
    (_command_alone, ("command",)),
    (_kind, ("kind", "nodes")),
    (_cards, ("device", "devices")),
    (_shape, ("kind", "nodes", "device", "devices")),
    (_variables, ()),
    (_mounts, ("mounts", "cluster")),
    (_queue, ("queue", "cluster")),
    (_run_as, ("run_as", "cluster")),
    (_submission, ("submission_id",)),
)
