"""What somebody wants to be told of without looking: a job that is done, that failed, or that waits for very long; and
for admins a node that is not well, or is again.

Pure: from a job or a node as it was and as it is, to one short sentence in the reader's language. Names are the users'
own text and go to chat programs that read markup, so what could be markup in one of them is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from jupyter_aiarts.model.cluster import Node
from jupyter_aiarts.model.job import ListedJob
from jupyter_aiarts.model.phase import Phase

Happened = Literal["done", "failed", "waiting", "node-unwell", "node-well"]

LONGEST_NAME = 80
_TEXTS: dict[Happened, dict[str, str]] = {
    "done": {
        "en": "{owner}'s job “{name}” ({id}, {cluster}) is done.",
        "zh": "{owner} 的任务“{name}”（{id}，{cluster}）已完成。",
    },
    "failed": {
        "en": "{owner}'s job “{name}” ({id}, {cluster}) failed: {title}",
        "zh": "{owner} 的任务“{name}”（{id}，{cluster}）失败：{title}",
    },
    "waiting": {
        "en": "{owner}'s job “{name}” ({id}, {cluster}) has been waiting for {minutes} minutes: {title}",
        "zh": "{owner} 的任务“{name}”（{id}，{cluster}）已等待 {minutes} 分钟：{title}",
    },
    "node-unwell": {"en": "Node {node} of {cluster}: {problems}.", "zh": "{cluster} 的节点 {node}：{problems}。"},
    "node-well": {"en": "Node {node} of {cluster} is well again.", "zh": "{cluster} 的节点 {node} 已恢复正常。"},
}
PROBLEMS: dict[str, tuple[str, str]] = {
    "not-ready": ("it is not ready", "未就绪"),
    "disk-pressure": ("its disk is nearly full", "磁盘不足"),
    "memory-pressure": ("its memory is nearly full", "内存不足"),
    "pid-pressure": ("it has nearly too many processes", "进程数不足"),
    "unhealthy-cards": ("it has unhealthy cards", "有故障卡"),
    "cards-missing": ("cards that are held have gone", "被占用的卡已不可用"),
}
"""What is an alert. That a node is cordoned or tainted is what an admin did."""

MOST_UNWELL = 100
Unwell = dict[tuple[str, str], frozenset[str]]
"""By cluster and node: what is wrong with it."""

_MARKUP = str.maketrans({"<": "‹", ">": "›", "@": "＠", "*": "∗", "_": "＿", "`": "ˋ", "[": "［", "]": "］", "&": "＆"})


class News(Struct, frozen=True, kw_only=True):
    """One thing that happened to one job or node, in words; nothing in it is secret."""

    happened: Happened
    cluster: str
    text: str
    job: str | None = None
    name: str | None = None
    owner: str | None = None
    node: str | None = None

    @property
    def about(self) -> str:
        """What it is about, for a log."""
        return f"job {self.job}" if self.job else f"node {self.node}"


def ended(before: Phase | None, job: ListedJob, lang: str = "en") -> News | None:
    """News of a job that has ended by itself since it was last seen; a stop is none to whoever asked for it."""
    if before is job.phase:
        return None
    if job.phase is Phase.SUCCEEDED:
        return tell("done", job, lang)
    return tell("failed", job, lang) if job.phase in (Phase.FAILED, Phase.LOST) else None


def tell(happened: Happened, job: ListedJob, lang: str = "en", minutes: int = 0) -> News:
    """The news in words: who, which job, where, and the title of the explanation, never its evidence."""
    name, owner = plain(job.name), plain(job.owner)
    title = plain(job.explanation.title, 300) if job.explanation else job.phase.value
    text = _TEXTS[happened]["zh" if lang == "zh" else "en"].format(
        owner=owner, name=name, id=job.id, cluster=plain(job.cluster), title=title, minutes=minutes
    )
    return News(happened=happened, job=job.id, name=name, cluster=plain(job.cluster), owner=owner, text=text)


def unwell(nodes: Iterable[Node]) -> Unwell:
    """What is wrong with which node; one with two kinds of cards is one node."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for node in nodes:
        key = (node.cluster, node.name)
        found[key] = found.get(key, frozenset()) | (frozenset(node.problems) & PROBLEMS.keys())
    return found


def by_cluster(known: Unwell) -> dict[str, list[dict[str, Any]]]:
    """Of each cluster whose nodes are known those that are not well, as far as somebody would read them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for (cluster, node), problems in sorted(known.items()):
        nodes = found.setdefault(cluster, [])
        if problems and len(nodes) < MOST_UNWELL:
            nodes.append({"node": node, "problems": sorted(problems)})
    return found


def alerts(before: Unwell, after: Unwell, lang: str = "en") -> list[News]:
    """News of nodes with which something more is wrong, or nothing any more; a node that was not known is no news."""
    return [
        _alert(key, problems, lang)
        for key, problems in after.items()
        if key in before and (problems - before[key] or (before[key] and not problems))
    ]


def _alert(key: tuple[str, str], problems: frozenset[str], lang: str) -> News:
    cluster, node = (plain(part) for part in key)
    zh = lang == "zh"
    words = ("、" if zh else ", ").join(PROBLEMS[one][zh] for one in sorted(problems))
    happened: Happened = "node-unwell" if problems else "node-well"
    text = _TEXTS[happened]["zh" if zh else "en"].format(node=node, cluster=cluster, problems=words)
    return News(happened=happened, cluster=cluster, node=node, text=text)


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """Text that is on one line, short, and markup in no chat program."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    return (clean if len(clean) <= longest else clean[: longest - 1] + "…").translate(_MARKUP)
