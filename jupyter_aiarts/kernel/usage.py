"""`aiarts usage`: what this machine and its cards are doing, as text. Unknown reads as `?`, never as 0."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from jupyter_aiarts.kernel import pages
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.faces import Bar, Face
from jupyter_aiarts.kernel.live import drawn
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said, Shown
from jupyter_aiarts.kernel.terminal import Style, plain, table
from jupyter_aiarts.kernel.words import local_time

Data = Mapping[str, Any]
UNKNOWN = "?"
BAR = 10  # characters
USED = 5.0  # per cent: a card that was never busier has not been used, as the launcher counts it
NEARLY_FULL, FULL = 0.9, 0.97  # shares of a disk from which on it is pointed out, as in the page
SLOW_TOOL_SECONDS = 8.0  # `npu-smi` takes five on machines where all is well
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
    "one-card": ("Card", "卡"),
    "on-average": ("on average", "平均"),
    "name": ("NAME", "型号"),
    "busy": ("BUSY", "利用率"),
    "card-memory": ("MEMORY", "显存"),
    "its-memory": ("memory", "显存"),
    "power": ("POWER", "功耗"),
    "heat": ("TEMP", "温度"),
    "health": ("HEALTH", "健康"),
    "programs": ("PROGRAMS", "进程"),
    "gone": ("gone", "已不在"),
    "more": ("and {count} more", "另有 {count} 个"),
    "nearly-full": ("nearly full", "快满了"),
    "full": ("full", "已满"),
    "the-rest": ("(all others)", "（其余）"),
    "filling": ("{size} in {files} files below {path}", "{path} 下 {files} 个文件共 {size}"),
    "filling-cut": (
        "At least {size} in {files} files below {path}: counting ended after {seconds} s. More: --seconds N",
        "{path} 下至少 {files} 个文件共 {size}：{seconds} 秒后停止统计。更久：--seconds N",
    ),
    "unread": (
        "{count} folders or files may not be read and are not in it.",
        "{count} 个文件夹或文件无权读取，未计入。",
    ),
    "elsewhere": ("{count} other disks begin below it and are not in it.", "其下另有 {count} 个磁盘，未计入。"),
    "disk-left": ("Its disk has {left} of {total} left.", "所在磁盘 {total} 中仅剩 {left}。"),
    "node": ("NODE", "节点"),
    "now": ("NOW", "当前"),
    "mean": ("MEAN", "平均"),
    "most": ("MOST", "最高"),
    "idle": ("IDLE SINCE", "空闲自"),
    "used": ("{used} of its {count} cards have been used: {named}.", "{count} 张卡中用到了 {used} 张：{named}。"),
    "none-used": ("None of its {count} cards has been used.", "{count} 张卡一张也没有用到。"),
    "unseen": (
        "Nobody has looked at this job: it has not started, has only just, or was over within seconds.",
        "没有该任务的用量信息：它尚未启动、刚刚启动，或在数秒内就已结束。",
    ),
    "no-cards-seen": (
        "Nothing is known of its cards: it has none, or the driver's tool is not there.",
        "没有该任务的卡的信息：它没有卡，或没有驱动工具。",
    ),
    "rank": ("RANK", "进程号"),
    "rank-memory": ("MEMORY (MOST)", "内存（最高）"),
    "pod-network": (
        "Node {node} receives {received} (mean {mean_received}) and sends {sent} (mean {mean_sent}).",
        "节点 {node} 网络接收 {received}（平均 {mean_received}），发送 {sent}（平均 {mean_sent}）。",
    ),
    "read": ("READ", "磁盘读取"),
    "written": ("WRITTEN", "磁盘写入"),
}


class Usage(Shown):
    """One look at this machine: `host`, `devices`, `problems`."""

    def __init__(self, data: Data, client: Optional[Client] = None) -> None:
        self._client = client
        self.data = dict(data)
        self.host: Dict[str, Any] = dict(data["host"])
        self.devices: List[Dict[str, Any]] = list(data["devices"])
        self.problems: List[Dict[str, Any]] = list(data["problems"])

    goes_on = True

    def again(self) -> Usage:
        return self if self._client is None else Usage(self._client.usage(), self._client)

    def live(self) -> Optional[Dict[str, Any]]:
        return drawn(self._client, "usage")

    def face(self, lang: str) -> Face:
        none = "" if self.devices or self.problems else f"<p>{pages.text(_say(Style(lang), 'none'))}</p>"
        problems = "".join(pages.explanation_html(problem) for problem in self.problems)
        return Face(none + problems, usage_bars(self.data, Style(lang)))

    def past(self, seconds: float, points: int) -> Dict[str, List[Optional[float]]]:
        if self._client is None:
            return {}
        kept = self._client.usage(int(seconds)).get("history") or {"series": {}}
        step = max(int(seconds) // points, 1)
        return {key: values[::-1][::step][::-1] for key, values in kept["series"].items()}

    def text(self, style: Style) -> str:
        return usage_text(self.data, style)


def usage(session: Session, given: argparse.Namespace) -> Outcome:
    """Look at this machine, at the cards of a job, or at what takes the room of a folder."""
    if given.disk:
        found = session.client.filling(os.path.abspath(os.path.expanduser(given.disk)), given.seconds)
        text = filling_text(found, session.style)
        return Outcome(Said(text), found, text)
    if given.job:
        seen = session.client.job_usage(session.find(given.job), given.run)
        text = job_usage_text(seen, session.style)
        return Outcome(Said(text), seen, text)
    found = _answered(session.client)
    return Outcome(Usage(found, session.client), found, usage_text(found, session.style))


def _answered(client: Client) -> Dict[str, Any]:
    """What is seen, once slow tools have answered too: somebody who asks once is not told "not yet"."""
    deadline = time.monotonic() + SLOW_TOOL_SECONDS
    found = client.usage()
    while any(one["code"] == "probe-pending" for one in found["problems"]) and time.monotonic() < deadline:
        time.sleep(0.3)
        found = client.usage()
    return found


def usage_text(page: Data, style: Style) -> str:
    """The machine, then its cards, then what does not answer."""
    parts = [host_text(page["host"], style)]
    if page["devices"]:
        parts.append(_cards(page["devices"], style))
    elif not page["problems"]:  # else nobody knows
        parts.append(_say(style, "none"))
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
        full = disk_level(disk["used"], disk["total"])
        note = "  " + style.paint(_say(style, full), "error") if full else ""
        rows.append([_say(style, "disk"), bar(disk["used"], disk["total"]), shown, plain(disk["path"]) + note])
    rates = [_say(style, name, rate=size(host[name])) for name in ("received", "sent")]
    rows.append([_say(style, "network"), "", ", ".join(rates), ""])
    return table(["", "", "", ""], rows, style).split("\n", 1)[1]


def usage_bars(page: Data, style: Style) -> List[Bar]:
    """The machine and its cards as bars; their keys are the names that the server keeps their past by."""
    host = page["host"]
    cpu, memory = (
        _of(host["cpu"], host["cpus"], "{:.1f}"),
        f"{size(host['memory_used'])} / {size(host['memory_total'])}",
    )
    bars = [
        Bar("cpu", _say(style, "cpu"), f"{cpu} {_own(host, 'cpu', style)}".strip(), host["cpu"], host["cpus"]),
        Bar("memory", _say(style, "memory"), f"{memory} {_own(host, 'memory', style)}".strip(),
            host["memory_used"], host["memory_total"]),
    ]  # fmt: skip
    for disk in host["disks"]:
        full = disk_level(disk["used"], disk["total"])
        shown = f"{size(disk['used'])} / {size(disk['total'])}" + (f" {_say(style, full)}" if full else "")
        label = f"{_say(style, 'disk')} {plain(disk['path'])}"
        bars.append(Bar(f"disk {disk['path']}", label, shown, disk["used"], disk["total"], is_drawn=False))
    for card in page["devices"]:
        name, (used, total) = _cell(card, "card", style), (card["memory_used_mb"], card["memory_total_mb"])
        told = [_number(card["utilization"], "{:.0f} %"), *_asides(card, style)]
        bars.append(Bar(f"{name} utilization", f"{name} {plain(card['name'])}", " · ".join(told),
                        card["utilization"], 100.0))  # fmt: skip
        held = f"{_gigabytes(used, '{:.1f}')} / {_gigabytes(total, '{:.0f} GB')}"
        bars.append(Bar(f"{name} memory", f"{name} {_say(style, 'its-memory')}", held, used, total))
    return bars


def _asides(card: Data, style: Style) -> List[str]:
    """What is known of a card beside how busy it is; that it is well need not be said."""
    known = [_cell(card, column, style) for column, key in (("power", "power_w"), ("heat", "temperature_c"))
             if card[key] is not None]  # fmt: skip
    return known + ([_health(card["health"], style)] if card["health"] not in (None, "ok") else [])


def job_bars(page: Data, is_over: bool, lang: str) -> List[Bar]:
    """The cards of a job: what they do now, or did on average when it is over."""
    style = Style(lang)
    bars = []
    for node in page["nodes"]:
        for card in node["cards"]:
            name = f"{node['node']}:{card['id']}" if len(page["nodes"]) > 1 else str(card["id"])
            busy = card["mean"] if is_over else card["utilization"]
            memory = card["most_memory_mb"] if is_over else card["memory_used_mb"]
            told = [
                _number(busy, "{:.0f} %") + (f" {_say(style, 'on-average')}" if is_over else ""),
                f"{_gigabytes(memory, '{:.1f}')} / {_gigabytes(card['memory_total_mb'], '{:.0f} GB')}",
                *([_health(card["health"], style)] if card["health"] not in (None, "ok") else []),
            ]
            label = f"{_say(style, 'one-card')} {name} {plain(card['name'])}".rstrip()
            bars.append(Bar(f"card {name}", label, " · ".join(told), busy, 100.0, is_drawn=not is_over))
    return bars


def disk_level(used: Optional[float], total: Optional[float]) -> Optional[str]:
    """`nearly-full` or `full`; None for a disk with room, and for one of which nothing is known."""
    share = used / total if used is not None and total else 0.0
    return "full" if share >= FULL else "nearly-full" if share >= NEARLY_FULL else None


def filling_text(page: Data, style: Style) -> str:
    """The largest things in a folder, how full its disk is, and what could not be counted."""
    rows = [
        [bar(one["bytes"], page["bytes"]), size(one["bytes"]), plain(one["name"]) + ("/" if one["folder"] else "")]
        for one in page["takers"]
    ]
    if page["others"]:
        rows.append([bar(page["others"], page["bytes"]), size(page["others"]), _say(style, "the-rest")])
    whole = {"path": plain(page["path"]), "size": size(page["bytes"]), "files": page["files"]}
    lines = [_say(style, "filling" if page["complete"] else "filling-cut", seconds=f"{page['seconds']:.0f}", **whole)]
    lines += table(["", "", ""], rows, style).split("\n")[1:] if rows else []
    lines += [_say(style, name, count=page[name]) for name in ("unread", "elsewhere") if page[name]]
    disk = page["disk"]
    if disk and disk_level(disk["used"], disk["total"]):
        left = size(disk["total"] - disk["used"])
        lines.append(style.paint(_say(style, "disk-left", left=left, total=size(disk["total"])), "error"))
    return "\n".join(lines)


def job_usage_text(page: Data, style: Style) -> str:
    """The cards of a job, node by node, as they were last seen and over the whole run."""
    rows = [
        [str(node["node"]), str(card["id"]), plain(card["name"] or UNKNOWN), _number(card["utilization"], "{:.0f} %"),
         _number(card["mean"], "{:.0f} %"), _number(card["most"], "{:.0f} %"),
         f"{_gigabytes(card['most_memory_mb'], '{:.1f}')} / {_gigabytes(card['memory_total_mb'], '{:.0f} GB')}",
         _number(card.get("power_w"), "{:.0f} W"), _number(card.get("temperature_c"), "{:.0f} °C"),
         local_time(node["idle_since"]) if node["idle_since"] else "-"]
        for node in page["nodes"]
        for card in node["cards"]
    ]  # fmt: skip
    if not page["nodes"]:
        return _say(style, "unseen")
    around = [part for part in (_ranks(page["nodes"], style), *_networks(page["nodes"], style)) if part]
    if not rows:
        return "\n".join([*around, _say(style, "no-cards-seen")])
    columns = ("node", "card", "name", "now", "mean", "most", "card-memory", "power", "heat", "idle")
    told = [table([_say(style, column) for column in columns], rows, style), _used(page["nodes"], style)]
    return "\n".join(part for part in [*around, *told] if part)


def _ranks(nodes: Sequence[Data], style: Style) -> str:
    """CPUs, memory and disks of each rank with all its processes."""
    rows = [
        [str(node["node"]), str(rank["rank"]),
         *(_number(rank[key], "{:.2f}") for key in ("cpu", "mean_cpu", "most_cpu")),
         f"{_megabytes(rank['memory_mb'])} ({_megabytes(rank['most_memory_mb'])})",
         *(_speed(rank.get(key)) for key in ("read", "written"))]
        for node in nodes
        for rank in node["ranks"]
    ]  # fmt: skip
    heads = [_say(style, word) for word in ("node", "rank", "cpu", "mean", "most", "rank-memory", "read", "written")]
    return table(heads, rows, style) if rows else ""


def _networks(nodes: Sequence[Data], style: Style) -> Iterator[str]:
    """What comes and goes through the network of each pod; of a machine that others use nobody knows."""
    for node in nodes:
        if node.get("received") is not None:
            numbers = {key: _speed(node[key]) for key in ("received", "sent", "mean_received", "mean_sent")}
            yield _say(style, "pod-network", node=node["node"], **numbers)


def _used(nodes: Sequence[Data], style: Style) -> str:
    """How many of a job's cards were used at all; nothing where that is all of them, or not known of one."""
    cards = [(node["node"], card) for node in nodes for card in node["cards"]]
    if any(card["most"] is None for _, card in cards) or not all(node["cards"] for node in nodes):
        return ""
    used = [
        f"{node}:{card['id']}" if len(nodes) > 1 else str(card["id"]) for node, card in cards if card["most"] >= USED
    ]
    if len(used) == len(cards):
        return ""
    return _say(style, "used" if used else "none-used", used=len(used), count=len(cards), named=", ".join(used))


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
    return _health(card["health"], style) if column == "health" else _programs(card["programs"], style)


def _health(health: Optional[str], style: Style) -> str:
    """The driver's own word; that a card is gone is ours."""
    return _say(style, "gone") if health == "gone" else plain(health or UNKNOWN)


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


def _megabytes(count: Optional[float]) -> str:
    return size(None if count is None else count * (1 << 20))


def _speed(bytes_: Optional[float]) -> str:
    return UNKNOWN if bytes_ is None else f"{size(bytes_)}/s"


def _gigabytes(megabytes: Optional[float], form: str) -> str:
    return UNKNOWN if megabytes is None else form.format(megabytes / 1024)


def _own(host: Data, number: str, style: Style) -> str:
    return _say(style, "own") if number in host["own"] else ""


def _say(style: Style, word: str, **values: Any) -> str:
    return WORDS[word][style.lang == "zh"].format(**values)
