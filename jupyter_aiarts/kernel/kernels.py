"""`aiarts kernels`: environments of this machine as kernels, as text."""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from jupyter_aiarts.kernel.display import explanation_text
from jupyter_aiarts.kernel.errors import RequestFailed, WrongUsage
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said, Shown
from jupyter_aiarts.kernel.terminal import Style, plain, table
from jupyter_aiarts.kernel.usage import size

Data = Mapping[str, Any]

LEFT = ("gone", "hidden", "unmarked")
"""Kinds of kernels whose environment is not there any more, may not be seen, or is none."""
WORDS: Dict[str, Tuple[str, str]] = {
    "name": ("ENVIRONMENT", "环境"),
    "python": ("PYTHON", "PYTHON"),
    "registered": ("KERNEL FOR", "内核可用于"),
    "has": ("HAS", "包含"),
    "path": ("PATH", "路径"),
    "problems": ("PROBLEMS", "问题"),
    "global": ("everybody", "所有用户"),
    "user": ("you", "自己"),
    "none": ("No environments are found on this machine.", "本机未找到任何环境。"),
    "offer": (
        "Make a kernel of one, for everybody: aiarts kernels register NAME",
        "将其中一个注册为所有用户的内核：aiarts kernels register 名称",
    ),
    "registered-one": (
        "Registered “{name}” as the kernel {spec} for {whom}.",
        "已将“{name}”注册为内核 {spec}，可用于{whom}。",
    ),
    "unregistered-one": ("Unregistered the kernel {spec}; its environment stays.", "已移除内核 {spec}；其环境保留。"),
    "healthy": (
        "“{name}” is well: its Python starts and has what a kernel needs.",
        "“{name}”正常：其 Python 可启动，且具备内核所需。",
    ),
    "healthy-own": (
        "Nothing is wrong with “{name}”: the programs of its own kernels ({kernels}) are there; they were not started.",
        "“{name}”未发现问题：其自带内核（{kernels}）的程序都在；未尝试启动它们。",
    ),
    "size": ("“{name}” takes {size} in {files} files.", "“{name}”占用 {size}，共 {files} 个文件。"),
    "size-part": (
        "“{name}” takes more than {size}: there are more than {files} files, and not all were looked at.",
        "“{name}”占用超过 {size}：文件多于 {files} 个，未全部查看。",
    ),
    "nothing": ("Nothing had to be done.", "无需任何操作。"),
}


class Kernels(Shown):
    """Environments with the kernels that stand for them; a list of plain dicts in `kernels`."""

    def __init__(self, data: Sequence[Data]) -> None:
        self.kernels: List[Dict[str, Any]] = [dict(one) for one in data]

    def text(self, style: Style) -> str:
        return kernels_text(self.kernels, style)


def kernels(session: Session, given: argparse.Namespace) -> Outcome:
    """List environments, or do something with one."""
    if given.action == "list":
        found = session.client.kernels()
        return Outcome(Kernels(found), found, kernels_text(found, session.style))
    if not given.which:
        raise WrongUsage(f"Which one? `kernels {given.action}` needs a name or a folder.", "aiarts kernels lists them.")
    return _ACTS[given.action](session, given)


def _register(session: Session, given: argparse.Namespace) -> Outcome:
    one = session.client.register_kernel(given.which, "user" if given.user else "global")
    whom = _say(session.style, one["registered"])
    said = _say(session.style, "registered-one", name=plain(one["name"]), spec=one["spec"], whom=whom)
    text = "\n".join([said, *_problems(one, session.style)])
    return Outcome(Said(text), one, text)


def _unregister(session: Session, given: argparse.Namespace) -> Outcome:
    one = session.client.unregister_kernel(given.which)
    text = _say(session.style, "unregistered-one", spec=plain(one["spec"]))
    return Outcome(Said(text), one, text)


def _repair(session: Session, given: argparse.Namespace) -> Outcome:
    """What is done is shown while it is done; the installer may take minutes."""
    lines = []
    for said in session.client.repair_kernel(given.which):
        if "error" in said:
            error = said["error"]
            raise RequestFailed(400, error["code"], error["message"], error["hint"])
        lines.append(plain(said["line"]))
        session.notice(lines[-1])
    text = "" if lines else _say(session.style, "nothing")
    return Outcome(Said(text or "\n".join(lines)), {"lines": lines}, text)


def _doctor(session: Session, given: argparse.Namespace) -> Outcome:
    one = session.client.examine_kernel(given.which)
    problems = _problems(one, session.style)
    own = plain(", ".join(one["kernels"]))
    well = _say(session.style, "healthy-own" if own else "healthy", name=plain(one["name"]), kernels=own)
    text = "\n".join(problems) or well
    return Outcome(Said(text), one, text, 1 if problems else 0)


def _size(session: Session, given: argparse.Namespace) -> Outcome:
    one = session.client.kernel_size(given.which)
    word = "size" if one["complete"] else "size-part"
    text = _say(session.style, word, name=plain(one["path"]), size=size(one["bytes"]), files=one["files"])
    return Outcome(Said(text), one, text)


_ACTS = {"size": _size, "register": _register, "unregister": _unregister, "repair": _repair, "doctor": _doctor}


def kernels_text(found: Sequence[Data], style: Style) -> str:
    """One row for each environment, and how a kernel is made of one."""
    if not found:
        return _say(style, "none")
    columns = ["name", "python", "registered", "has", "path"]
    columns += ["problems"] if any(one["problems"] for one in found) else []
    rows = [[_cell(one, column, style) for column in columns] for one in found]
    text = table([_say(style, column) for column in columns], rows, style)
    return text if all(one["registered"] for one in found) else f"{text}\n{_say(style, 'offer')}"


def _cell(one: Data, column: str, style: Style) -> str:
    if column == "registered":
        return _say(style, one["registered"]) if one["registered"] else "-"
    if column == "has":
        found = [f"{plain(name)} {plain(version)}" for name, version in sorted(one["frameworks"].items())]
        return ", ".join([*found, *map(plain, one["kernels"])]) or "-"
    if column == "problems":
        said = "; ".join(plain(problem["title"]) for problem in one["problems"]) or "-"
        return f"{said}: {plain(one['spec'])}" if one["kind"] in LEFT else said  # what it is removed by
    return plain(one[column] or "-")


def _problems(one: Data, style: Style) -> List[str]:
    return [explanation_text(problem, style) for problem in one["problems"]]


def _say(style: Style, word: str, **values: Any) -> str:
    return WORDS[word][style.lang == "zh"].format(**values)
