"""`aiarts cluster`: the machines behind the jobs, who holds their cards and what fits now, as text."""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.live import drawn
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said, Shown
from jupyter_aiarts.kernel.terminal import Style, plain, table
from jupyter_aiarts.kernel.words import local_time

Data = Mapping[str, Any]
HOLDERS = 4  # named in a row; the others are counted
UNKNOWN = "?"

HEADS: Dict[str, Tuple[str, str]] = {
    "cluster": ("CLUSTER", "集群"),
    "node": ("NODE", "节点"),
    "device": ("DEVICE", "设备"),
    "cards": ("CARDS", "卡数"),
    "free": ("FREE", "空闲"),
    "cpu": ("FREE CPU", "空闲 CPU"),
    "used": ("IN USE", "实际使用"),
    "held": ("HELD BY", "占用者"),
    "problems": ("PROBLEMS", "问题"),
    "job": ("JOB", "作业"),
    "name": ("NAME", "名称"),
    "owner": ("OWNER", "所有者"),
    "pod": ("POD", "POD"),
    "since": ("SINCE", "自"),
    "why": ("WHY", "原因"),
}
KINDS: Dict[str, Tuple[str, str]] = {
    "pod-stuck": ("told to go, and its node does not say that it went", "已通知退出，但节点未确认"),
    "keeps-cards": ("its job has ended, and its node does not say that it went", "作业已结束，但节点未确认 Pod 退出"),
    "half-deleted": (
        "its job was deleted, and its node does not say that it went",
        "作业已删除，节点未确认退出",
    ),
    "unfinished": ("left by a submission that crashed; removed by itself", "提交中途崩溃所留，会自动清除"),
}
PROBLEMS_ZH = {
    "cordoned": "已停止调度",
    "tainted": "有污点",
    "not-ready": "未就绪",
    "disk-pressure": "磁盘不足",
    "memory-pressure": "内存不足",
    "pid-pressure": "进程数不足",
    "unhealthy-cards": "有故障卡",
    "cards-missing": "被占用的卡已不可用",
}
TEXTS: Dict[str, Tuple[str, str]] = {
    "fits": ("Fits now, by cards: {fits}", "现在放得下（按卡数）：{fits}"),
    "fits-of": ("{device}: {jobs}; {nodes} nodes with 8 free", "{device}：{jobs}；{nodes} 个节点空闲 8 张"),
    "no-cards": ("Fits now, by cards: no node has cards.", "现在放得下（按卡数）：没有带卡的节点。"),
    "unknown": ("Fits now: unknown.", "现在放得下：未知。"),
    "stale": ("{cluster}: as seen at {since}; the cluster is away.", "{cluster}：为 {since} 所见；集群无法访问。"),
    "none-stuck": ("Nothing is stuck.", "没有滞留的内容。"),
    "some-stuck": ("Stuck: {count}. See: aiarts cluster --stuck", "有 {count} 项滞留。查看：aiarts cluster --stuck"),
    "release": (
        "aiarts release JOB gives their cards back, aiarts release --all-users --stuck those of all; "
        "what they ran may still run on a node that is only cut off.",
        "aiarts release JOB 归还其卡，aiarts release --all-users --stuck 归还全部；"
        "若节点只是失联，其上的进程可能仍在运行。",
    ),
    "others": ("and {count} more", "另有 {count} 个"),
    "missing": ("{count} held that the node does not offer", "{count} 张被占用但节点不再提供"),
}


class Machines(Shown):
    """Nodes with their cards and holders, and what fits now: `nodes`, `fits`, `clusters`."""

    def __init__(self, data: Data, client: Optional[Client] = None, name: Optional[str] = None) -> None:
        self._client, self._name = client, name
        self.data = dict(data)
        self.nodes: List[Dict[str, Any]] = list(data["nodes"])
        self.fits: Any = data.get("fits")
        self.clusters: List[Dict[str, Any]] = list(data.get("clusters") or ())

    goes_on = True

    def again(self) -> Machines:
        found = self.data if self._client is None else self._client.cluster(self._name)
        return Machines(found, self._client, self._name)

    def live(self) -> Optional[Dict[str, Any]]:
        return drawn(self._client, "cluster", cluster=self._name)

    def text(self, style: Style) -> str:
        return machines_text(self.data, style)


def cluster(session: Session, given: argparse.Namespace) -> Outcome:
    """Show the machines of one cluster, or of all."""
    found = session.client.cluster(given.cluster)
    if given.stuck:
        text = stuck_text(found["stuck"], session.style)
        return Outcome(Said(text), found["stuck"], text)
    return Outcome(Machines(found, session.client, given.cluster), found, machines_text(found, session.style))


def machines_text(page: Data, style: Style) -> str:
    """The table of nodes, what fits now, and what cannot be seen."""
    parts = []
    if page["nodes"]:
        parts.append(_table(page["nodes"], style))
    parts.append(fits_text(page.get("fits"), style))
    for one in page.get("clusters") or ():
        if one.get("stale_since"):
            parts.append(_say(style, "stale", cluster=plain(one["name"]), since=local_time(one["stale_since"])))
        parts += [explanation_text(unknown, style) for unknown in one.get("unknown") or ()]
    if page.get("stuck"):
        parts.append(_say(style, "some-stuck", count=len(page["stuck"])))
    return "\n".join(parts)


def stuck_text(stuck: Sequence[Data], style: Style) -> str:
    """What should be gone and is not, one row each, what that means, and what to do."""
    if not stuck:
        return _say(style, "none-stuck")
    columns = ("job", "name", "owner", "pod", "node", "cards", "since", "why")
    rows = [[_stuck_cell(one, column, style) for column in columns] for one in stuck]
    lines = [table([HEADS[column][style.lang == "zh"] for column in columns], rows, style)]
    if any(one["pod"] for one in stuck):
        lines.append(_say(style, "release"))
    return "\n".join(lines)


def _stuck_cell(one: Data, column: str, style: Style) -> str:
    if column == "since":
        return local_time(one["since"])
    if column == "why":
        return KINDS[one["kind"]][style.lang == "zh"]
    return "-" if one[column] is None else str(one[column])


def _table(nodes: Sequence[Data], style: Style) -> str:
    many = len({node["cluster"] for node in nodes}) > 1
    columns = [*(["cluster"] if many else []), "node", "device", "cards", "free", "cpu"]
    columns += ["used"] if any(_is_told(node) for node in nodes) else []
    columns += ["held"]
    columns += ["problems"] if any(node["problems"] for node in nodes) else []
    rows = [[_cell(node, column, style) for column in columns] for node in nodes]
    return table([HEADS[column][style.lang == "zh"] for column in columns], rows, style)


def _cell(node: Data, column: str, style: Style) -> str:
    if column == "cluster":
        return str(node["cluster"])
    if column == "node":
        return str(node["name"])
    if column == "device":
        return str(node["device"] or "-")
    if column in ("cards", "free"):
        return UNKNOWN if node[column] is None else str(node[column])
    if column == "used":
        return used_text(node)
    if column == "cpu":
        return UNKNOWN if node.get("free_cpu") is None else f"{node['free_cpu']:g}"
    return held_text(node["held_by"], style) if column == "held" else problems_text(node, style)


def used_text(node: Data) -> str:
    """`3.1/8 CPU, 12/64 GB`: what a node really uses, where a metrics server tells it."""
    if not _is_told(node):
        return UNKNOWN
    amounts = [node.get(key) for key in ("used_cpu", "cpu", "used_memory_gb", "memory_gb")]
    return "{}/{} CPU, {}/{} GB".format(*(UNKNOWN if one is None else f"{one:g}" for one in amounts))


def _is_told(node: Data) -> bool:
    return node.get("used_cpu") is not None or node.get("used_memory_gb") is not None


def held_text(held: Sequence[Data], style: Style) -> str:
    """`3 alice (a1b2c3d4e5), 2 team-b`: how many cards, whose; of what is not a job of ours, the namespace."""
    named = [_holder(one) for one in held[:HOLDERS]]
    rest = len(held) - len(named)
    return ", ".join([*named, *([_say(style, "others", count=rest)] if rest else [])])


def _holder(one: Data) -> str:
    whose = plain(one.get("owner") or one.get("namespace") or UNKNOWN)
    much = str(one["cards"]) if one["cards"] or one.get("cpu") is None else f"{one['cpu']:g} CPU"
    return "{} {}{}".format(much, whose, f" ({one['job']})" if one.get("job") else "")


def problems_text(node: Data, style: Style) -> str:
    """What is wrong with a node, in words."""
    words = [PROBLEMS_ZH.get(one, one) if style.lang == "zh" else one for one in node["problems"]]
    text = ", ".join(words)
    return text + (f" ({_say(style, 'missing', count=node['missing'])})" if node.get("missing") else "")


def fits_text(fits: Any, style: Style) -> str:
    """How many jobs of which size would find cards now."""
    if fits is None:
        return _say(style, "unknown")
    if not fits:
        return _say(style, "no-cards")
    each = [_fits_of(device, counts, style) for device, counts in sorted(fits.items())]
    return _say(style, "fits", fits=" · ".join(each))


def _fits_of(device: str, counts: Mapping[str, int], style: Style) -> str:
    jobs = ", ".join(f"{count} x {size}" for size, count in counts.items() if size.isdigit())
    return _say(style, "fits-of", device=plain(device), jobs=jobs, nodes=counts.get("nodes_of_8", 0))


def _say(style: Style, text: str, **values: Any) -> str:
    return TEXTS[text][style.lang == "zh"].format(**values)
