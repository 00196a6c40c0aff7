"""Which kernel holds which cards, and since when those do nothing. Nothing here looks at the machine.

What nobody tells is unknown and never idle, as with the cards of a job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from jupyter_aiarts.launcher.usage.carduse import GONE, IDLE_PERCENT
from jupyter_aiarts.model.times import parse, text_of
from jupyter_aiarts.model.usage import Card

ParentOf = Callable[[int], int | None]
Key = tuple[str, int, str | None]  # kind, id and part of a card
GENERATIONS = 64  # from a program up to its kernel; more is a table of processes that changed while it was read
UNTOLD = 300.0  # seconds for which a kernel's cards may go untold, as by a tool that fails now and then
CLOCK_DRIFT = 5.0  # seconds by which the machine's clock may go another way before a time that was told is corrected


class Kernel(Struct, frozen=True, kw_only=True):
    """A kernel of this server that lives; `cells` is how many it was seen to run."""

    id: str
    pid: int
    cells: int = 0


class Holding(Struct, frozen=True, kw_only=True):
    """The cards on which a kernel or its children have memory, and how much of it, where that is told."""

    cards: tuple[Card, ...]
    memory_mb: float | None

    @property
    def is_idle(self) -> bool:
        """Whether every one of the cards says that it does nothing."""
        return all(card.utilization is not None and card.utilization < IDLE_PERCENT for card in self.cards)


class Rest(Struct, frozen=True, kw_only=True):
    """A kernel whose cards do nothing: since when and until which look, on the monotonic clock, and what must not
    change meanwhile."""

    kernel: Kernel
    cards: tuple[Key, ...]
    since: float
    seen: float
    memory_mb: float | None


def held(cards: Iterable[Card], kernels: Iterable[Kernel], parent_of: ParentOf) -> dict[str, Holding]:
    """What each kernel holds, by its id; a program that no kernel started, or of another pid namespace, is nobody's."""
    ids = {kernel.pid: kernel.id for kernel in kernels}
    found: dict[str, list[tuple[Card, float | None]]] = {}
    for card in cards:
        for program in card.programs or ():
            owner = _owner(program.pid, ids, parent_of)
            if owner is not None:
                found.setdefault(owner, []).append((card, program.memory_mb))
    return {kernel_id: _holding(parts) for kernel_id, parts in found.items()}


def resting(
    before: Mapping[str, Rest],
    kernels: Iterable[Kernel],
    holdings: Mapping[str, Holding],
    told: Collection[Key],
    now: float,
) -> dict[str, Rest]:
    """The kernels whose cards do nothing, by id; one that ran something or holds others since `before` begins anew.

    `told` are the cards that this look told of: where only cards are missing that it did not tell of, nothing changes.
    """
    rests = {}
    for kernel in kernels:
        holding, known = holdings.get(kernel.id), before.get(kernel.id)
        if known is not None and known.kernel != kernel:
            known = None
        if holding is not None and not holding.is_idle:
            continue
        cards = () if holding is None else tuple(map(_key, holding.cards))
        if known is not None and now - known.seen < UNTOLD and _leaves_out(cards, known.cards, told):
            rests[kernel.id] = known
        elif holding is not None:
            since = known.since if known is not None and known.cards == cards else now
            rests[kernel.id] = Rest(kernel=kernel, cards=cards, since=since, seen=now, memory_mb=holding.memory_mb)
    return rests


def telling(cards: Iterable[Card]) -> set[Key]:
    """The cards of which a look told what is on them, or that they work; on one that is gone there is nothing."""
    return {_key(card) for card in cards if card.programs is not None or card.health == GONE or _works(card)}


def _works(card: Card) -> bool:
    return card.utilization is not None and card.utilization >= IDLE_PERCENT


def _key(card: Card) -> Key:
    return card.kind, card.id, card.part


def _leaves_out(cards: Collection[Key], before: Collection[Key], told: Collection[Key]) -> bool:
    """Whether some cards are missing and none of them was told of, all others being the same."""
    missing = set(before) - set(cards)
    return bool(missing) and set(cards) <= set(before) and missing.isdisjoint(told)


def since_text(seconds: float, now: datetime, told: str | None) -> str:
    """When `seconds` ago was; as it was told before, unless the machine's clock was set to another time since."""
    moment = now - timedelta(seconds=seconds)
    if told is not None and abs((parse(told) - moment).total_seconds()) < CLOCK_DRIFT:
        return told
    return text_of(moment)


def _owner(pid: int, ids: Mapping[int, str], parent_of: ParentOf) -> str | None:
    """The kernel that a process is, or the nearest above it."""
    above: int | None = pid
    for _ in range(GENERATIONS):
        if above is None or above in ids:
            break
        above = parent_of(above)
    return ids.get(above) if above is not None else None


def _holding(parts: list[tuple[Card, float | None]]) -> Holding:
    """Several programs of a kernel on one card hold that card once."""
    cards = {(card.kind, card.id, card.part): card for card, _ in parts}
    known = [memory for _, memory in parts if memory is not None]
    return Holding(cards=tuple(cards.values()), memory_mb=sum(known) if len(known) == len(parts) else None)
