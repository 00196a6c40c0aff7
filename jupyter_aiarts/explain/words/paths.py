"""Where a path is visible and why it does not exist there, as sentences; and what known places are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VIEWS: dict[str, tuple[str, str]] = {
    "here": ("this server has {path}", "本服务器上有 {path}"),
    "not-here": ("this server has no {path}", "本服务器上没有 {path}"),
    "pod-same": ("pods of {cluster} see it under the same path ({place})", "{cluster} 的 Pod 中路径相同（{place}）"),
    "pod-other": ("pods of {cluster} see it as {path} ({place})", "{cluster} 的 Pod 中为 {path}（{place}）"),
    "pod-unknown": (
        "pods of {cluster} have {place} there, as {path}; what is in it cannot be seen from this server",
        "{cluster} 的 Pod 在该处有{place}，为 {path}；从本服务器看不到其中的内容",
    ),
    "pod-missing": (
        "pods of {cluster} have {place} there, and {path} is not in it",
        "{cluster} 的 Pod 在该处有{place}，但其中没有 {path}",
    ),
    "pod-none": ("pods of {cluster} do not see it", "{cluster} 的 Pod 看不到它"),
    "on-host": ("on a node of {cluster} it is {path}", "在 {cluster} 的节点上为 {path}"),
    "on-nfs": ("on the NFS server it is {path}", "在 NFS 服务器上为 {path}"),
    "on-claim": ("in volume claims it is {path}", "在存储卷声明中为 {path}"),
}
REASONS: dict[str, tuple[str, str]] = {
    "relative": (
        "it is relative, and is looked for in {folder}: {path}",
        "这是相对路径，从 {folder} 开始查找：{path}",
    ),
    "windows": (
        "{path} is a path of a Windows computer: upload the file, and write the path that it has here",
        "{path} 是 Windows 电脑上的路径：请先上传文件，再写它在这里的路径",
    ),
    "address": ("{path} is an address, not a path: download it first", "{path} 是网址，不是路径：请先下载"),
    "invisible": ("the text holds characters that cannot be seen", "文本中含有看不见的字符"),
    "full-width": ("the text holds full-width characters", "文本中含有全角字符"),
    "space": ("the text begins or ends with white space", "文本开头或结尾有空白"),
    "variable": ("no shell reads a path: what follows $ stays as it is", "路径不经过 shell：$ 后的内容不会被替换"),
    "twin-case": (
        "{folder} has “{name}”: capital and small letters differ",
        "{folder} 中有“{name}”：大小写不同",
    ),
    "twin-form": (
        "{folder} has “{name}”, which looks the same and is composed of other characters (Unicode forms)",
        "{folder} 中有“{name}”，看起来相同但字符组成不同（Unicode 规范化形式）",
    ),
    "twin-space": ("{folder} has “{name}”: spaces around the name differ", "{folder} 中有“{name}”：名称两端的空格不同"),
    "twin-look": ("{folder} has “{name}”, which only looks alike", "{folder} 中有“{name}”，只是看起来相同"),
    "other-side-pod": (
        "{path} is a path of pods of {cluster}; on this server the same files have another one",
        "{path} 是 {cluster} 的 Pod 中的路径；在本服务器上同样的文件路径不同",
    ),
    "other-side-nodes-here": (
        "{path} is a path of the nodes of {cluster}; on this server the same files have another one",
        "{path} 是 {cluster} 节点上的路径；在本服务器上同样的文件路径不同",
    ),
    "other-side-unseen": (
        "{path} is a path of pods of {cluster}; this server does not have that storage",
        "{path} 是 {cluster} 的 Pod 中的路径；本服务器没有该存储",
    ),
    "other-side-here": (
        "{path} is a path of this server; pods of {cluster} have the same files under another one",
        "{path} 是本服务器上的路径；{cluster} 的 Pod 中同样的文件路径不同",
    ),
    "other-side-node": (
        "{path} is a path of the nodes of {cluster}; pods have the same files under another one",
        "{path} 是 {cluster} 节点上的路径；Pod 中同样的文件路径不同",
    ),
    "other-side-export": (
        "{path} is a path on an NFS server; pods of {cluster} have the same files under another one",
        "{path} 是 NFS 服务器上的路径；{cluster} 的 Pod 中同样的文件路径不同",
    ),
    "no-mount": (
        "no mount of pods of {cluster} covers {path}: name its storage in mounts. A start file is shipped with the "
        "job, other files are not",
        "{cluster} 的 Pod 没有覆盖 {path} 的挂载：请在 mounts 中指定其存储。启动文件会随任务发送，其他文件不会",
    ),
    "no-mount-but": (
        "no mount of pods of {cluster} covers {path}: put it below {folders}, or name its storage in mounts. A start "
        "file is shipped with the job, other files are not",
        "{cluster} 的 Pod 没有覆盖 {path} 的挂载：请放到 {folders} 下，或在 mounts 中指定其存储。启动文件会随任务发送，"
        "其他文件不会",
    ),
    "link-outside": (
        "{link} is a link to {target}, which pods of {cluster} do not have",
        "{link} 是指向 {target} 的链接，而 {cluster} 的 Pod 中没有后者",
    ),
}
PLACES: dict[str, tuple[str, str]] = {
    "home": ("home", "主目录"),
    "private-storage": ("private storage", "个人存储"),
    "group-storage": ("group storage", "组存储"),
    "public-datasets": ("public datasets", "公共数据集"),
    "model-gallery": ("model gallery", "模型库"),
    "log-mount": ("log mount", "日志存储"),
    "run-folder": ("the run's own folder", "任务运行目录"),
    "machine": ("this machine", "本机"),
    "job-folder": ("the job's folder", "任务目录"),
}


def view_text(form: str, values: Mapping[str, Any], lang: str) -> str:
    """How one side sees a path."""
    return VIEWS[form][lang == "zh"].format_map(values)


def reason_text(code: str, values: Mapping[str, Any], lang: str) -> str:
    """Why a path does not exist."""
    return REASONS[code][lang == "zh"].format_map(values)


def place_name(name: str, lang: str) -> str:
    """What a place is called; one that only an admin or a key of the configuration names keeps that name."""
    return PLACES[name][lang == "zh"] if name in PLACES else name
