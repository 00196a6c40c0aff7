"""Why a scheduler finds no node, from its own count.

`0/8 nodes are available: 2 node(s) didn't match …, 6 Insufficient huawei.com/Ascend910. preemption: …`: each clause is
a number of nodes and a reason. A node may be counted under several, a clause may hold commas and colons of its own,
and what follows `preemption:` is about others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from jupyter_aiarts.explain.rules.said import closer, either, lines
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_COUNT = re.compile(r"(\d{1,7})/(\d{1,7}) nodes are (?:available|unavailable): ?")
_NEXT = re.compile(r", (?=\d{1,7} [^\s/])")
_CLAUSE = re.compile(r"(\d{1,7}) (.{1,500})", re.DOTALL)
_TAILS = (" preemption:", " no new claims to deallocate", " still not schedulable")
_LACK = re.compile(r"insufficient ([a-z0-9][\w./-]{0,100}\w)", re.IGNORECASE)
_TAINT = re.compile(r"\{([\w./-]{1,200})")
_CLAIM = re.compile(r'persistentvolumeclaim "([^"\s]{1,253})"( not found)?')
_LABEL = re.compile(r"check Node (\S{1,253}) label \[([^\]\s]{1,200})\] Failed, value is ([^\s>]{1,200})")
_GANG = re.compile(r"(\d{1,7})/(\d{1,7}) tasks in gang unschedulable")

_KINDS = (  # the first whose words are found says what a clause is about
    ("pods", ("too many pods",)),
    (
        "claim",
        ("unbound immediate persistentvolumeclaims", "find available persistent volumes", "persistentvolumeclaim"),
    ),
    ("volume", ("volume node affinity conflict", "no available volume zone", "max volume count")),
    ("ports", ("free ports",)),
    ("apart", ("anti-affinity",)),
    ("near", ("pod affinity", "pods affinity", "topology spread")),
    ("selector", ("node affinity", "node selector")),
    ("cordoned", ("were unschedulable", "taint {node.kubernetes.io/unschedulable")),
    ("down", ("{node.kubernetes.io/not-ready", "{node.kubernetes.io/unreachable", "were not ready")),
    ("strained", ("-pressure", "{node.kubernetes.io/network-unavailable")),
    ("tainted", ("taint",)),
)

DECIDING = (
    "cards", "memory", "cpu", "amount", "pods", "volume", "ports", "cordoned", "down", "strained", "tainted",
    "reserved", "apart", "near", "selector", "other",
)  # fmt: skip
"""What a job waits for, before what only says that a node was never meant: those nodes would not have been used."""

_WORDS = {
    "cards": ("too few {about} free, or none offered", "空闲的 {about} 不足，或未提供"),
    "memory": ("too little memory free", "空闲内存不足"),
    "cpu": ("too few CPUs free", "空闲 CPU 不足"),
    "amount": ("too little {about} free", "空闲的 {about} 不足"),
    "pods": ("full of pods", "容器组数量已满"),
    "volume": ("the volume is elsewhere", "卷在别处"),
    "ports": ("its port is taken", "端口被占用"),
    "cordoned": ("closed for new jobs", "已停止接收新任务"),
    "down": ("not ready", "未就绪"),
    "strained": ("short of memory or disk", "内存或磁盘紧张"),
    "tainted": ("reserved by the taint {about}", "被污点 {about} 保留"),
    "reserved": ("reserved for others", "已被保留"),  # since 1.34 a scheduler does not say by which taint
    "apart": ("holds another node of it", "已有它的另一个节点"),
    "near": ("too far from what it must be near", "离必须靠近的对象太远"),
    "selector": ("another kind of node", "节点类型不符"),
    "claim": ("its claim has no volume", "存储声明没有卷"),
    "other": ("{about}", "{about}"),
}


MOST = 20
"""Reasons that are read; a scheduler knows about as many."""


class Clause(Struct, frozen=True):
    """So many nodes for one reason; `about` is the resource, the taint, or the reason itself where nobody knows it."""

    nodes: int
    kind: str
    about: str = ""


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """Which reason decides, with the sum over all nodes."""
    for line in lines(cause):
        found = _volcano(cause, line) or _default(cause, line)
        if found is not None:
            return found
    return None


def clauses(line: str) -> tuple[int, list[Clause]]:
    """The number of all nodes, and the reasons with theirs; 0 and none where it is no such sentence."""
    count = _COUNT.search(line)
    if count is None:
        return 0, []
    body = line[count.end() :]
    for tail in _TAILS:
        body = body.partition(tail)[0]
    found = []
    for part in _NEXT.split(body.rstrip(" .,"), MOST):
        match = _CLAUSE.match(part.strip())
        if match is not None:
            found.append(_clause(int(match[1]), match[2].rstrip(" .,")))
    return int(count[2]), found


def _clause(nodes: int, reason: str) -> Clause:
    lack = _LACK.search(reason)
    if lack is not None:
        what = lack[1]
        kind = what if what in ("cpu", "memory") else "cards" if "/" in what else "amount"
        return Clause(nodes, kind, what)
    low = reason.lower()
    kind = next((kind for kind, words in _KINDS if any(word in low for word in words)), "other")
    if kind == "tainted":
        taint = _TAINT.search(reason)
        return Clause(nodes, kind, taint[1]) if taint is not None else Clause(nodes, "reserved")
    return Clause(nodes, kind, reason[:80] if kind == "other" else "")


def _default(cause: Cause, line: str) -> Cause | None:
    total, found = clauses(line)
    if total == 0 and _COUNT.search(line) is None:
        return None
    claim = _CLAIM.search(line.lower())
    if claim is not None and claim[2]:
        return closer(cause, "mount-missing", "claim-gone", claim=claim[1])
    if "non-existent pv" in line.lower():
        return closer(cause, "mount-missing")
    if claim is not None or "unbound immediate persistentvolumeclaims" in line.lower() or _has_claim(found):
        return closer(cause, "mount-missing", "claim-unbound")
    if not found:
        return None
    deciding = min(found, key=_weight)
    if deciding.kind == "other":
        return None  # nobody's words that are known here: they stand in the evidence
    values: dict[str, Any] = {"total": total, "count": deciding.nodes, "about": deciding.about, "sum": _sum(found)}
    return closer(cause, "no-node-fits", f"no-node-{deciding.kind}", **values)


def _weight(one: Clause) -> tuple[int, int, int]:
    """Cards before all; CPU, memory and other amounts by the number of nodes that lack it; then as `DECIDING` says."""
    place = DECIDING.index(one.kind)
    return (1, -one.nodes, place) if one.kind in ("memory", "cpu", "amount") else (place and place + 1, 0, place)


def _has_claim(found: list[Clause]) -> bool:
    return any(one.kind == "claim" for one in found)


def _sum(found: list[Clause]) -> Any:
    """`6 nodes: too few …; 2 nodes: another kind of node`, the largest first."""
    parts = [(one.nodes, one.about, *_WORDS[one.kind]) for one in sorted(found, key=lambda one: -one.nodes)]
    en = [f"{count} node{'s' * (count != 1)}: {why.replace('{about}', about)}" for count, about, why, _ in parts]
    zh = [f"{count} 个：{why.replace('{about}', about)}" for count, about, _, why in parts]
    return either("; ".join(en), "；".join(zh))


def _volcano(cause: Cause, line: str) -> Cause | None:
    """Volcano's own sentences: the whole group is judged, and its queue before any node."""
    label = _LABEL.search(line)
    if label is not None:
        return closer(cause, "no-node-fits", "no-node-label", machine=label[1], label=label[2], value=label[3])
    if "resource in cluster is overused" in line.lower() or "queue resource quota insufficient" in line.lower():
        return closer(cause, "quota-exceeded", "volcano-overused")
    gang = _GANG.search(line)
    if gang is None:
        return None
    inner = _COUNT.search(line)
    if inner is not None:
        found = _default(cause, line[inner.start() :])
        if found is not None:
            return found
    return closer(cause, "no-node-fits", "gang-waits", waiting=int(gang[1]), tasks=int(gang[2]))
