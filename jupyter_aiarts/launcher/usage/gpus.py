"""Asking `nvidia-smi` about the GPUs of one node, and about the slices of those that are cut (MIG).

What is known by its UUID has the id that the plan has in its place, which is the id that its rank has too.
"""

from typing import Dict, List, Optional, Sequence, Tuple

from .carduse import Reading, Talk
from .nvidiasmi import LISTING, OLD_QUERY, QUERY, Gpu, Memory, Slice, details, listed, memories, parse, querying


class Gpus:
    """`ids` are this node's cards in the plan, `visible` is what CUDA_VISIBLE_DEVICES says of them; `alone` is whether
    nobody else's are seen here, as in a pod."""

    tool = "nvidia-smi"

    def __init__(self, ids: Sequence[int], visible: str, alone: bool) -> None:
        names = [word.strip() for word in visible.split(",")]
        self._ids, self._alone = ids, alone
        self._query: Sequence[str] = QUERY
        self._names = names if all(name[:4] in ("GPU-", "MIG-") for name in names) else []

    def look(self) -> Talk:
        """The cards, as far as the tool tells of them."""
        report = parse((yield querying(self._query)), self._query)
        if report.error == "garbage" and self._query is QUERY:
            report = parse((yield querying(OLD_QUERY)), OLD_QUERY)
            self._query = OLD_QUERY if report.gpus else QUERY
        gpus = report.gpus
        by_number = not self._names and not self._alone
        is_cut = any(gpu.mig == "Enabled" for gpu in gpus if not by_number or gpu.number in self._ids)
        if not is_cut and not self._names:
            return [_reading(gpu.number, gpu) for gpu in gpus]
        slices = listed((yield LISTING)) if is_cut else []
        if slices is None:
            return []  # nobody can say that one of them is gone
        # Found out once and for all: when one goes away, the others keep their ids.
        self._names = self._names or names_of(self._ids, gpus, slices, self._alone)
        memory: Dict[str, Dict[int, Memory]] = {}
        found = []
        for number, gpu, part in _own(self._ids, self._names, gpus, slices):
            if part is not None:
                if part.card not in memory:
                    memory[part.card] = memories((yield details(part.card)), part.card)
                used, total = memory[part.card].get(part.place, (None, None))
                gpu = Gpu(number, f"{gpu.name} MIG {part.profile}", memory_used=used, memory_total=total)
            found.append(_reading(number, gpu))
        return found


def names_of(ids: Sequence[int], gpus: Sequence[Gpu], slices: Sequence[Slice], alone: bool) -> List[str]:
    """The UUID of each of these cards, where no variable has it; none where that cannot be told.

    Alone, they are what CUDA can open, in the driver's order. Else they are whole cards by their number; one that is
    cut and has a single slice is that slice, as a container that was given one sees it.
    """
    parts = {gpu.number: [part.uuid for part in slices if part.card == gpu.uuid] for gpu in gpus}
    whole = {gpu.number: gpu.uuid or "" for gpu in gpus}
    if alone:
        found = [uuid for gpu in gpus for uuid in parts[gpu.number] or [whole[gpu.number]]]
    else:
        found = [parts[one][0] if len(parts.get(one, ())) == 1 else whole.get(one, "") for one in ids]
    return found if len(found) == len(ids) and all(found) else []


def _own(
    ids: Sequence[int], names: Sequence[str], gpus: Sequence[Gpu], slices: Sequence[Slice]
) -> List[Tuple[int, Gpu, Optional[Slice]]]:
    """The cards and slices of these names, with their ids; CUDA takes the first letters of a UUID for the whole."""
    cards = {gpu.uuid: gpu for gpu in gpus if gpu.uuid}
    found: List[Tuple[int, Gpu, Optional[Slice]]] = []
    for number, name in zip(ids, names):
        found += [(number, gpu, None) for uuid, gpu in cards.items() if uuid.startswith(name)]
        found += [(number, cards[one.card], one) for one in slices if one.uuid.startswith(name) and one.card in cards]
    return found


def _reading(number: int, gpu: Gpu) -> Reading:
    memory = gpu.memory_used, gpu.memory_total
    return Reading(number, gpu.name, gpu.utilization, *memory, None, gpu.power, gpu.temperature)
