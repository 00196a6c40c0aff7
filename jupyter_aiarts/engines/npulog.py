"""The NPU driver's log of a job, wherever it ran: lines for the log's view, and the sentence for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from jupyter_aiarts.model.job import LogLine

if TYPE_CHECKING:
    from jupyter_aiarts.launcher.ascend.slog import Errors
    from jupyter_aiarts.model.job import Rank

STREAM = "npu"
_SENTENCES = {
    "no-npu": (
        "The job uses no NPU, so the NPU driver's log says nothing about it.",
        "该作业未使用 NPU，驱动日志与其无关。",
    ),
    "not-started": ("The job has not started, so it has no cards yet.", "作业尚未启动，还没有分配设备。"),
    "absent": (
        "There is no {place} {where}. In a pod the admin mounts it by the device's `volumes`.",
        "{where}没有 {place}。在 Pod 中需由管理员在设备的 `volumes` 中挂载。",
    ),
    "denied": (
        "{place} may not be read {where}. Its group is HwHiAiUser: ask the admin to add whoever jobs run as.",
        "无权读取{where}的 {place}。其所属组为 HwHiAiUser，请管理员将作业的用户加入该组。",
    ),
    "gone": (
        "The pod of node {node} runs no more, and its launcher did not live to keep the NPU driver's errors.",
        "节点 {node} 的 Pod 已不在运行，其启动器未能保留 NPU 驱动的错误日志。",
    ),
    "unanswered": ("The launcher of node {node} did not answer: {why}.", "节点 {node} 的启动器没有应答：{why}。"),
    "nothing": ("The NPU driver has logged no error for this job's cards.", "NPU 驱动没有记录该作业设备的错误。"),
}
_WHERE = {"machine": ("on this machine", "本机"), "pod": ("in the pod of node {node}", "节点 {node} 的 Pod 中")}


class _Told(Struct):
    folder: str
    card: int | None
    text: str


class NpuPage(Struct):
    """What a launcher found, on its port and in `npulog.json`: `slog.Errors` by name."""

    lines: list[_Told]
    place: str
    problem: Literal["", "absent", "denied"]

    @property
    def errors(self) -> Errors:
        """As `told` and `gap_of` want it."""
        from jupyter_aiarts.launcher.ascend.slog import Errors, Line

        return Errors([Line(one.folder, one.card, one.text) for one in self.lines], self.place, self.problem)


class Gap(Struct, frozen=True):
    """Something that is not there: why, as one of the codes above, and where."""

    code: str
    place: str = ""
    node: int | None = None  # None: this machine
    why: str = ""

    def sentence(self, lang: str) -> str:
        """For people."""
        where = _WHERE["machine" if self.node is None else "pod"][lang == "zh"].format(node=self.node)
        return _SENTENCES[self.code][lang == "zh"].format(place=self.place, where=where, node=self.node, why=self.why)


class NpuLog(Struct, frozen=True, kw_only=True):
    """ERROR lines, oldest first, and what is missing."""

    lines: tuple[LogLine, ...] = ()
    gaps: tuple[Gap, ...] = ()

    def sentence(self, lang: str) -> str:
        """Why there may be no line, or not all."""
        gaps = self.gaps or ((Gap("nothing"),) if not self.lines else ())
        return " ".join(gap.sentence(lang) for gap in gaps)


def cards_of(ranks: Iterable[Rank], node: int) -> list[int]:
    """The cards that a node's ranks hold, as far as is known."""
    return sorted({card for rank in ranks if rank.node == node for card in rank.devices or ()})


def told(errors: Errors, node: int, ranks: Sequence[Rank]) -> list[LogLine]:
    """A node's errors as log lines: a card's belong to the rank that holds it, others to the node's first.

    They have no time of ours: each shows the driver's own, which is in no zone that we know.
    """
    own = [rank for rank in ranks if rank.node == node]
    first = min((rank.rank for rank in own), default=0)
    holder = {card: rank.rank for rank in own for card in rank.devices or ()}
    return [
        LogLine(
            seq="", t="", node=node, rank=holder.get(-1 if line.card is None else line.card, first),
            stream=STREAM, text=f"{line.folder}: {line.text}",
        )
        for line in errors.lines
    ]  # fmt: skip


def gap_of(errors: Errors, node: int | None) -> tuple[Gap, ...]:
    """What a reader could not read."""
    return (Gap(errors.problem, errors.place, node),) if errors.problem else ()
