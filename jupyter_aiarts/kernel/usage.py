"""`aiarts usage`: what this machine and its cards are doing, as text. Unknown reads as `?`, never as 0."""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said, Shown
from jupyter_aiarts.kernel.terminal import Style, plain, table
from jupyter_aiarts.kernel.words import local_time

Data = Mapping[str, Any]
UNKNOWN = "?"
BAR = 10  # characters
PROGRAMS = 3  # named for a card; the others are counted

WORDS: Dict[str, Tuple[str, str]] = {
    "cpu": ("CPU", "CPU"),
    "memory": ("Memory", "内存"),
    "disk": ("Disk", "磁盘"),
    "network": ("Network", "网络"),
    "received": ("{rate}/s in", "接收 {rate}/s"),
    "sent": ("{rate}/s out", "发送 {rate}/s"),
    "own": ("this container's", "本容器"),
    "none": ("No GPU or NPU is seen here.", "这里没有可见的 GPU 或 NPU。"),
    "card": ("CARD", "卡"),
    "name": ("NAME", "型号"),
    "busy": ("BUSY", "利用率"),
    "card-memory": ("MEMORY", "显存"),
    "power": ("POWER", "功耗"),
    "heat": ("TEMP", "温度"),
    "health": ("HEALTH", "健康"),
    "programs": ("PROGRAMS", "进程"),
    "more": ("and {count} more", "另有 {count} 个"),
    "node": ("NODE", "节点"),
    "now": ("NOW", "当前"),
    "mean": ("MEAN", "平均"),
    "most": ("MOST", "最高"),
    "idle": ("IDLE SINCE", "空闲自"),
    "unseen": (
        "Nothing is known of its cards: it has none, has only just started, or the driver's tool is not there.",
        "没有该任务的卡的信息：它没有卡、刚刚启动，或没有驱动工具。",
    ),
}


class Usage(Shown):
    """One look at this machine: `host`, `devices`, `problems`."""

    def __init__(self, data: Data) -> None:
        self.data = dict(data)
        self.host: Dict[str, Any] = dict(data["host"])
        self.devices: List[Dict[str, Any]] = list(data["devices"])
        self.problems: List[Dict[str, Any]] = list(data["problems"])

    def text(self, style: Style) -> str:
        return usage_text(self.data, style)


def usage(session: Session, given: argparse.Namespace) -> Outcome:
    """Look at this machine, or at the cards of a job."""
    if given.job:
        seen = session.client.job_usage(session.find(given.job), given.run)
        text = job_usage_text(seen, session.style)
        return Outcome(Said(text), seen, text)
    found = session.client.usage()
    return Outcome(Usage(found), found, usage_text(found, session.style))


def usage_text(page: Data, style: Style) -> str:
    """The machine, then its cards, then what does not answer."""
    parts = [host_text(page["host"], style)]
    parts.append(_cards(page["devices"], style) if page["devices"] else _say(style, "none"))
    parts += [explanation_text(problem, style) for problem in page["problems"]]
    return "\n".join(parts)


def host_text(host: Data, style: Style) -> str:
    """One line for each number of the machine that is known."""
    rows = [
        [
            _say(style, "cpu"),
            bar(host["cpu"], host["cpus"]),
            _of(host["cpu"], host["cpus"], "{:.1f}"),
            _own(host, "cpu", style),
        ],
        [
            _say(style, "memory"),
            bar(host["memory_used"], host["memory_total"]),
            f"{size(host['memory_used'])} / {size(host['memory_total'])}",
            _own(host, "memory", style),
        ],
    ]
    for disk in host["disks"]:
        shown = f"{size(disk['used'])} / {size(disk['total'])}"
        rows.append([_say(style, "disk"), bar(disk["used"], disk["total"]), shown, plain(disk["path"])])
    rates = [_say(style, name, rate=size(host[name])) for name in ("received", "sent")]
    rows.append([_say(style, "network"), "", ", ".join(rates), ""])
    return table(["", "", "", ""], rows, style).split("\n", 1)[1]


def job_usage_text(page: Data, style: Style) -> str:
    """The cards of a job, node by node, as they were last seen and over the whole run."""
    rows = [
        [str(node["node"]), str(card["id"]), plain(card["name"] or UNKNOWN), _number(card["utilization"], "{:.0f} %"),
         _number(card["mean"], "{:.0f} %"), _number(card["most"], "{:.0f} %"),
         f"{_gigabytes(card['most_memory_mb'], '{:.1f}')} / {_gigabytes(card['memory_total_mb'], '{:.0f} GB')}",
         local_time(node["idle_since"]) if node["idle_since"] else "-"]
        for node in page["nodes"]
        for card in node["cards"]
    ]  # fmt: skip
    if not rows:
        return _say(style, "unseen")
    columns = ("node", "card", "name", "now", "mean", "most", "card-memory", "idle")
    return table([_say(style, column) for column in columns], rows, style)


def _cards(cards: Sequence[Data], style: Style) -> str:
    columns = ("card", "name", "busy", "card-memory", "power", "heat", "health", "programs")
    rows = [[_cell(card, column, style) for column in columns] for card in cards]
    return table([_say(style, column) for column in columns], rows, style)


def _cell(card: Data, column: str, style: Style) -> str:
    if column == "card":
        return "{} {}{}".format(card["kind"], card["id"], f" {plain(card['part'])}" if card["part"] else "")
    if column == "name":
        return plain(card["name"] or UNKNOWN)
    if column == "busy":
        return f"{bar(card['utilization'], 100)} {_number(card['utilization'], '{:.0f} %')}"
    if column == "card-memory":
        used, total = card["memory_used_mb"], card["memory_total_mb"]
        return f"{bar(used, total)} {_gigabytes(used, '{:.1f}')} / {_gigabytes(total, '{:.0f} GB')}"
    if column == "power":
        return _number(card["power_w"], "{:.0f} W")
    if column == "heat":
        return _number(card["temperature_c"], "{:.0f} °C")
    return plain(card["health"] or UNKNOWN) if column == "health" else _programs(card["programs"], style)


def _programs(programs: Optional[Sequence[Data]], style: Style) -> str:
    if programs is None:
        return UNKNOWN
    named = ["{} {}".format(one["pid"], plain(one["name"])).strip() for one in programs[:PROGRAMS]]
    rest = len(programs) - len(named)
    return ", ".join([*named, *([_say(style, "more", count=rest)] if rest else [])])


def bar(part: Optional[float], whole: Optional[float]) -> str:
    """`███·······`; dots alone where it is not known."""
    full = round(BAR * min(max(part / whole, 0.0), 1.0)) if part is not None and whole else 0
    return "█" * full + "·" * (BAR - full)


def size(count: Optional[float]) -> str:
    """Bytes as a person reads them."""
    if count is None:
        return UNKNOWN
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def _of(part: Optional[float], whole: Optional[float], form: str) -> str:
    return f"{_number(part, form)} / {_number(whole, '{:g}')}"


def _number(value: Optional[float], form: str) -> str:
    return UNKNOWN if value is None else form.format(value)


def _gigabytes(megabytes: Optional[float], form: str) -> str:
    return UNKNOWN if megabytes is None else form.format(megabytes / 1024)


def _own(host: Data, number: str, style: Style) -> str:
    return _say(style, "own") if number in host["own"] else ""


def _say(style: Style, word: str, **values: Any) -> str:
    return WORDS[word][style.lang == "zh"].format(**values)
