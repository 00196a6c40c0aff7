"""Whatever happens to nodes and pods, in whatever order it is heard: free + held = offered + missing, on every node."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from jupyter_aiarts.engines.kubernetes.glance import NODES, PODS, Glance
from jupyter_aiarts.model.cluster import held_cards

from .glancing import DEVICES, NPU, Json, node_json, pod_json, read_node, read_pod

NAMES = st.sampled_from(["n1", "n2", "n3"])
PODS_NAMES = st.sampled_from([f"p{number}" for number in range(8)])
CARDS = st.integers(0, 8)


class Moving(RuleBasedStateMachine):
    """A cluster of our own making, and the picture that hears of it."""

    def __init__(self) -> None:
        super().__init__()
        self.found = Glance("k8s", DEVICES)
        self.nodes: dict[str, Json] = {}
        self.pods: dict[str, Json] = {}
        self.version = 0
        self.lives = 0
        self.past: list[tuple[str, str, Json]] = []  # events that were heard, and may be heard again

    def tell(self, kind: str, type: str, item: Json) -> None:
        item = copy.deepcopy(item)
        self.past.append((kind, type, item))
        self.found.apply(kind, type, read_node(item) if kind == NODES else read_pod(item))

    def _next(self) -> int:
        self.version += 1
        return self.version

    def _born(self) -> str:
        self.lives += 1
        return f"life-{self.lives}"

    @rule(name=NAMES, cards=CARDS, capacity=CARDS, cordoned=st.booleans(), ready=st.booleans())
    def node_is_added_or_changed(self, name: str, cards: int, capacity: int, cordoned: bool, ready: bool) -> None:
        known = self.nodes.get(name)
        more: Any = {"capacity": max(cards, capacity), "cordoned": cordoned, "ready": ready}
        uid = known["metadata"]["uid"] if known else self._born()
        self.nodes[name] = node_json(name, cards, self._next(), uid=uid, **more)
        self.tell(NODES, "MODIFIED" if known else "ADDED", self.nodes[name])

    @rule(name=NAMES)
    def node_goes(self, name: str) -> None:
        gone = self.nodes.pop(name, None)
        if gone is not None:
            gone["metadata"]["resourceVersion"] = str(self._next())
            self.tell(NODES, "DELETED", gone)

    @rule(name=PODS_NAMES, cards=CARDS, node=st.none() | NAMES)
    def pod_is_made(self, name: str, cards: int, node: str | None) -> None:
        if name not in self.pods:
            self.pods[name] = pod_json(name, node, cards, self._next(), uid=self._born(), phase="Pending")
            self.tell(PODS, "ADDED", self.pods[name])

    @rule(name=PODS_NAMES, node=NAMES, phase=st.sampled_from(["Running", "Succeeded", "Failed"]), going=st.booleans())
    def pod_is_bound_or_moves_on(self, name: str, node: str, phase: str, going: bool) -> None:
        pod = self.pods.get(name)
        if pod is None:
            return
        pod["spec"].setdefault("nodeName", node)
        if pod["status"]["phase"] not in ("Succeeded", "Failed"):
            pod["status"]["phase"] = phase
        if going:
            pod["metadata"]["deletionTimestamp"] = "2026-11-16T05:00:00Z"
        pod["metadata"]["resourceVersion"] = str(self._next())
        self.tell(PODS, "MODIFIED", pod)

    @rule(name=PODS_NAMES)
    def pod_goes(self, name: str) -> None:
        gone = self.pods.pop(name, None)
        if gone is not None:
            gone["metadata"]["resourceVersion"] = str(self._next())
            self.tell(PODS, "DELETED", gone)

    @rule(number=st.integers(0, 50))
    def old_news_of_what_still_lives_come_late(self, number: int) -> None:
        """What is known better is not forgotten for it; of a pod that is over nothing is kept to compare it with."""
        there = [one for one in self.pods.values() if one["status"]["phase"] not in ("Succeeded", "Failed")]
        living = {one["metadata"]["uid"] for one in (*self.nodes.values(), *there)}
        late = [one for one in self.past if one[2]["metadata"]["uid"] in living and one[1] != "DELETED"]
        if late:
            kind, type, item = late[number % len(late)]
            self.found.apply(kind, type, read_node(item) if kind == NODES else read_pod(item))

    @rule(number=st.integers(0, 50))
    def the_end_of_a_former_life_comes_late(self, number: int) -> None:
        ends = [
            one for one in self.past
            if one[1] == "DELETED" and one[2]["metadata"]["name"] in (self.nodes if one[0] == NODES else self.pods)
        ]  # fmt: skip
        if ends:
            kind, type, item = ends[number % len(ends)]
            self.found.apply(kind, type, read_node(item) if kind == NODES else read_pod(item))

    @rule(kind=st.sampled_from([NODES, PODS]), unheard=st.sets(PODS_NAMES | NAMES))
    def everything_is_listed_anew(self, kind: str, unheard: set[str]) -> None:
        """Some things ended while nobody listened: the list alone says so."""
        there = self.nodes if kind == NODES else self.pods
        for name in unheard & set(there):
            del there[name]
        for item in there.values():
            self.tell(kind, "ADDED", item)
        space = "" if kind == NODES else "team-a"
        self.found.keep_only(kind, "", {f"{space}/{name}" for name in there})

    # -- what is promised ----------------------------------------------------------------------------------------

    def held_on(self, name: str) -> int:
        living = [one for one in self.pods.values() if one["status"]["phase"] not in ("Succeeded", "Failed")]
        asked = [one["spec"]["containers"][0]["resources"]["requests"] for one in living
                 if one["spec"].get("nodeName") == name]  # fmt: skip
        return sum(int(one.get("huawei.com/Ascend910", 0)) for one in asked)

    @invariant()
    def every_card_is_free_or_held_or_missing(self) -> None:
        rows = {row.name: row for row in self.found.rows()}
        assert set(rows) == set(self.nodes)
        for name, row in rows.items():
            assert row.free is not None and row.cards is not None and row.free >= 0 and row.missing >= 0
            held = self.held_on(name)
            assert (held_cards(row), row.free + held) == (held, row.cards + row.missing)
            assert row.free == 0 or row.missing == 0
            assert row.cards == int(self.nodes[name]["status"]["allocatable"]["huawei.com/Ascend910"])
            assert ("cards-missing" in row.problems) is (row.missing > 0)

    @invariant()
    def equal_states_give_equal_numbers(self) -> None:
        """As somebody sees them who comes now and lists everything once, in another order."""
        fresh = Glance("k8s", DEVICES)
        for pod in reversed(list(self.pods.values())):
            fresh.apply(PODS, "ADDED", read_pod(pod))
        for node in reversed(list(self.nodes.values())):
            fresh.apply(NODES, "ADDED", read_node(node))
        assert fresh.rows() == self.found.rows()
        assert fresh.fits() == self.found.fits()
        assert {one.machine.name: one for one in fresh.offers(NPU)} == {
            one.machine.name: one for one in self.found.offers(NPU)
        }
        assert self.found.rows() is self.found.rows()


TestMoving = Moving.TestCase
TestMoving.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
