"""`aiarts queues`: what each queue may give, who waits in it, where one's own jobs stand, and who passed whom."""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Shown
from jupyter_aiarts.kernel.terminal import Style, plain, table
from jupyter_aiarts.kernel.words import local_time

Data = Mapping[str, Any]
UNKNOWN = "?"
GIGABYTE = float(1 << 30)

HEADS: Dict[str, Tuple[str, str]] = {
    "cluster": ("CLUSTER", "集群"),
    "queue": ("QUEUE", "队列"),
    "namespace": ("NAMESPACE", "命名空间"),
    "use": ("USED OF QUOTA", "已用/配额"),
    "waiting": ("WAITING", "排队"),
    "state": ("STATE", "状态"),
    "place": ("PLACE", "排位"),
    "job": ("JOB", "作业"),
    "name": ("NAME", "名称"),
    "ahead": ("AHEAD", "前面"),
    "before": ("RIGHT BEFORE IT", "紧邻其前"),
}
TEXTS: Dict[str, Tuple[str, str]] = {
    "none": ("No queues.", "没有队列。"),
    "no-turns": ("No job started before one that had come earlier.", "没有作业先于更早的作业启动。"),
    "active": ("active", "正常"),
    "inactive": ("takes no jobs", "不接收作业"),
    "unknown": ("unknown", "未知"),
    "borrowed": ("borrowed {amount}", "借用 {amount}"),
    "own": ("{amount} by this queue", "本队列已用 {amount}"),
    "seen": (
        "Places of {queue} are counted from the workloads that can be read; others may be ahead.",
        "{queue} 的排位根据可读取的 Workload 统计；前面可能还有其他作业。",
    ),
    "turn": (
        "{at}  {name} ({job}) started before {count} that had come earlier:",
        "{at}  {name}（{job}）先于 {count} 个更早的作业启动：",
    ),
    "more": ("and {count} more", "另有 {count} 个"),
    "somebody": ("somebody", "他人"),
}


class Queues(List[Dict[str, Any]], Shown):
    """Queues, as the server tells them."""

    def text(self, style: Style) -> str:
        return queues_text(self, style)

    __repr__ = Shown.__repr__


class Turns(List[Dict[str, Any]], Shown):
    """Starts before jobs that had come earlier, newest first."""

    def text(self, style: Style) -> str:
        return turns_text(self, style)

    __repr__ = Shown.__repr__


def queues(session: Session, given: argparse.Namespace) -> Outcome:
    """Show the queues of one cluster or of all; with `--order` who passed whom."""
    if given.order:
        turns = session.client.order(session.find(given.job) if given.job else None)
        return Outcome(Turns(turns), turns, turns_text(turns, session.style))
    if given.job:
        raise WrongUsage("A job is named with --order alone.", f"aiarts queues --order {given.job}")
    found = session.client.queues(given.cluster)
    return Outcome(Queues(found), found, queues_text(found, session.style))


def queues_text(found: Sequence[Data], style: Style) -> str:
    """The table of queues, one's places in them, and what is wrong with any."""
    if not found:
        return _say(style, "none")
    heads = [_head(style, name) for name in ("cluster", "queue", "namespace", "waiting", "state", "use")]
    parts = [table(heads, [_row(one, style) for one in found], style)]
    places = [(one, place) for one in found for place in one.get("places") or ()]
    if places:
        parts.append(_places(places, style))
    for one in found:
        if any(place["ahead"] is None for place in one.get("places") or ()):
            parts.append(_say(style, "seen", queue=plain(one["name"])))
        if one.get("why"):
            parts.append(explanation_text(one["why"], style))
    return "\n".join(parts)


def _row(one: Data, style: Style) -> List[str]:
    states = {True: "active", False: "inactive", None: "unknown"}
    pending = UNKNOWN if one.get("pending") is None and one["kind"] != "quota" else str(one.get("pending") or "-")
    return [
        one["cluster"],
        one["name"],
        one.get("namespace") or "",
        "0" if one.get("pending") == 0 else pending,
        _say(style, states[one.get("active")]),
        _use(one, style),
    ]


def _use(one: Data, style: Style) -> str:
    """`cpu 2/8, huawei.com/Ascend910 8/8 (borrowed 2)`: what is taken of each resource."""
    quota, used, own, borrowed = (one.get(key) or {} for key in ("quota", "used", "own", "borrowed"))
    cells = []
    for name in sorted({*quota, *used, *own}):
        cell = f"{name} {amount(name, used.get(name))}/{amount(name, quota.get(name))}"
        notes = [_say(style, "borrowed", amount=amount(name, borrowed[name]))] if borrowed.get(name) else []
        if used.get(name) is None and own.get(name) is not None:
            notes.append(_say(style, "own", amount=amount(name, own[name])))
        cells.append(cell + (f" ({', '.join(notes)})" if notes else ""))
    return ", ".join(cells)


def amount(resource: str, value: Optional[float]) -> str:
    """A number as people read it; memory in GB."""
    if value is None:
        return UNKNOWN
    if resource.endswith(("memory", "storage")):
        return f"{value / GIGABYTE:.6g}GB"
    return f"{value:.6g}"


def _places(places: Sequence[Tuple[Data, Data]], style: Style) -> str:
    heads = [_head(style, name) for name in ("queue", "place", "job", "name", "ahead", "before")]
    rows = [
        [
            queue["name"],
            str(place["position"]),
            place["job"],
            place["name"],
            UNKNOWN if place["ahead"] is None else str(place["ahead"]),
            ", ".join(_who(one, style) for one in place.get("before") or ()),
        ]
        for queue, place in places
    ]
    return table(heads, rows, style)


def _who(one: Data, style: Style) -> str:
    if one.get("name") is None:
        return _say(style, "somebody")
    return f"{one['name']} ({one['owner']})" if one.get("owner") else str(one["name"])


def turns_text(found: Sequence[Data], style: Style) -> str:
    """Each start with those whom it passed, and why."""
    if not found:
        return _say(style, "no-turns")
    lines = []
    for turn in found:
        count = len(turn["passed"]) + turn.get("more", 0)
        at, name = local_time(turn["at"]), plain(turn["name"])
        lines.append(_say(style, "turn", at=at, name=name, job=turn["job"], count=count))
        for one in turn["passed"]:
            lines.append(f"  {plain(one['name'] or one['job'])} ({one['job']}): {plain(one['why'])}")
        if turn.get("more"):
            lines.append("  " + _say(style, "more", count=turn["more"]))
    return "\n".join(lines)


def _say(style: Style, text: str, **values: Any) -> str:
    return TEXTS[text][style.lang == "zh"].format(**values)


def _head(style: Style, name: str) -> str:
    return HEADS[name][style.lang == "zh"]
