"""What somebody wants to be told of without looking: a job that is done, that failed, or that waits for very long.

Pure: from a job as it was and as it is, to one short sentence in the reader's language. Names are the users' own text
and go to chat programs that read markup, so what could be markup in one of them is replaced.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from jupyter_aiarts.model.job import ListedJob
from jupyter_aiarts.model.phase import Phase

Happened = Literal["done", "failed", "waiting"]

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
}
_MARKUP = str.maketrans({"<": "‹", ">": "›", "@": "＠", "*": "∗", "_": "＿", "`": "ˋ", "[": "［", "]": "］", "&": "＆"})


class News(Struct, frozen=True, kw_only=True):
    """One thing that happened to one job, in words; nothing in it is secret."""

    happened: Happened
    job: str
    name: str
    cluster: str
    owner: str
    text: str


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


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """Text that is on one line, short, and markup in no chat program."""
    clean = "".join(letter if letter.isprintable() else " " for letter in text)
    return (clean if len(clean) <= longest else clean[: longest - 1] + "…").translate(_MARKUP)
