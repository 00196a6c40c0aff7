"""Which cards a probe told of before: one that fell off the bus is not told of any more, and is not to be forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_aiarts.model.usage import Card

GONE = "gone"


class Roll:
    """The cards that one probe has told of since somebody looks, with no hour between two looks."""

    def __init__(self) -> None:
        self._met: dict[int, Card] = {}

    def called(self, cards: Iterable[Card]) -> list[Card]:
        """These cards, and in their places those that were there and are not, with nothing known but that."""
        present = list(cards)
        there = {card.id for card in present}
        missing = [_gone(card) for number, card in self._met.items() if number not in there]
        self._met.update({card.id: card for card in present})
        return sorted([*present, *missing], key=lambda card: card.id) if missing else present


def _gone(card: Card) -> Card:
    return Card(kind=card.kind, id=card.id, name=card.name, health=GONE)
