"""The rank table that the launchers of a job agree on: node 0 makes it of what every node brought, or waits for a
controller's.

It goes out with the order to start as the list it is made of, a fifth of its length; every node renders it by itself.
"""

import base64
import json
import zlib
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ..line import LONGEST
from ..plan import Plan, Ring, Seating
from ..problem import Problem, Refused
from . import table
from .addresses import cure
from .cards import Brought, from_json

_NAMED = 4
"""Of how many nodes a sentence speaks; a termination message has room for the lines of about as many."""


class Outcome(NamedTuple):
    """What is to go out with the order to start; or why nobody may start, yet or at all."""

    told: Optional[Dict[str, Any]] = None
    problem: Optional[Problem] = None
    waiting: str = ""
    warning: str = ""


class Agreement:
    """Node 0's: what has been brought, and what comes of it when everybody is there."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._brought: Dict[int, Brought] = {}

    def hear(self, node: int, told: Any) -> None:
        """What a node said of its cards; a pod that was replaced brings others."""
        try:
            self._brought[node] = from_json(told)
        except ValueError:
            self._brought.pop(node, None)

    def settle(self) -> Outcome:
        """Everybody is there: what of the table?"""
        absent = [node for node in range(self._plan.nodes) if node not in self._brought]
        if absent:
            return Outcome(problem=_invalid(f"node {absent[0]} did not say which cards it has"))
        everybody = [self._brought[node] for node in range(self._plan.nodes)]
        try:
            return self._made(everybody) if self._plan.ring is None else self._given(self._plan.ring, everybody)
        except Refused as error:
            return Outcome(problem=error.problem)

    def _made(self, everybody: Sequence[Brought]) -> Outcome:
        problem = trouble(everybody)
        if problem is not None:
            return Outcome(problem=problem)
        nodes = [[one.server, [list(card) for card in one.cards], one.pod] for one in everybody]
        return Outcome(_short_enough({"nodes": nodes}), warning=warning(everybody))

    def _given(self, controller: Ring, everybody: Sequence[Brought]) -> Outcome:
        from . import ring  # it knows how to read and check any table; those of our own need no check

        try:
            content = ring.look(controller, everybody)
        except ring.NotYet as error:
            return Outcome(waiting=str(error))
        return Outcome(_short_enough({"given": base64.b64encode(zlib.compress(content)).decode("ascii")}))


class Learned(NamedTuple):
    """A table as one node has it: the files to write, and where a controller seated this node."""

    files: Dict[str, bytes]
    seating: Optional[Seating] = None


def learn(told: Any, mine: Brought) -> Learned:
    """The table out of the order to start; raises `Refused` when a controller's table does not know this node."""
    if "given" in told:
        from . import ring

        content = zlib.decompress(base64.b64decode(told["given"]))
        parsed = ring.parse(content)
        name = ring.file_name(parsed)
        return Learned({name: content}, Seating(name, ring.rank_ids(parsed, mine)))
    nodes = [(server, [(card, ip) for card, ip in cards], pod) for server, cards, pod in told["nodes"]]
    servers = table.seated(nodes)
    return Learned({table.NAMES[form]: table.encode(table.render(servers, form)) for form in table.FORMS})


def trouble(everybody: Sequence[Brought]) -> Optional[Problem]:
    """Why no table can be made of what was brought. Cards of one machine do without addresses, HCCL says."""
    if len({one.server for one in everybody}) > 1:
        lacking = [node for node, one in enumerate(everybody) if one.missing]
        if lacking:
            return _addresses_missing(everybody, lacking)
    return _twice(everybody)


def warning(everybody: Sequence[Brought]) -> str:
    """What is to be said though the job goes on."""
    missing = [card for one in everybody for card in one.missing]
    if not missing:
        return ""
    lines = "; ".join(cure(missing, 0))
    return (
        f"no IP address is known for card {_listed(missing)}: the rank table has none for them, which is enough for "
        f"one machine with most versions of CANN. To give them one, as root on {everybody[0].host}: {lines}"
    )


def _addresses_missing(everybody: Sequence[Brought], lacking: List[int]) -> Problem:
    said = [f"node {node} ({everybody[node].host}): card {_listed(everybody[node].missing)}" for node in lacking]
    more = f"; and {len(said) - _NAMED} nodes more" if len(said) > _NAMED else ""
    message = f"cards of several machines need IP addresses, and none is known for {'; '.join(said[:_NAMED])}{more}"
    steps = []
    for node in lacking[:_NAMED]:
        steps += [f"as root on {everybody[node].host}:", *cure(everybody[node].missing, node)]
    return Problem("npu-ip-missing", message, "\n".join([*steps, "then run the job again"]))


def _twice(everybody: Sequence[Brought]) -> Optional[Problem]:
    """Two cards under one address never connect; two nodes on one machine with the same card are one too many."""
    seen: Dict[str, str] = {}
    for node, one in enumerate(everybody):
        for card, ip in one.cards:
            whose = f"card {card} of node {node} ({one.host})"
            for key, what in ((ip, f"have the same IP address {ip}"), (f"{one.server} {card}", "are the same card")):
                if key and key in seen:
                    return _invalid(f"{seen[key]} and {whose} {what}", _TWICE)
                seen[key] = whose
    return None


_TWICE = "give every card an address of its own: `hccn_tool -i N -ip -s address … netmask 255.255.255.0` on its host"


def _short_enough(told: Dict[str, Any]) -> Dict[str, Any]:
    """A table that does not fit into one message would look like a stranger's nonsense to the others."""
    length = len(json.dumps(told))
    if length > LONGEST - 4096:
        raise Refused(_invalid(f"it is too long to pass on ({length} bytes)", "HCCL takes at most 512 servers"))
    return told


def _invalid(why: str, hint: str = "") -> Problem:
    return Problem("rank-table-invalid", f"no rank table can be made: {why}", hint)


def _listed(cards: Sequence[int]) -> str:
    return ", ".join(map(str, cards))
