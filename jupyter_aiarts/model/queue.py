"""A queue as every door shows it: what it may give, what is taken, who waits in it and why it does not move.

What nobody here may see is null: a quota that cannot be read is unknown, and so is how many are ahead of a job.
"""

# Annotations are values: see spec.py.

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Explanation
from jupyter_aiarts.model.times import parse, text_of

QueueKind = Literal["kueue", "quota", "local", "unknown"]
Source = Literal["visibility", "workloads", "local"]
Amounts = dict[str, float | None]

MOST_AHEAD = 5  # of those who are ahead of a job, so many are named
MOST_PLACES = 200  # of one's own waiting jobs, so many are shown with their place


class Ahead(Struct, frozen=True, kw_only=True):
    """Somebody who comes before a job; what may not be read of them is null."""

    job: str | None = None
    name: str | None = None
    owner: str | None = None


class Place(Struct, frozen=True, kw_only=True):
    """Where one of the reader's jobs stands: its position among those who are seen, from 1.

    `ahead` is null where others may be before it who cannot be seen; `before` names those right before it, as far
    as they may be read.
    """

    job: str
    name: str
    owner: str | None
    position: int
    ahead: int | None
    before: tuple[Ahead, ...] = ()


class QueueHead(Struct, frozen=True, kw_only=True):
    """What `Queue` and `ShownQueue` have in common: everything but the reason."""

    name: str
    cluster: str
    kind: QueueKind
    namespace: str | None = None
    lends_from: str | None = None  # the ClusterQueue whose quota it is
    quota: Amounts = field(default_factory=dict)  # by resource: memory in bytes, else in units
    used: Amounts = field(default_factory=dict)  # of that quota, by everybody
    own: Amounts = field(default_factory=dict)  # of it, by the jobs of this queue alone
    borrowed: Amounts = field(default_factory=dict)
    pending: int | None = None
    active: bool | None = None
    places: tuple[Place, ...] = ()
    source: Source | None = None  # of positions: Kueue itself, the workloads that can be read, this machine


class Queue(QueueHead, frozen=True, kw_only=True):
    """A queue as its engine knows it, before anybody's language."""

    why: Cause | None = None
    borrows: bool = False  # whether it may get more than its own quota, from a cohort


class ShownQueue(QueueHead, frozen=True, kw_only=True):
    """A queue; `why` says what is not as it should be: it takes no jobs, its quota was lowered, it cannot be seen."""

    why: Explanation | None = None


def shown(queue: Queue, why: Explanation | None) -> ShownQueue:
    """The queue with its reason in words."""
    head = {name: getattr(queue, name) for name in QueueHead.__struct_fields__}
    return ShownQueue(why=why, **head)


class Waiting(Struct, frozen=True, gc=False):
    """One who waits: its job, or where that is not known a name that no other has, and a text to order it by."""

    key: str
    order: str


def waiting(key: str, priority: int, since: str) -> Waiting:
    """One who waits since this RFC 3339 time. The order is Kueue's: higher priority first, then who came first.

    The name settles what came at the same second. Made once, when it is seen: ten thousand are sorted for each answer.
    """
    return Waiting(key, f"{_HIGHEST - priority:010} {comparable(since)} {key}")


_HIGHEST = 1 << 31  # above every priority: they have 32 bits
_BY_ORDER = operator.attrgetter("order")


def in_order(line: Iterable[Waiting]) -> list[Waiting]:
    """Who comes first, first."""
    return sorted(line, key=_BY_ORDER)


def comparable(time: str) -> str:
    """A text that sorts as its moment does, whatever its writer's zone or digits; one that is none sorts last.

    The plain form of API servers, which is nearly all of them, is taken as it is.
    """
    if len(time) == 20 and time[19] == "Z":
        return time[:19] + ".000000"
    return _comparable(time)


def _comparable(time: str) -> str:
    try:
        return text_of(parse(time))[:-1]
    except (ValueError, OverflowError):
        return "~"  # sorts after every time


def places_of(
    line: Sequence[Waiting], mine: Collection[str], known: Mapping[str, Ahead], whole: bool
) -> tuple[Place, ...]:
    """The places of the reader's own jobs in a line that is in order; `whole` is whether everybody who waits is in it.

    `known` are the jobs whose name and owner may be told. Bounded, however many wait.
    """
    found: list[Place] = []
    for index, one in enumerate(line):
        if one.key not in mine:
            continue
        about = known.get(one.key, Ahead())
        found.append(
            Place(
                job=one.key,
                name=about.name or one.key,
                owner=about.owner,
                position=index + 1,
                ahead=index if whole else None,
                before=tuple(known.get(other.key, Ahead()) for other in line[max(index - MOST_AHEAD, 0) : index]),
            )
        )
        if len(found) == MOST_PLACES:
            break
    return tuple(found)
