"""`aiarts doctor ranktable`: what HCCL would refuse, on these cards, and what it said in a log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import hccl_reasons
from jupyter_aiarts.launcher.ascend.table import encode, render, seated

CARDS = ("ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "VISIBLE_IDS", "HCCL_INTRA_ROCE_ENABLE", "CM_CHIEF_IP")
REASON = "EI0004: The ranktable is invalid,Reason:[{}]. Please check the configured ranktable."
TOO_MANY = REASON.format("Use a rank ID that exceeds the rank size in the ranktable.")


def write(name: str = "hccl.json", nodes: int = 1, cards: Any = (0, 1), form: str = "v1") -> Any:
    node = [(f"10.0.0.{n}", [(card, f"192.168.{card}.{n}") for card in cards], f"w-{n}") for n in range(1, nodes + 1)]
    document = render(seated(node), form)
    Path(name).write_bytes(encode(document))
    return document


@pytest.fixture(autouse=True)
def nothing_seen(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CARDS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, list[str]]:
        code = main(["doctor", "ranktable", *words])
        captured = capsys.readouterr()
        return code, (captured.out + captured.err).splitlines()

    return run


def test_a_sound_table_says_what_was_found_in_order(doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write()
    code, lines = doctor("hccl.json")
    assert code == 0 and all(line.startswith("ok  ") for line in lines)
    assert lines[0] == "ok  a version 1.0 table: 1 server, 2 cards"
    assert "no card is seen here" in lines[-1]
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "0-7")
    assert "among this machine's: 0, 1, 2" in doctor("hccl.json")[1][-1]


def test_a_finding_has_key_and_cure_and_ends_with_1(doctor: Any) -> None:
    document = write()
    document["server_list"][0]["device"][1]["rank_id"] = "2"
    Path("hccl.json").write_text(json.dumps(document))
    assert doctor("hccl.json") == (
        1,
        ['NO  server_list[0].device[1].rank_id is "2", but 2 cards have ranks 0 to 1: '
         'write "rank_id": "1", which is missing'],
    )  # fmt: skip


def test_it_answers_in_json_like_its_neighbour(capsys: pytest.CaptureFixture[str]) -> None:
    write(cards=(3, 4))
    assert main(["doctor", "ranktable", "hccl.json", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is False and report["path"] == str(Path("hccl.json").absolute())
    assert [one["ok"] for one in report["checks"]] == [False]
    assert report["findings"][0]["code"] == "ring-crossed" and report["findings"][0]["key"] == "server_list[0].device"


def test_a_table_is_compared_with_the_cards_of_this_machine(doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write()
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "0")
    code, lines = doctor("hccl.json")
    assert code == 1 and lines[0].startswith(
        'NO  server_list[0].device[1].device_id is "1", but the cards of this machine'
    )
    write(nodes=2, cards=range(8))
    code, lines = doctor("hccl.json")  # which of the two this is, nobody said
    assert code == 0 and "--rank would say" in lines[-1]
    assert doctor("hccl.json", "--rank", "9")[0] == 1


def test_a_910b_may_mix_its_cards(doctor: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write(cards=(3, 4))
    assert doctor("hccl.json")[0] == 1
    tool = tmp_path / "npu-smi"
    head = "NPU ID  Chip ID  Chip Logic ID  Chip Name"
    tool.write_text(
        "#!/bin/sh\n" + "\n".join(f"echo '{row}'" for row in (head, *(f"{n} 0 {n} 910B1" for n in range(8))))
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert doctor("hccl.json")[0] == 0


def test_a_rank_is_looked_for_in_the_table(doctor: Any) -> None:
    write(form="cloud")
    assert doctor("hccl.json", "--rank", "w-1")[0] == 0
    code, lines = doctor("hccl.json", "--rank", "0")
    assert code == 1 and "RANK_ID is '0', which is no pod_name of this table (w-1)" in lines[0]


@pytest.mark.parametrize(
    ("name", "said"),
    [("gone.json", "has no 'gone.json'"), (".", "is a folder"), ("pipe.json", "no plain file"), ("a.txt", ".json")],
)
def test_what_is_no_file_of_a_table_is_said(doctor: Any, name: str, said: str) -> None:
    os.mkfifo("pipe.json")
    write("a.txt")
    code, lines = doctor(name)
    assert code == 1 and said in lines[0]


def test_a_huge_file_is_answered_at_once(doctor: Any) -> None:
    with Path("big.json").open("wb") as file:
        file.truncate(5 << 30)
    code, lines = doctor("big.json")
    assert code == 1 and "more than 4 MB" in lines[0]


def test_variables_that_exclude_a_table_are_named(doctor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write()
    monkeypatch.setenv("CM_CHIEF_IP", "10.0.0.1")
    code, lines = doctor("hccl.json")
    assert code == 1 and lines[0].startswith("NO  CM_CHIEF_IP is set") and "unset CM_CHIEF_IP" in lines[0]


def test_options_of_one_doctor_are_no_use_to_the_other(doctor: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "path", ".", "--rank", "1"]) == 2
    assert "doctor ranktable" in capsys.readouterr().err


# --- what HCCL said ------------------------------------------------------------------------------


def test_a_logs_refusal_is_explained_beside_the_table(doctor: Any) -> None:
    write()
    Path("train.log").write_text(f"epoch 1\n{TOO_MANY}\nmore\n{TOO_MANY}\n")
    code, lines = doctor("hccl.json", "--log", "train.log")
    assert code == 1 and len(lines) == 1
    assert lines[0].startswith("NO  line 2 of the log (EI0004, 'Use a rank ID that exceeds")
    assert lines[0].endswith("start as many processes as the table has cards, or make a larger table")


def test_the_log_of_a_job_will_do(doctor: Any, script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    script(f"print({TOO_MANY!r}); raise SystemExit(1)")
    assert main(["submit", "train.py", "--name", "small", "--wait"]) == 1
    capsys.readouterr()
    code, lines = doctor("hccl.json", "--log", "small")
    assert code == 1 and "RANK_ID is larger than the last rank" in lines[0]


def test_a_log_that_is_not_there_is_no_silence(doctor: Any) -> None:
    write()
    code, lines = doctor("hccl.json", "--log", "nothing.log")
    assert code == 3 and "nothing.log" in lines[0]


@pytest.mark.parametrize(
    ("line", "key", "code"),
    [
        (REASON.format("Invalid ranktable format."), "", "not-json"),
        (REASON.format("The rank_id must be an digit."), "RANK_ID", "rank-not-digits"),
        (REASON.format("The identify must be digit."), "RANK_ID", "rank-not-digits"),
        (TOO_MANY, "RANK_ID", "rank-too-high"),
        (
            REASON.format("The 'rank_id' in the ranktable must start from 0 or it is used repeatedly"),
            "rank_id",
            "rank-gap",
        ),
        (
            REASON.format("The ranktable config devId is inconsistent with the local devId."),
            "device_id",
            "device-differs",
        ),
        (REASON.format("The 'server_count' in ranktable is invalid."), "server_count", "count-differs"),
        (REASON.format("the 'server_list' in the ranktable is empty"), "server_list", "empty"),
        (REASON.format("The ip in ranktable is not a valid ip address"), "device_ip", "not-an-ip"),
        (REASON.format("The ips in ranktable is invalid"), "device_ip", "not-an-ip"),
        (REASON.format("The IP is used repeatedly."), "device_ip", "ip-repeated"),
        (REASON.format("The rankid in ranktable is invalid. Please check ranktable"), "rank_id", "not-a-number"),
        (REASON.format("The rankid is invalid."), "RANK_ID", "rank-too-high"),
        (REASON.format("The 'super_device_id' must be an digit."), "super_device_id", "not-a-number"),
        ("[ERROR] HCCL: ranktable config devId[3],but local devId[0]", "device_id", "device-differs"),
        (
            "[ERROR] json object property value of Name[rank_id] is not string!",
            "rank_id",
            "not-a-string",
        ),
        (
            "EI0014: Value 5 for ranktable variable rank_id is invalid. Expected value: 3.",
            "rank_id",
            "differs-from-machine",
        ),
        (
            "EI0014: Value 3 for ranktable variable devNum is invalid. Expected value: to be  1, 2 or 4.",
            "device_id",
            "differs-from-machine",
        ),
        (
            "EI0014: Value 192.168.1.1 for ranktable variable IP is invalid. Expected value: 192.168.1.2.",
            "device_ip",
            "differs-from-machine",
        ),
        ("[Check][UniqueAndInsertPool]errNo[0x5] [server_id]:[10.0.0.1] is already exist", "device_ip", "ip-repeated"),
        ("[Get][SingleDeviceIp]errNo[0x5] 'device_ip' is not set correctly", "device_ip", "ip-missing"),
        ("[Get][DevList]errNo[0x5] device_id[9] more than 7 is invalid", "device_id", "device-too-high"),
        ("[Load][File]errNo[0x5] path /x/hccl.txt is not a valid .json file", "RANK_TABLE_FILE", "path-not-json"),
        ("[Load][File]errNo[0x5] Load ranktable file[/x/hccl.json] timeout[1800]s", "status", "not-completed"),
        (REASON.format("a reason of next year"), "", "refused"),
        ("EI0014: something else", "", "refused"),
    ],
)
def test_each_reason_names_its_key(line: str, key: str, code: str) -> None:
    (heard,) = hccl_reasons.read(["fine", line])
    assert (heard.line, heard.finding.key, heard.finding.code) == (2, key, code)
    assert heard.finding.message and heard.finding.cure


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("IP", "10.1.1.1", "10.1.1.2"),
        ("devNum", "3", "to be  1, 2 or 4, or a multiple of 8"),
        ("version", "1.0", "2.0"),
    ],
)
def test_what_is_expected_is_repeated_as_hccl_said_it(variable: str, value: str, expected: str) -> None:
    line = (
        f"[x] EI0014: Value {value} for ranktable variable {variable} is invalid. Expected value: {expected}. TraceBack"
    )
    (heard,) = hccl_reasons.read([line])
    assert heard.finding.message == f"is {value}, and HCCL expects {expected}"


@pytest.mark.parametrize("line", ["epoch 3 loss 0.1", "my rank_id is 3", "rank_table_file=/x", "connect timeout", ""])
def test_other_lines_mean_nothing(line: str) -> None:
    assert hccl_reasons.read([line]) == []


def test_a_very_long_or_repeating_log_is_read_in_time(doctor: Any) -> None:
    write()
    Path("long.log").write_text("EI0004 " + "Reason:[" * 500_000 + "\n" + (TOO_MANY + "\n") * 20_000)
    code, lines = doctor("hccl.json", "--log", "long.log")
    assert code == 1 and len(lines) == 2
