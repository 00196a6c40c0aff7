"""Why somebody started first, as a sentence in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_aiarts.model.turn import Passed, Turn

REASONS: dict[str, tuple[str, str]] = {
    "higher-priority": ("it has the higher priority ({about})", "其优先级更高（{about}）"),
    "preemptible": (
        "the one that waits is preemptible, so that others may go before it",
        "等待的任务可被抢占，其他任务可以先于它启动",
    ),
    "other-queue": ("it is in another queue ({about}), which has room", "它在另一个有空闲的队列（{about}）中"),
    "inactive": ("the queue {about} of the one that waits takes no jobs", "等待任务所在的队列 {about} 不接收任务"),
    "quota": (
        "the one that waits needs more of the quota than is free ({about})",
        "等待的任务所需超出了剩余配额（{about}）",
    ),
    "smaller-delays-nobody": (
        "it takes nothing of what the other waits for ({about}), so it delays nobody",
        "它不占用对方等待的资源（{about}），不会耽误任何任务",
    ),
    "smaller": (
        "it is smaller and fits where the other does not; the scheduler keeps nothing free",
        "它更小，能放进对方放不下的位置；调度器不会预留资源",
    ),
    "unknown": ("why is not known from here", "原因在这里无法得知"),
}


def reason_text(passed: Passed, lang: str) -> str:
    """The reason alone; what it would speak of and nobody knows is left out."""
    text = REASONS.get(passed.reason, REASONS["unknown"])[lang == "zh"]
    if not passed.about:
        text = text.replace(" ({about})", "").replace("（{about}）", "").replace("{about} ", "")
    return text.replace("{about}", passed.about)


def passed_text(turn: Turn, passed: Passed, lang: str) -> str:
    """The whole sentence, for the one that was passed."""
    at = turn.at[:19].replace("T", " ") + " UTC"
    if lang == "zh":
        return f"“{turn.name}”（{turn.job}）于 {at} 先启动：{reason_text(passed, lang)}。"
    return f"“{turn.name}” ({turn.job}) started before it at {at}: {reason_text(passed, lang)}."
