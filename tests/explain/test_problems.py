"""What is wrong with a spec is said in the reader's language, wherever it is found, and values stay as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local.checks import check_here
from jupyter_aiarts.errors import InvalidSpec, JobNotFound
from jupyter_aiarts.explain.problems import refusal, said
from jupyter_aiarts.explain.words.problems import CHINESE, HEARD
from jupyter_aiarts.launcher.ascend.cards import Brought
from jupyter_aiarts.launcher.ascend.gathering import warning
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.wording import worded

PACKAGE = Path(__file__).parents[2] / "jupyter_aiarts"
SPOKEN = ("rules", "checking", "keys", "secrecy", "reading", "reserved")
PLACE = re.compile(r"(?<!\{)\{(\w+)\}")


def constants(node: ast.AST, names: dict[str, str]) -> Iterator[str]:
    """The texts that an argument may be: a literal, a local name for one, one of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name) and node.id in names:
        yield names[node.id]
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body, names)
        yield from constants(node.orelse, names)


def templates() -> set[str]:
    """Every template that the package makes a sentence of, and every fixed sentence about a spec."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "worded(" not in source or path.name in ("wording.py", "problems.py"):
            continue
        for function in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)):
            names = {
                one.targets[0].id: one.value.value
                for one in ast.walk(function)
                if isinstance(one, ast.Assign)
                and isinstance(one.targets[0], ast.Name)
                and isinstance(one.value, ast.Constant)
                and isinstance(one.value.value, str)
            }
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
                if called == "worded" and call.args:
                    found.update(constants(call.args[0], names))
                elif called in ("say", "add") and len(call.args) == 2 and path.stem in SPOKEN:
                    found.update(constants(call.args[1], {}))
    return found


def test_every_sentence_about_a_spec_is_there_in_chinese() -> None:
    assert len(templates()) > 40
    assert templates() - CHINESE.keys() == set()


def test_every_form_of_a_value_is_there_in_chinese() -> None:
    forms = re.findall(r'"form": "([^"]+)"', (PACKAGE / "model" / "spec.py").read_text(encoding="utf-8"))
    assert forms and set(forms) - CHINESE.keys() == set()


def test_chinese_keeps_the_places_for_values() -> None:
    for english, chinese in {**CHINESE, **HEARD}.items():
        assert sorted(set(PLACE.findall(english))) == sorted(set(PLACE.findall(chinese))), english


def told(raw: Any) -> list[str]:
    with pytest.raises(InvalidSpec) as refused:
        read_spec(raw, offered_devices=("nvidia_gpu_amd64",))
    return [one["message"] for one in refusal(refused.value, "zh")["problems"]]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"nodes": "many"}, 'nodes 必须是 1 到 10,000 之间的整数，现在是 "many"。'),
        ({"nodes": "2"}, 'nodes 必须是 1 到 10,000 之间的整数，现在是 "2"。请去掉引号。'),
        ({"kind": "x"}, 'kind 必须是 distributed 或 regular，现在是 "x"。'),
        ({"cpu": []}, "cpu 必须是大于 0 且不超过 10,000 的数，现在是 有 0 项的列表。"),
        ({"devise": 1}, "任务规格没有键 devise。是否指 device？"),
        ({"name": "训" * 64}, "name 最多 63 个字符，现在有 64 个。"),
        ({"name": "a\nb"}, 'name 不能含有控制字符或换行，现在是 "a\\nb"。'),
        ({"device": "nvidia_gpu"}, 'local 没有设备 "nvidia_gpu"。是否指 nvidia_gpu_amd64？'),
        ({"env": {"RANK": "1"}}, "RANK 是保留变量：启动器会给每个 rank 设置各自的值。请去掉它。"),
        ({"image": "a b"}, 'image 必须是不含空格的镜像名称，现在是 "a b"。'),
        ({"mounts": [{"source": "a"}]}, "缺少 mounts[0].target。"),
        ({"secret_env": {"A": None}}, "secret_env.A 为 null，而且没有保存过它的值，请给出值。"),
    ],
)
def test_problems_are_chinese_and_values_are_not_touched(raw: dict[str, Any], message: str) -> None:
    assert message in told({"script": "a.py", **raw})


def test_many_problems_are_counted_and_every_one_is_chinese() -> None:
    raw = {name: {"nonsense": object} for name in JobSpec.__struct_fields__ if name != "submission_id"}
    with pytest.raises(InvalidSpec) as refused:
        read_spec(raw)
    body = refusal(refused.value, "zh")
    assert re.match(r"任务规格有 \d+ 处问题。第一处：", body["message"])
    assert body["hint"] == "请修改指出的键后重新提交。"
    english = [one["message"] for one in body["problems"] if not re.search(r"[\u4e00-\u9fff]", one["message"])]
    assert english == []
    assert refusal(refused.value, "en") == refused.value.as_dict()


def test_a_name_that_looks_like_one_of_our_words_stays_that_name() -> None:
    sentence = worded(
        "{cluster} has no device {device}. It offers {offers}.", cluster="cards", device="text", offers="x"
    )
    assert said(sentence, "zh") == "cards 没有设备 text。可用的有 x。"
    assert said(sentence, "en") == "cards has no device text. It offers x."


def test_what_the_launcher_says_of_a_start_file_is_said_in_chinese(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print(1)\n")
    caller = Caller(owner="alice", python="/usr/bin/python3", folder=tmp_path)
    for script, wanted in {
        "trian.py": f"是否指 {tmp_path / 'train.py'}？",
        "no/where.py": f"到 {tmp_path} 为止",
    }.items():
        reading = read_spec({"script": str(tmp_path / script), "workdir": str(tmp_path)})
        with pytest.raises(InvalidSpec) as refused:
            check_here(reading, caller)
        [problem] = refusal(refused.value, "zh")["problems"]
        assert problem["message"].startswith("启动文件不存在：") and wanted in problem["message"]
    reading = read_spec({"script": str(tmp_path / "train.py"), "workdir": str(tmp_path), "args": ["${RANK_IDD}"]})
    with pytest.raises(InvalidSpec) as refused:
        check_here(reading, caller)
    assert "未知变量 ${RANK_IDD}" in refusal(refused.value, "zh")["problems"][0]["message"]


def test_notes_are_said_in_chinese_too() -> None:
    raw = {"script": "a.py", "image": "x:1", "env": {"HF_TOKEN": "x"}, "preemptible": True, "params": {"-a": 1}}
    notes = read_spec(raw).notes
    assert len(notes) == 4
    assert [note for note in notes if said(note, "zh") == note] == []


def test_what_has_no_words_is_told_in_english() -> None:
    assert refusal(JobNotFound("No job is called x.", "Look."), "zh")["message"] == "No job is called x."


NOTED = ("engines", "launcher")
"""Where notes are written; those about specs of other platforms name their keys and stay as they are."""


def notes() -> list[str]:
    """Every note as it is written, with a number in each place for a value."""
    found = []
    for path in (one for room in NOTED for one in (PACKAGE / room).rglob("*.py")):
        for call in (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)):
            if ast.unparse(call.func) not in ("notes.append", "self.notes.append"):
                continue
            text = call.args[0]
            parts = text.values if isinstance(text, ast.JoinedStr) else [text] if isinstance(text, ast.Constant) else []
            found.append("".join(str(one.value) if isinstance(one, ast.Constant) else "7" for one in parts))
    return [note for note in found if note]


def test_every_note_is_told_in_chinese_also_behind_the_name_of_its_node() -> None:
    assert len(notes()) > 8
    rings = "cards 0, 4 of node 1 lie on both rings of their board, 0-3 and 4-"
    whole = [rings + note if note.startswith("7: ") else note for note in notes()]  # one is put together from two parts
    first = warning([Brought("", "", "vm", [(0, ""), (1, "")])])
    for note in [*whole, first, first[:1].upper() + first[1:], "It runs in a container and ends when that ends."]:
        assert re.search(r"[\u4e00-\u9fff]", said(note, "zh")), note
        behind = said(f"Node 3: {note}", "zh")
        assert behind.startswith("节点 3：") and re.search(r"[\u4e00-\u9fff]", behind[5:]), note


def test_a_text_of_any_length_and_shape_is_read_in_a_moment() -> None:
    for hostile in ("The environment " + " is " * 5000, "1 of its " * 5000, "Node 1: " * 5000):
        assert said(hostile, "zh") == hostile
