"""What cards and machines are doing at one moment: the shapes that travel. Null is unknown, and never a 0."""

# Annotations are values: see spec.py.

from typing import Any, Literal

from msgspec import Struct, ValidationError, convert, structs

from jupyter_aiarts.model.job import Explanation


class Program(Struct, frozen=True, kw_only=True):
    """One program that holds memory of a card, under the pid that this process would see."""

    pid: int
    name: str = ""
    memory_mb: float | None = None


class Card(Struct, frozen=True, kw_only=True):
    """One card, or one chip of a card with two, or one part of a card that is cut in parts (`part`)."""

    kind: Literal["gpu", "npu"]
    id: int
    name: str = ""
    part: str | None = None
    utilization: float | None = None  # per cent
    memory_used_mb: float | None = None
    memory_total_mb: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    health: str | None = None  # `ok`, or the driver's own word
    programs: tuple[Program, ...] | None = None  # null where the driver does not tell


class Disk(Struct, frozen=True, kw_only=True):
    """One file system, by a path that this server uses on it."""

    path: str
    used: int
    total: int


class Host(Struct, frozen=True, kw_only=True):
    """The machine, or the container where it has limits of its own: `own` names the numbers that are the container's.

    `cpu` counts whole CPUs that are busy, of `cpus`; memory in bytes, without what the kernel could give back at once.
    """

    cpu: float | None = None
    cpus: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    disks: tuple[Disk, ...] = ()
    received: float | None = None  # bytes a second
    sent: float | None = None
    own: tuple[Literal["cpu", "memory"], ...] = ()


class Silent(Struct, frozen=True, kw_only=True):
    """Something that was asked and does not answer, or cannot: `code` has a sentence in `explain`."""

    probe: str
    code: str
    message: str = ""
    since: str | None = None


class CardUse(Struct, frozen=True, kw_only=True):
    """One card of a job: as its launcher saw it last, and over the whole run (`mean`, `most`)."""

    id: int
    name: str = ""
    utilization: float | None = None
    memory_used_mb: float | None = None
    memory_total_mb: float | None = None
    health: str | None = None
    mean: float | None = None
    most: float | None = None
    most_memory_mb: float | None = None


class NodeUsage(Struct, frozen=True, kw_only=True):
    """The cards of one node of a job; `t` is when they were looked at, every half minute while it runs."""

    node: int = 0
    t: str = ""
    idle_since: str | None = None
    cards: tuple[CardUse, ...] = ()


def node_usage(node: int, idle_since: str | None, said: Any) -> NodeUsage | None:
    """What a launcher's status says of its cards; None where it says nothing, or something else."""
    try:
        found = convert(said, NodeUsage | None)
    except ValidationError:
        return None
    return None if found is None else structs.replace(found, node=node, idle_since=idle_since)


class Lines(Struct, frozen=True, kw_only=True):
    """What was seen before: `times` in seconds since 1970, and as many values for each series."""

    times: list[float]
    series: dict[str, list[float | None]]


class UsagePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One look as it travels: with what does not answer put into words, and with what was seen before if asked for."""

    t: str
    host: Host
    devices: tuple[Card, ...]
    problems: tuple[Explanation, ...]
    history: Lines | None = None


class JobUsage(Struct, frozen=True, kw_only=True):
    """What the cards of a job do, or did, node by node; empty where nobody could look at them."""

    nodes: tuple[NodeUsage, ...]


class Usage(Struct, frozen=True, kw_only=True):
    """One look at this machine."""

    t: str
    host: Host
    devices: tuple[Card, ...] = ()
    silent: tuple[Silent, ...] = ()
