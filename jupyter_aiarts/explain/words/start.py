"""Why a job could not be started: its start file, its arguments, its surroundings."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words


def _said(title: str, zh: str) -> Text:
    """A cause that the launcher found and put into words itself, with its hint as the action."""
    return Text(Words(title, "{message}", (("{hint}", None),)), Words(zh, "{message}", (("{hint}", None),)))


def _lost(title: str, zh: str) -> Text:
    """The same for a path that is not there: the path map says where it is visible, and what to write instead."""
    ask = "aiarts doctor path {path} --job {job}"
    return Text(
        Words(title, "{message}", (("{hint}", None), ("See where this path is visible", ask))),
        Words(zh, "{message}", (("{hint}", None), ("查看该路径在何处可见", ask))),
    )


TEXTS = {
    "start-file-missing": _lost("The start file is missing", "找不到启动文件"),
    "start-file-broken-symlink": _lost("The start file is a broken link", "启动文件是失效的链接"),
    "start-file-not-executable": _said("The start file cannot be executed", "启动文件不可执行"),
    "start-file-bad-interpreter": _said("The start file's interpreter is missing", "启动文件的解释器不存在"),
    "permission-denied": _said("Permission denied", "权限不足"),
    "unknown-variable": _said("An argument names an unknown variable", "参数引用了未知变量"),
    "environment-too-large": _said("Arguments and environment are too large", "参数与环境变量过大"),
    "secrets-unreadable": _said("The secret variables cannot be read", "无法读取机密变量"),
    "plan-invalid": _said("The launcher refused its plan", "启动器拒绝了计划"),
    "node-lost": _said("A node of the job is gone", "任务的一个节点已消失"),
    "launcher-failed": _said("The launcher failed", "启动器出错"),
    "io-error": _said("The job's folder cannot be used", "无法使用任务目录"),
    "disk-full": _said("The disk is full", "磁盘已满"),
    "npu-ip-missing": _said("Cards have no IP address", "加速卡没有 IP 地址"),
    "rank-table-invalid": _said("There is no valid rank table", "没有可用的 rank table"),
    "workdir-missing": _said("The working folder is missing", "工作目录不存在"),
}
