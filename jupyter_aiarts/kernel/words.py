"""The few sentences the doors say themselves, in English and Chinese; explanations come worded from the
server."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from typing import Any, Dict, Mapping, Optional, Tuple

TEXTS: Dict[str, Tuple[str, str]] = {
    "submitted": ("Submitted {name} ({id})", "已提交 {name}（{id}）"),
    "known": ("Already submitted: {name} ({id})", "此前已提交：{name}（{id}）"),
    "stop": ("Stopped {name} ({id})", "已停止 {name}（{id}）"),
    "stopping": ("Stopping {name} ({id})", "正在停止 {name}（{id}）"),
    "pause": ("Paused {name} ({id})", "已暂停 {name}（{id}）"),
    "pausing": ("Pausing {name} ({id})", "正在暂停 {name}（{id}）"),
    "resume": ("Resumed {name} ({id})", "已恢复 {name}（{id}）"),
    "release": (
        "Released {name} ({id}); what it ran on the dead node may still run there",
        "已释放 {name}（{id}）；失联节点上的进程可能仍在运行",
    ),
    "rerun": ("Run {run} of {name} ({id})", "{name}（{id}）第 {run} 次运行"),
    "edited": ("Edited {name} ({id})", "已修改 {name}（{id}）"),
    "edited-next": ("the next run uses it", "下次运行时生效"),
    "deleted": ("Deleted {name} ({id})", "已删除 {name}（{id}）"),
    "delete?": (
        "Delete {name} ({id}) with its runs and logs?",
        "删除 {name}（{id}）及其全部运行记录和日志？",
    ),
    "delete-stops?": (
        "Delete {name} ({id}) with its runs and logs? It is {phase} and is stopped first.",
        "删除 {name}（{id}）及其全部运行记录和日志？它正处于“{phase}”，会先被停止。",
    ),
    "kept": ("Nothing was deleted.", "没有删除任何作业。"),
    "all?": ("All {count} jobs, as listed?", "以上 {count} 个作业全部执行？"),
    "nothing-done": ("Nothing was done.", "未执行任何操作。"),
    "will-stop": ("is stopped, and kept", "将被停止，记录保留"),
    "will-pause": ("gives its devices back until it is resumed", "归还设备，直到恢复"),
    "will-resume": ("is queued again", "将重新排队"),
    "will-delete": ("is removed with its runs and logs", "连同运行记录和日志一起删除"),
    "will-release": (
        "its pods on a dead node are given up; what they ran may still run there",
        "放弃失联节点上的 Pod；其中的进程可能仍在运行",
    ),
    "will-nothing": ("is left alone: its phase does not offer this", "不受影响：当前状态不支持此操作"),
    "totals-since": (
        "Since {since}, as far as jobs and their runs are still known (the oldest job is of {oldest}).",
        "统计自 {since} 起、以现有的作业及其运行记录为准（最早的作业为 {oldest}）。",
    ),
    "no-jobs": ("No jobs.", "没有作业。"),
    "no-templates": ("No templates.", "没有模板。"),
    "no-log": ("No line of the log matches.", "日志中没有匹配的行。"),
    "left-running": (
        "{name} ({id}) goes on without you. Look again: aiarts logs {id} -f    End it: aiarts stop {id}",
        "{name}（{id}）仍在继续。再次查看：aiarts logs {id} -f    停止：aiarts stop {id}",
    ),
    "next": ("Next: {commands}", "接下来：{commands}"),
    "fits": ("It would start now.", "可以立即开始。"),
    "fits-not": ("It would not start now.", "现在还不能开始。"),
    "fits-unknown": ("Whether it would start now is unknown.", "无法得知能否立即开始。"),
    "same": ("No variable differs.", "变量没有差别。"),
    "secret": ("(secret)", "（保密）"),
    "applied": ("Set {count} variables in this kernel:", "已在此内核中设置 {count} 个变量："),
    "left-out": ("Left out, because {why}:", "未设置，{why}："),
    "why-secret": ("a secret's value is not known here", "保密变量的值在此不可知"),
    "why-runs": ("they tie a process to its run", "它们只属于那次运行"),
    "why-kernels": ("this kernel needs its own", "此内核需要自己的值"),
    "why-not-here": ("there is no such file or folder here", "此处没有该文件或文件夹"),
    "why-not-settable": ("the system takes no such name or value", "系统不接受这样的名称或值"),
    "undo-applied": ("Undo: %aiarts env --restore", "撤销：%aiarts env --restore"),
    "restored": ("Put {count} variables back as they were.", "已将 {count} 个变量恢复原状。"),
    "nothing-applied": ("Nothing was applied in this kernel.", "此内核中没有应用过变量。"),
    "run-few-cards": (
        "{count} cards are seen here, so {ranks} ranks run without one of their own.",
        "此处只有 {count} 张卡，{ranks} 个 rank 将不独占设备运行。",
    ),
    "run-ending": ("Ending the ranks; once more kills them.", "正在结束各 rank；再次中断将强制终止。"),
    "run-interrupted": ("Interrupted; all ranks have ended.", "已中断；所有 rank 均已结束。"),
    "run-failed": ("Rank {rank} failed first: exit code {code}.", "rank {rank} 最先失败：退出码 {code}。"),
    "run-ended": ("All {count} ranks ended well.", "全部 {count} 个 rank 均正常结束。"),
    "ranktable": ("Rank table of cards {cards} ({source}): {path}", "卡 {cards}（{source}）的 rank table：{path}"),
    "ranktable-no-ip": ("no address", "无 IP 地址"),
    "ranktable-warning": ("Warning: {warning}", "警告：{warning}"),
    "ranktable-missing": (
        "Cards {cards} have no address. One machine trains without; to give them one, as root on the host:",
        "卡 {cards} 没有 IP 地址。单机训练可以不配；如需配置，请在主机上以 root 执行：",
    ),
    "fix-was-none": ("(not set)", "（未设置）"),
    "fix-same": ("The spec is already so: no key changes.", "配置已经如此：没有字段需要修改。"),
    "fix-first": ("First the job: {what}", "首先作业：{what}"),
    "fix-then": ("Then the job: {what}", "然后作业：{what}"),
    "fix-move": ("The job: {what}", "作业：{what}"),
    "fix-waits": ("still waits, and starts with this", "仍在等待，将以此启动"),
    "fix-stays": ("stays as it is; its next run uses this", "保持现状，下次运行时采用"),
    "fix-how": ("Do one of them: aiarts explain {id} --fix N", "执行其中一项：aiarts explain {id} --fix N"),
    "fix-yours": ("This one is yours to run:", "这一步需要您自己执行："),
    "fix-words": (
        "This one is for people: nothing can be done about it from here.",
        "这一步需要人来处理，在这里无法代为执行。",
    ),
    "fix-only-shown": ("Only shown; nothing was changed.", "仅作展示，未做任何更改。"),
    "will-rerun": ("is run again, as its next run", "将作为下一次运行再次执行"),
    "template-saved": ("Saved template {name}", "已保存模板 {name}"),
    "template-deleted": ("Deleted template {name}", "已删除模板 {name}"),
    "repeated": ("… {count} more like it", "… 另有 {count} 行类似"),
    "harmless": ("… {count} more like it; they can be ignored: {why}", "… 另有 {count} 行类似；可以忽略：{why}"),
    "harmless-one": ("… can be ignored: {why}", "… 可以忽略：{why}"),
    "preset": ("preset", "预设"),
    "cell": ("The cell was written to {path} and is the start file.", "单元格已写入 {path}，作为启动文件。"),
    "cell-names": (
        "These names live in the notebook and not in the cell, so the job will not know them: {names}.",
        "以下名称只在笔记本中定义，作业中不存在：{names}。",
    ),
}
PHASES_ZH = {
    "queued": "排队中",
    "starting": "启动中",
    "running": "运行中",
    "paused": "已暂停",
    "succeeded": "成功",
    "failed": "失败",
    "lost": "丢失",
    "stopped": "已停止",
}
HEADS: Dict[str, Tuple[str, str]] = {
    "id": ("ID", "编号"),
    "name": ("NAME", "名称"),
    "phase": ("PHASE", "状态"),
    "cluster": ("CLUSTER", "集群"),
    "devices": ("DEVICES", "设备"),
    "created": ("CREATED", "创建时间"),
    "started": ("STARTED", "开始"),
    "ended": ("ENDED", "结束"),
    "owner": ("OWNER", "所有者"),
    "rank": ("RANK", "RANK"),
    "node": ("NODE", "节点"),
    "exit_code": ("EXIT", "退出码"),
    "time": ("RUNNING TIME", "运行时长"),
    "progress": ("SAYS IT IS AT", "进度"),
    "run": ("RUN", "运行次数"),
    "why": ("WHY", "原因"),
    "do": ("DO", "可以这样做"),
    "evidence": ("SEEN", "依据"),
    "description": ("DESCRIPTION", "说明"),
    "workspace": ("WORKSPACE", "工作空间"),
    "script": ("START FILE", "启动文件"),
    "queue": ("QUEUE", "队列"),
    "will": ("WILL", "将会"),
    "user": ("USER", "用户"),
    "jobs": ("JOBS", "作业数"),
    "running": ("RUNNING", "运行中"),
    "waiting": ("WAITING", "排队中"),
    "cards": ("CARDS NOW", "当前占卡"),
    "card_hours": ("CARD HOURS", "卡时"),
    "hours": ("HOURS", "机时"),
}


def default_lang(environ: Optional[Mapping[str, str]] = None) -> str:
    """`zh` where the person's locale is Chinese, else `en`."""
    env = os.environ if environ is None else environ
    locale = env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or ""
    return "zh" if locale.startswith("zh") else "en"


def say(lang: str, text: str, **values: Any) -> str:
    """A sentence of `TEXTS` in this language."""
    return TEXTS[text][lang == "zh"].format(**values)


def head(lang: str, column: str) -> str:
    """A column's or row's heading."""
    return HEADS[column][lang == "zh"]


def phase_word(lang: str, phase: str) -> str:
    """A phase as people read it."""
    return PHASES_ZH.get(phase, phase) if lang == "zh" else phase


def moment(text: Optional[str]) -> Optional[datetime]:
    """An RFC 3339 time as a local datetime."""
    if not text:
        return None
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()


def local_time(text: Optional[str]) -> str:
    """`2026-11-16 09:02:03 CET`: local, with its zone; empty for none."""
    when = moment(text)
    return when.strftime("%Y-%m-%d %H:%M:%S %Z") if when else ""


def running_time(started: Optional[str], ended: Optional[str]) -> str:
    """How long a run has been or was running, `1:02:03`; empty before it started."""
    begin, end = moment(started), moment(ended) or datetime.now(timezone.utc)
    if begin is None:
        return ""
    seconds = max(0, int((end - begin).total_seconds()))
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
