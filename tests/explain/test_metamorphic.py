"""Whatever is missing, added, shuffled or translated: the same cause, or less; never another one."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import pytest

from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.cause import Cause
from tests.engines.kubernetes.replay import record_of

from .situating import NOW, Json, content_of, found_in, situations, spec_of

GENERIC = {"exit-code", "unknown", "queued", "queue-position", "starting", "running", "ending", "stopping"}
"""Codes that say where a job is, or how it ended, and claim nothing about why."""

ALSO_TRUE = {
    ("kueue-preempted", "quota-exceeded"),  # what was done to it, and why it waits now
    ("kueue-clusterqueue-drain", "quota-exceeded"),
    ("nccl-blames-oom", "nccl-error"),  # without the other rank's word only what the first one saw is left
    ("hccl-blames-value", "hccl-timeout"),
    ("shm-nccl", "nccl-error"),  # NCCL failed and does not say why
}

ROWS = situations()
SPOKEN = [row for row in ROWS if row["facts"].get("log_tail")]
NOISE = (
    "Epoch 3: 100%|██████████| 500/500 [00:12<00:00, 41.2it/s, loss=0.31]",
    "INFO:root:checkpoint written to /data/ckpt",
    "2026-11-16 05:00:00,123 - train - WARNING - disk usage of /data is above 90%",
    "/opt/conda/lib/python3.9/site-packages/x.py:12: UserWarning: CUDA out of memory may happen with this setting",
    "  warnings.warn(",
    "WARNING: No module named 'apex', falling back to torch.cuda.amp",
    "[W1116 05:00:00.000000000 socket.cpp:697] [c10d] The client socket has failed to connect to [h]:29500",
    "[WARNING] ME(1:2,MainProcess):2026-11-16-05:00:00 [mindspore/x.py:1] SocVersion: Ascend910B4 is not in the list",
    "2026-11-16 05:00:00.000001: E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:9261] Unable to register "
    "cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
    "host:1:2 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
    "Retrying (Retry(total=4)) after connection broken by 'Temporary failure in name resolution'",
    "DEBUG permission denied for optional cache, skipping",
)
TRANSLATIONS = (
    ("No such file or directory", "没有那个文件或目录", "Datei oder Verzeichnis nicht gefunden"),
    ("No space left on device", "设备上没有空间", "Auf dem Gerät ist kein Speicherplatz mehr verfügbar"),
    ("Permission denied", "权限不够", "Keine Berechtigung"),
    ("Cannot allocate memory", "无法分配内存", "Nicht genügend Hauptspeicher verfügbar"),
    ("Too many open files", "打开的文件过多", "Zu viele offene Dateien"),
    ("Address already in use", "地址已在使用", "Die Adresse wird bereits verwendet"),
    ("command not found", "未找到命令", "Kommando nicht gefunden."),
    ("bad interpreter", "解释器错误", "Defekter Interpreter"),
    ("cannot open shared object file", "无法打开共享对象文件", "Kann die Shared-Object-Datei nicht öffnen"),
    ("Killed", "已杀死", "Getötet"),
    ("Bus error", "总线错误", "Bus-Zugriffsfehler"),
    ("Disk quota exceeded", "超出磁盘限额", "Der zugewiesene Plattenplatz (Quota) ist überschritten"),
    ("Read-only file system", "只读文件系统", "Das Dateisystem ist nur lesbar"),
    ("Exec format error", "可执行文件格式错误", "Fehler im Format der Programmdatei"),
    ("Stale file handle", "失效文件句柄", "Veraltete Dateizugriffsnummer (file handle)"),
)
"""How glibc and bash say the same in English, Chinese and German."""


def name(row: Json) -> str:
    return str(row["id"])


def is_same_or_less(row: Json, cause: Cause) -> bool:
    return cause.code in {row["code"], *GENERIC} or (row["id"], cause.code) in ALSO_TRUE


def with_tail(row: Json, lines: list[str]) -> Json:
    changed = copy.deepcopy(row)
    changed["facts"]["log_tail"] = "\n".join(lines)
    return changed


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_without_any_one_line(row: Json) -> None:
    lines = row["facts"]["log_tail"].split("\n")
    for place in range(len(lines)):
        found = found_in(with_tail(row, lines[:place] + lines[place + 1 :]))
        assert is_same_or_less(row, found), (lines[place], found)


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_without_the_first_lines(row: Json) -> None:
    """A tail may begin anywhere."""
    lines = row["facts"]["log_tail"].split("\n")
    for place in range(len(lines)):
        assert is_same_or_less(row, found_in(with_tail(row, lines[place:]))), lines[place]


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_noise_before_and_stale_warnings_change_nothing(row: Json) -> None:
    lines = row["facts"]["log_tail"].split("\n")
    found = found_in(with_tail(row, [*NOISE, *lines]))
    assert found.code == row["code"]


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_noise_between_and_behind_never_makes_another_cause(row: Json) -> None:
    lines = row["facts"]["log_tail"].split("\n")
    chance = random.Random(row["id"])
    for _ in range(20):
        mixed = list(lines)
        for noise in chance.sample(NOISE, 4):
            mixed.insert(chance.randint(0, len(mixed)), noise)
        found = found_in(with_tail(row, mixed))
        assert is_same_or_less(row, found), (mixed, found)


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_in_another_language(row: Json) -> None:
    tail = row["facts"]["log_tail"]
    for column in (1, 2):
        said = tail
        for words in TRANSLATIONS:
            said = said.replace(words[0], words[column])
        assert is_same_or_less(row, found_in(with_tail(row, said.split("\n")))), said


@pytest.mark.parametrize("row", SPOKEN, ids=name)
def test_tags_and_colours_of_a_line_change_nothing(row: Json) -> None:
    lines = row["facts"]["log_tail"].split("\n")
    for before, after in (
        ("[rank0]: ", ""),
        ("\x1b[31m", "\x1b[0m"),
        ("", "\r"),
        ("(Worker pid=12, ip=10.0.0.1) ", ""),
    ):
        found = found_in(with_tail(row, [f"{before}{line}{after}" for line in lines]))
        assert is_same_or_less(row, found)


def parts(content: Json) -> Iterator[tuple[str, int]]:
    for kind in ("pods", "events", "workloads"):
        yield from ((kind, place) for place in range(len(content[kind])))


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_without_any_one_object(row: Json) -> None:
    content = content_of(row)
    for kind, place in parts(content):
        less = copy.deepcopy(content)
        del less[kind][place]
        found = root(record_of(less, NOW).cause, spec_of(row))
        assert is_same_or_less(row, found), (kind, found)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_with_conditions_shuffled_and_an_old_warning_added(row: Json) -> None:
    content = content_of(row)
    for part in ("jobs", "pods", "workloads"):
        for item in content[part]:
            item["status"].get("conditions", []).reverse()
    old = {"reason": "FailedScheduling", "message": "0/9 nodes are available: 9 Insufficient cpu.", "type": "Warning"}
    about = {"kind": "Pod", "name": "train-rsituation-1-0-older"}
    times = {"metadata": {"name": "old", "namespace": "lab"}, "lastTimestamp": "2026-11-16T04:00:00Z"}
    content["events"] = [*reversed(content["events"]), {**old, **times, "involvedObject": about}]
    assert is_same_or_less(row, root(record_of(content, NOW).cause, spec_of(row)))
