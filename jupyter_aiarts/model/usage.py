"""What cards and machines are doing at one moment: the shapes that travel. Null is unknown, and never a 0."""

# Annotations are values: see spec.py.

from typing import Literal

from msgspec import Struct

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


class IdleKernel(Struct, frozen=True, kw_only=True):
    """A kernel of this server whose cards, all of them, do nothing; `name` and `path` are of what it works for."""

    id: str
    name: str
    path: str  # empty where no notebook or console has it
    cards: int
    memory_mb: int | None  # of the cards; null where the driver does not tell
    idle_since: str


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
    power_w: float | None = None
    temperature_c: float | None = None
    mean: float | None = None
    most: float | None = None
    mean_memory_mb: float | None = None
    most_memory_mb: float | None = None


class RankUse(Struct, frozen=True, kw_only=True):
    """One rank of a job with all processes it started, last and over the whole run; `cpu` counts whole CPUs.

    Memory is what is resident; pages that several of its processes share count in each of them. `read` and `written`
    are bytes a second from and to disks, those of the network included.
    """

    rank: int
    cpu: float | None = None
    memory_mb: float | None = None
    mean_cpu: float | None = None
    most_cpu: float | None = None
    mean_memory_mb: float | None = None
    most_memory_mb: float | None = None
    read: float | None = None
    written: float | None = None
    mean_read: float | None = None
    mean_written: float | None = None


class Lines(Struct, frozen=True, kw_only=True):
    """What was seen before: `times` in seconds since 1970, and as many values for each series."""

    times: list[float]
    series: dict[str, list[float | None]]

    def __post_init__(self) -> None:
        if any(len(values) != len(self.times) for values in self.series.values()):
            raise ValueError(f"a series has another length than the {len(self.times)} times")


class RunHistory(Struct, frozen=True, kw_only=True):
    """The past of a run on one node, from its beginning, the farther apart the longer it runs.

    Series are named `0 utilization` and `0 memory` (MB) by card, `0 cpu`, `0 memory`, `0 read` and `0 written` by rank.
    """

    cards: Lines
    ranks: Lines
    network: Lines | None = None  # `received` and `sent`, of a pod


class NodeUsage(Struct, frozen=True, kw_only=True):
    """Cards and ranks of one node of a job; `t` is when they were looked at, every half minute while it runs.

    `received` and `sent` are bytes a second of a pod with a network of its own; elsewhere nobody knows whose they are.
    """

    node: int = 0
    t: str = ""
    idle_since: str | None = None
    cards: tuple[CardUse, ...] = ()
    ranks: tuple[RankUse, ...] = ()
    received: float | None = None
    sent: float | None = None
    mean_received: float | None = None
    mean_sent: float | None = None
    history: RunHistory | None = None  # where it is asked for


class UsagePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One look as it travels: with what does not answer put into words, and with what was seen before if asked for."""

    t: str
    host: Host
    devices: tuple[Card, ...]
    problems: tuple[Explanation, ...]
    history: Lines | None = None


class JobUsage(Struct, frozen=True, kw_only=True):
    """What the cards and ranks of a job do, or did, node by node; empty where nobody has looked at them yet."""

    nodes: tuple[NodeUsage, ...]


class Taker(Struct, frozen=True, kw_only=True):
    """Something in a folder, and what it takes of the disk with all that is below it."""

    name: str
    bytes: int
    files: int
    folder: bool


class Filling(Struct, frozen=True, kw_only=True):
    """What takes the room below a folder: the largest first, `others` is what the rest takes together.

    `complete` is false where the time was over before all was counted: then it is at least so much. `unread` are
    folders and files that this server may not see, `elsewhere` other file systems that begin below it.
    """

    path: str
    bytes: int
    files: int
    takers: tuple[Taker, ...]
    others: int
    unread: int
    elsewhere: int
    complete: bool
    seconds: float
    disk: Disk | None


class Usage(Struct, frozen=True, kw_only=True):
    """One look at this machine."""

    t: str
    host: Host
    devices: tuple[Card, ...] = ()
    silent: tuple[Silent, ...] = ()
