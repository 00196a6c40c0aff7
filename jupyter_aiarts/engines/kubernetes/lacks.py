"""What a copy of a log does not have, as a code and what was seen, and the sentence for it in both languages."""

from __future__ import annotations

from msgspec import Struct

WITHOUT_PORT, REST, NO_REST = "without-port", "rest-from-kubelet", "not-fetched"
WENT_AWAY, ON_MOUNT, NOT_KEPT = "went-away", "on-mount", "not-kept"

_SENTENCES = {
    WITHOUT_PORT: (
        "The log of pod {pod} comes from the kubelet, because the launcher's port was out of reach: {why}. stdout and "
        "stderr are not told apart in it, and of a long log only the newest part may be there.",
        "容器组 {pod} 的日志来自 kubelet，因为无法访问启动器的端口：{why}。其中不区分 stdout 与 stderr，"
        "较长的日志可能只有最新的一部分。",
    ),
    REST: (
        "The end of the log of pod {pod} comes from the kubelet, which does not tell stdout from stderr.",
        "容器组 {pod} 日志的末尾来自 kubelet，其中不区分 stdout 与 stderr。",
    ),
    NO_REST: (
        "Some of the log of pod {pod} could not be fetched: {why}.",
        "容器组 {pod} 的部分日志未能取回：{why}。",
    ),
    WENT_AWAY: (
        "Pod {pod} went away before all of its log was fetched: what it printed last may be missing.",
        "容器组 {pod} 在日志取完之前就已消失：最后的输出可能缺失。",
    ),
    ON_MOUNT: (
        "The end of the log of pod {pod} is on the log mount, which this server cannot read.",
        "容器组 {pod} 日志的末尾在日志挂载上，本服务器无法读取。",
    ),
    NOT_KEPT: ("The log cannot be kept here for now: {why}.", "日志暂时无法保存在这里：{why}。"),
}


class Lack(Struct, frozen=True, omit_defaults=True):
    """One thing that is missing; `why` is in the words of whoever refused it."""

    code: str
    pod: str = ""
    why: str = ""

    def said(self, lang: str = "en") -> str:
        """The sentence; the code itself where a later version wrote it."""
        english, chinese = _SENTENCES.get(self.code, (self.code, self.code))
        return (chinese if lang.startswith("zh") else english).format(pod=self.pod, why=self.why)
