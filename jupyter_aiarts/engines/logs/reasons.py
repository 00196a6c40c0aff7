"""What a log says about itself: why bytes are missing, and why there is no line at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence

import msgspec

from jupyter_aiarts.engines.person import person

from .segments import Place, Vanished
from .stream import Stream

_STATUS_BYTES = 4 * 1024 * 1024
_WORDS = {"limit": "log limit reached", "log-limit": "log limit reached", "disk-full": "disk full"}
UNKNOWN_AMOUNT = "unknown-amount: "
"""What the reason of a drop begins with when nobody knows how many bytes it was; the rest is the sentence."""

_WAITING = frozenset({"queued", "starting"})
_NO_LOG = {
    "waiting": ("Not started yet{}.", "尚未启动{}。"),
    "silent": ("Started, nothing printed yet.", "已启动，尚无输出。"),
    "nothing": ("Ended, nothing was printed.", "已结束，没有任何输出。"),
    "never": ("Ended before it started{}.", "未启动即已结束{}。"),
    "lost": ("The log is lost{}.", "日志已丢失{}。"),
}
_UNREAD = (
    "{path} may not be read by this server, which runs as {me}{whose}{more}. Ask an admin for the right to read it. "
    "What a job writes with run_as: user is its owner's.",
    "本服务器以 {me} 运行，无权读取 {path}{whose}{more}。请管理员授予读取权限。"
    "以 run_as: user 运行的作业，其文件属于作业的所有者。",
)
_WHOSE = (": it belongs to {owner}, with mode {mode:04o}", "：它属于 {owner}，权限为 {mode:04o}")
_MORE = (", and so do {count} more", "，另有 {count} 处也是如此")


class Drop(msgspec.Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """Bytes the launcher could not keep, as its status tells."""

    rank: int
    stream: str
    start: int
    end: int
    reason: str


class _Status(msgspec.Struct, frozen=True):
    drops: list[Drop] = []


def drops_of(place: Place) -> list[Drop]:
    """What the launcher of a node says it dropped; nothing when its status can't be read."""
    try:
        return msgspec.json.decode(place.read("status.json", 0, _STATUS_BYTES), type=_Status).drops
    except (Vanished, msgspec.DecodeError):
        return []


def lost_to(stream: Stream, drops: Sequence[Drop]) -> int:
    """Where the bytes end that were lost after the newest segment; 0 when none are known to be."""
    ends = [drop.end for drop in drops if (drop.rank, drop.stream) == (stream.rank, stream.stream)]
    return max([end for end in ends if stream.end < end < 1 << 63], default=0)


def gap_text(stream: Stream, start: int, end: int, drops: Sequence[Drop]) -> str:
    """The line shown in place of missing bytes."""
    reason = next(
        (
            drop.reason
            for drop in drops
            if drop.rank == stream.rank and drop.stream == stream.stream and drop.start < end and drop.end > start
        ),
        "",
    )
    if reason.startswith(UNKNOWN_AMOUNT):
        return f"… {reason[len(UNKNOWN_AMOUNT) :][:200]} …"
    words = _WORDS.get(reason, reason)[:200]
    return f"… {end - start:,} bytes dropped here{f': {words}' if words else ''} …"


def no_log_reason(phase: str, why: str = "", lang: str = "en", rank_states: Sequence[str] = ()) -> str:
    """The sentence shown when a log has no line: never silence.

    `phase` is the job's; `why` the explanation at hand; `rank_states` the phases of the ranks in question, by
    which a job that ended before they began is told from one that printed nothing.
    """
    english, chinese = _NO_LOG[_case(phase, rank_states)]
    why = why.strip().rstrip(".。")
    if lang.startswith("zh"):
        return chinese.format(f"（{why}）" if why else "")
    return english.format(f" ({why})" if why else "")


def unread_reason(paths: Sequence[str], lang: str = "en") -> str:
    """The sentence for files and folders that are there and refuse to be read; looks whose they are."""
    number = int(lang.startswith("zh"))
    whose = ""
    with contextlib.suppress(OSError):
        found = os.lstat(paths[0])
        whose = _WHOSE[number].format(owner=person(found.st_uid), mode=stat.S_IMODE(found.st_mode))
    more = _MORE[number].format(count=len(paths) - 1) if len(paths) > 1 else ""
    return _UNREAD[number].format(path=paths[0], me=person(os.geteuid()), whose=whose, more=more)


def _case(phase: str, rank_states: Sequence[str]) -> str:
    begun = any(state not in _WAITING for state in rank_states) if rank_states else phase not in _WAITING
    if phase == "lost":
        return "lost"
    if phase in _WAITING:
        return "waiting"
    if phase in ("running", "paused"):
        return "silent" if begun else "waiting"
    return "nothing" if begun else "never"
