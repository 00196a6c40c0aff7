"""The doctors speak Chinese as well as English: every sentence that they can make, with all that it names."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import doctor, doctor_ranktable, hccl_reasons
from jupyter_aiarts.kernel.doctor_zh import SENTENCES, chinese
from jupyter_aiarts.launcher.ascend import checking, finding, reading, template1, template2
from jupyter_aiarts.launcher.ascend.table import encode, render, seated

HAN = re.compile(r"[\u4e00-\u9fff]")
SOURCES = (finding, checking, reading, template1, template2, hccl_reasons, doctor, doctor_ranktable)
# What says something wrong, and which of its arguments are sentences.
SAYS = {"Finding": (1, 2), "add": (1, 2), "_fail": (1, 2), "_check_even": (1, 2), "once": (4,), "_check": (1,)}
PLACEHOLDER = re.compile(r"\{(\w+)\}")


def texts_of(node: ast.expr, known: dict[str, list[ast.expr]]) -> set[str]:
    """Every text that an expression may be, with `\\0` for a value."""
    if isinstance(node, ast.Constant):
        return {str(node.value)} if isinstance(node.value, str) else set()
    if isinstance(node, ast.JoinedStr):
        found = {""}
        for part in node.values:
            name = part.value if isinstance(part, ast.FormattedValue) else None
            more = texts_of(name, known) if isinstance(name, ast.Name) and name.id == "where" else set()
            found = {one + two for one in found for two in more or {getattr(part, "value", "\0") if not name else "\0"}}
        return found
    if isinstance(node, ast.IfExp):
        return texts_of(node.body, known) | texts_of(node.orelse, known)
    if isinstance(node, ast.BinOp):
        return {one + two for one in texts_of(node.left, known) for two in texts_of(node.right, known)}
    if isinstance(node, ast.Name):
        others = {name: values for name, values in known.items() if name != node.id}
        return {text for value in known.get(node.id, ()) for text in texts_of(value, others)}
    return set()


def assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def sentences_of(module: Any) -> Iterator[str]:
    """The sentences in a module's source, with `\\0` where a value goes."""
    tree = ast.parse(Path(module.__file__).read_text())
    constants = assigned(ast.Module([node for node in tree.body if isinstance(node, ast.Assign)], []))
    outside = ast.Module([node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))], [])
    for scope in [outside, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))]:
        known = {**constants, **assigned(scope)}
        for node in ast.walk(scope):
            called = getattr(node, "func", None)
            name = getattr(called, "attr", getattr(called, "id", ""))
            if isinstance(node, ast.Call) and name in SAYS:
                for place in SAYS[name]:
                    if place < len(node.args):
                        yield from texts_of(node.args[place], known)


FOUND = sorted({PLACEHOLDER.sub("\0", text) for module in SOURCES for text in sentences_of(module)} - {""})


def test_enough_sentences_were_found_in_the_sources() -> None:
    assert len(FOUND) > 130, "the search has gone blind"


@pytest.mark.parametrize("sentence", FOUND)
def test_every_sentence_has_its_chinese_with_the_same_values(sentence: str) -> None:
    values = [f"<{number}>" for number in range(sentence.count("\0"))]
    made = "".join(part + value for part, value in zip(sentence.split("\0"), [*values, ""], strict=True))
    said = chinese(made)
    assert HAN.search(said) or made.startswith("unset "), made
    assert sorted(re.findall(r"<\d>", said)) == sorted(values)


@pytest.mark.parametrize(("english", "words"), SENTENCES, ids=[english for english, _ in SENTENCES])
def test_both_languages_name_the_same_things(english: str, words: str) -> None:
    names = PLACEHOLDER.findall(english)
    assert sorted(names) == sorted(PLACEHOLDER.findall(words)) and len(set(names)) == len(names)
    made = PLACEHOLDER.sub(lambda found: f"<{found[1]}>", english)
    assert chinese(made) == PLACEHOLDER.sub(lambda found: f"<{found[1]}>", words)


@pytest.mark.parametrize("strange", ["", "x" * 100_000, "is {value}, not a list {", "a\nb: c", "is \x00, not a list"])
def test_what_is_no_sentence_of_ours_stays_as_it_is_or_keeps_its_values(strange: str) -> None:
    said = chinese(strange)
    assert said == strange or "{value}" in said or "\x00" in said


def test_values_are_never_taken_for_forms() -> None:
    assert chinese("is '{cure} {0}', not a list") == "是 '{cure} {0}'，不是列表"
    assert chinese('is "\\\\g<1>", which is no port') == '是 "\\\\g<1>"，不是端口'


# -- through the door ------------------------------------------------------------------------------


@pytest.fixture
def table(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "VISIBLE_IDS", "CM_CHIEF_IP"):
        monkeypatch.delenv(name, raising=False)
    document = render(seated([("10.0.0.1", [(0, "192.168.0.1"), (1, "192.168.1.1")], "w")]), "v1")
    Path("hccl.json").write_bytes(encode(document))
    return document


def test_the_doctor_answers_in_the_readers_language(table: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table["server_list"][0]["device"][1]["rank_id"] = "2"
    Path("hccl.json").write_text(json.dumps(table))
    Path("train.log").write_text(
        "EI0004: The ranktable is invalid,Reason:[The 'server_count' in ranktable is invalid.]\n"
    )
    words = ["doctor", "ranktable", "hccl.json", "--log", "train.log", "--lang", "zh"]
    assert main(words) == 1
    assert capsys.readouterr().out.splitlines() == [
        'NO  server_list[0].device[1].rank_id 是 "2"，但 2 张卡的 rank 是 0 到 1：写成缺少的 "rank_id": "1"',
        "NO  日志第 1 行（EI0004，\"The 'server_count' in ranktable is invalid.\"）："
        "server_count 不是服务器的数量：数一数 server_list",
    ]  # fmt: skip
    assert main([*words, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["findings"][0]["code"], report["log"][0]["code"]) == ("rank-gap", "count-differs")
    assert HAN.search(report["findings"][0]["cure"]) and HAN.search(report["log"][0]["message"])


def test_what_is_in_order_and_what_is_no_file_is_said_in_chinese_too(
    table: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert main(["doctor", "ranktable", "hccl.json"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok  1.0 版 格式的表：1 个服务器，2 张卡",
        "ok  rank 0 到 1，各一次",
        "ok  每张卡都有地址",
        "ok  没有与本机的卡比较：本机没有看到卡",
    ]
    for words in (["doctor", "ranktable", "gone.json"], ["doctor", "ranktable", "."], ["doctor", "path", "gone.py"]):
        assert main(words) == 1
        assert HAN.search(capsys.readouterr().out)
