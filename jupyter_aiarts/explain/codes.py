"""All codes with what they mean, by family: for `aiarts explain --list`, the API and the page made from it.

A code is public: people search for it and scripts compare it. A form is another sentence for one code, where a
situation reads better in words of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from jupyter_aiarts.explain import flat
from jupyter_aiarts.explain.forms import FORMS, FORMS_OF
from jupyter_aiarts.explain.words import TEXTS
from jupyter_aiarts.explain.words.text import Doing
from jupyter_aiarts.model.job import Action

BLANK = "…"  # stands for what a real explanation fills in


class Family(Struct, frozen=True):
    """Codes that belong together, in the order in which they are shown."""

    en: str
    zh: str
    codes: tuple[str, ...]


FAMILIES: Mapping[str, Family] = {
    "course": Family(
        "As it goes",
        "正常过程",
        ("queued", "starting", "running", "ending", "stopping", "paused-by-user", "succeeded", "elsewhere"),
    ),
    "queue": Family(
        "In the queue",
        "排队",
        ("queue-position", "quota-exceeded", "quota-below-use", "queue-inactive", "queue-gone", "kueue-away"),
    ),
    "room": Family(
        "Room for it",
        "资源与位置",
        (
            "no-node-fits",
            "never-fits",
            "fits-as-distributed",
            "ring-fragmented",
            "waiting-for-peers",
            "gives-way",
            "ring-controller-wait",
            "cards-not-visible",
            "still-listing",
        ),
    ),
    "image": Family(
        "The image",
        "镜像",
        (
            "image-pulling",
            "image-not-found",
            "image-no-access",
            "image-unreachable",
            "image-not-https",
            "image-wrong-arch",
            "image-user-permission",
            "image-no-python",
        ),
    ),
    "storage": Family(
        "Storage", "存储", ("mount-missing", "mount-denied", "disk-full", "stale-file-handle", "io-error")
    ),
    "start": Family(
        "The start file",
        "启动文件",
        (
            "start-file-missing",
            "start-file-broken-symlink",
            "start-file-not-executable",
            "start-file-bad-interpreter",
            "workdir-missing",
            "unknown-variable",
            "environment-too-large",
            "secrets-unreadable",
            "plan-invalid",
            "launcher-failed",
        ),
    ),
    "program": Family(
        "The program",
        "程序",
        (
            "module-missing",
            "library-missing",
            "permission-denied",
            "out-of-memory",
            "shared-memory-full",
            "port-taken",
            "too-many-open-files",
            "watch-limit",
        ),
    ),
    "cards": Family(
        "Cards and how they talk",
        "加速卡与通信",
        (
            "device-out-of-memory",
            "device-busy",
            "device-not-visible",
            "device-unhealthy",
            "driver-mismatch",
            "rank-table-invalid",
            "npu-ip-missing",
            "hccl-timeout",
            "nccl-error",
        ),
    ),
    "platform": Family(
        "The platform",
        "平台",
        (
            "node-lost",
            "node-unhealthy",
            "pod-stuck",
            "evicted",
            "preempted",
            "policy-refused",
            "not-allowed",
            "cluster-unreachable",
            "launcher-lost",
            "job-unreadable",
        ),
    ),
    "usage": Family(
        "Readings of the cards",
        "卡的读数",
        ("npu-smi-failed", "npu-smi-silent", "npu-smi-cut", "probe-pending", "probe-silent", "probe-failed"),
    ),
    "kernels": Family(
        "Kernels of environments",
        "环境的内核",
        (
            "environment-gone",
            "python-gone",
            "python-wrong-arch",
            "python-broken",
            "python-hangs",
            "activation-failed",
            "ipykernel-missing",
            "kernel-outdated",
            "module-broken",
        ),
    ),
    "end": Family("How it ended", "如何结束", ("exit-code", "time-limit", "stopped-by-user", "unknown")),
}
ELSE = Family("Others", "其他", ())

_SAID = {"en": "Whoever met it says it in their own words.", "zh": "由遇到它的程序用自己的话说明。"}


class Meaning(Struct, frozen=True, kw_only=True):
    """What a code says, with … for what is filled in; `form` tells several sentences of one code apart."""

    code: str
    form: str
    family: str
    title: str
    why: str
    actions: list[Action]


def meanings(lang: str = "en") -> list[Meaning]:
    """Every text there is, in the order of the families; the usual sentence of a code before its other forms."""
    return [
        _meaning(code, form, family.zh if lang == "zh" else family.en, lang)
        for family in (*FAMILIES.values(), ELSE)
        for code in (family.codes or _others())
        for form in _forms(code)
    ]


def _forms(code: str) -> Iterator[str]:
    if code in TEXTS:
        yield ""
    yield from (form for form in FORMS_OF.get(code, ()) if form in TEXTS)


def _others() -> list[str]:
    """Codes that nobody has placed yet: shown all the same."""
    placed = {code for family in FAMILIES.values() for code in family.codes}
    return [key for key in TEXTS if key not in placed and key not in FORMS]


def _meaning(code: str, form: str, family: str, lang: str) -> Meaning:
    text = TEXTS[form or code]
    words = text.zh if lang == "zh" else text.en
    blank = _Blank(job="JOB")
    why = words.why.format_map(blank)
    return Meaning(
        code=code,
        form=form,
        family=family,
        title=words.title.format_map(blank),
        why=why if why != BLANK else _SAID["zh" if lang == "zh" else "en"],
        actions=[_action(code, number, doing, blank) for number, doing in enumerate(words.actions, 1) if _says(doing)],
    )


def _says(doing: Doing) -> bool:
    """Whether an action says something before its values are known."""
    return doing[0].format_map(_Blank()) != BLANK


def _action(code: str, number: int, doing: Doing, blank: _Blank) -> Action:
    label, what = doing
    if isinstance(what, Mapping):
        what = "aiarts edit {job} " + " ".join(f"{key}={value}" for key, value in flat(what))
    command = what.format_map(blank) if what else None
    return Action(id=f"{code}-{number}", label=label.format_map(blank), command=command)


class _Blank(dict[str, Any]):
    """Values for a sentence of which none is known."""

    def __missing__(self, key: str) -> str:
        return BLANK
