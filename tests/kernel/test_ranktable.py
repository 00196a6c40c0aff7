"""`%aiarts ranktable`: a table for the cards of this kernel, written whole, with what to set."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.completion import Completer
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.ranktable import make
from jupyter_aiarts.launcher.ascend.checking import check
from jupyter_aiarts.launcher.ascend.reading import parse
from jupyter_aiarts.launcher.ascend.table import encode, render, seated

CARDS = ("ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "VISIBLE_IDS", "NPU_IPS", "POD_NAME", "DLWS_JOB_ID")


@pytest.fixture(autouse=True)
def two_cards(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel that sees the cards 4 and 5 and no tool of a driver."""
    for name in CARDS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "4,5")
    return nothing_around


@pytest.fixture
def aiarts(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return run


def test_two_cards_train_without_hccn_conf(aiarts: Any, two_cards: Path) -> None:
    code, out, err = aiarts("ranktable")
    path = two_cards / ".aiarts" / "hccl.json"
    assert (code, err) == (0, "") and check(path.read_bytes(), present=[4, 5]) == []
    assert [card.device_id for card in parse(path.read_bytes()).servers[0].cards] == [4, 5]
    lines = out.splitlines()
    assert lines[0] == f"Rank table of cards 4, 5 (ASCEND_VISIBLE_DEVICES): {path}"
    assert lines[1:3] == [f"export RANK_TABLE_FILE={path}", "export RANK_SIZE=2"]
    assert "RANK_ID=0 DEVICE_ID=0" in lines[3] and "RANK_ID=1 DEVICE_ID=1" in lines[4]
    assert "  hccn_tool -i 4 -ip -s address 192.168.10.12 netmask 255.255.255.0" in lines  # said, not refused


def test_known_addresses_are_in_it_with_their_source(aiarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_IPS", "4:192.168.10.12,5:192.168.20.12")
    code, out, _ = aiarts("ranktable", "--json", "--server-id", "10.0.0.5")
    made = json.loads(out)
    assert code == 0 and made["cure"] == [] == made["warnings"]
    assert made["ranks"][1] == {
        "RANK_ID": "1", "DEVICE_ID": "1", "card": 5, "ip": "192.168.20.12", "ip_from": "NPU_IPS"
    }  # fmt: skip
    assert made["variables"] == {"RANK_TABLE_FILE": made["path"], "RANK_SIZE": "2"}
    (server,) = parse(Path(made["path"]).read_bytes()).servers
    assert server.server_id == "10.0.0.5" and [card.ip for card in server.cards] == ["192.168.10.12", "192.168.20.12"]


def test_addresses_that_hccl_would_refuse_are_said(aiarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_IPS", "4:192.168.10.12,5:192.168.10.12")
    code, out, _ = aiarts("ranktable")
    assert code == 0 and "Warning: server_list[0].device[1].device_ip is 192.168.10.12, as is" in out


def test_the_same_kernel_gives_the_same_bytes(aiarts: Any, two_cards: Path) -> None:
    aiarts("ranktable", "-o", "a.json")
    aiarts("ranktable", "-o", "b.json")
    assert (two_cards / "a.json").read_bytes() == (two_cards / "b.json").read_bytes()


@pytest.mark.parametrize(("form", "name"), [("lab", "hccl_ms.json"), ("cloud", "hccl_tf.json"), ("v1.0", "hccl.json")])
def test_each_form_under_its_usual_name(
    aiarts: Any, two_cards: Path, form: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAME", "job-worker-0")
    code, out, _ = aiarts("ranktable", "--form", form, "-o", ".")
    content = (two_cards / name).read_bytes()
    assert code == 0 and parse(content).form == form.replace(".0", "")
    rank = "job-worker-0" if form == "cloud" else "0"
    assert f"RANK_ID={rank} " in out and check(content, rank=rank, device=4) == []


@pytest.mark.parametrize(
    ("cards", "said", "instead"),
    [
        ("0-2", "has 3 cards", "--cards 0,1"),
        ("0-4", "has 5 cards", "--cards 0,1,2,3"),
        ("3,4", "both rings", "--cards 3"),
        ("2,3,4,5", "both rings", "--cards 2,3"),
        ("4,6", "Card 6 is not here", "sees cards 4, 5"),
        ("four", "names no cards", "--cards 0,1"),
    ],
)
def test_impossible_cards_are_refused_with_ones_that_would_do(
    aiarts: Any, cards: str, said: str, instead: str, monkeypatch: pytest.MonkeyPatch, two_cards: Path
) -> None:
    if "both" in said or "has" in said:
        monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "0-7")
    code, out, err = aiarts("ranktable", "--cards", cards)
    assert (code, out) == (2, "") and said in err and instead in err
    assert not (two_cards / ".aiarts").exists()


def test_a_kernel_that_sees_three_cards_is_told_which_to_take(aiarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "1,2,3")
    code, _, err = aiarts("ranktable")
    assert code == 2 and "--cards 1,2" in err


def test_chosen_cards_are_counted_as_the_process_counts_them(aiarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_VISIBLE_DEVICES", "0-7")
    _, out, _ = aiarts("ranktable", "--cards", "6,7", "--json")
    assert [(rank["RANK_ID"], rank["DEVICE_ID"], rank["card"]) for rank in json.loads(out)["ranks"]] == [
        ("0", "6", 6), ("1", "7", 7)
    ]  # fmt: skip


def test_no_cards_seen_says_where_it_looked(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    with pytest.raises(WrongUsage) as caught:
        make(environ, dev=str(tmp_path))
    for place in ("ASCEND_VISIBLE_DEVICES", "davinci", "npu-smi"):
        assert place in str(caught.value)
    assert caught.value.hint == "Name the cards: aiarts ranktable --cards 0,1"
    made = make(environ, cards="0,1", dev=str(tmp_path))  # for another machine
    assert len(made.ranks) == 2 and "no card is seen here" in made.warnings[0]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/hccl.json", "No such file"),
        ("hccl.txt", ".json at the end"),
        ("x.json.d/hccl.json", ".json at the end"),
        ("train.py/hccl.json", "Not a directory"),
    ],
)
def test_a_path_that_cannot_be_is_refused(aiarts: Any, two_cards: Path, output: str, said: str) -> None:
    (two_cards / "train.py").touch()
    code, _, err = aiarts("ranktable", "-o", output)
    assert code == 2 and said in err
    assert sorted(os.listdir(two_cards)) == ["train.py"]  # nothing half-written stays


def test_a_reader_never_sees_half_a_table(two_cards: Path) -> None:
    path = two_cards / "hccl.json"
    environ = {"ASCEND_VISIBLE_DEVICES": "0-7", "NPU_IPS": "0:192.168.10.11", "PATH": str(two_cards)}
    make(environ, output=str(path))
    over = threading.Event()

    def rewrite() -> None:
        for number in range(60):
            cards, form = ("0-7", "v1") if number % 2 else ("0", "lab")
            make(environ, cards=cards, form=form, output=str(path))
        over.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    looks = 0
    while not over.is_set():
        assert check(path.read_bytes()) == []
        looks += 1
    writer.join()
    assert looks > 10 and os.listdir(two_cards) == ["hccl.json"]


def test_a_table_is_written_in_another_form(aiarts: Any, two_cards: Path) -> None:
    aiarts("ranktable", "-o", "a.json", "--server-id", "10.0.0.5")
    code, out, _ = aiarts("ranktable", "--from", "a.json", "--form", "lab", "-o", "b.json", "--json")
    assert code == 0 and json.loads(out)["ranks"][1]["server_id"] == "10.0.0.5"
    assert aiarts("ranktable", "--from", "b.json", "-o", "c.json")[0] == 0
    assert (two_cards / "c.json").read_bytes() == (two_cards / "a.json").read_bytes()


def test_ranks_that_change_on_the_way_to_a_cloud_table_are_said(aiarts: Any, two_cards: Path) -> None:
    nodes = [(f"10.0.0.{node}", [(card, f"192.168.{card}.{node}") for card in range(8)], "") for node in (9, 10)]
    (two_cards / "a.json").write_bytes(encode(render(seated(nodes), "v1")))
    code, out, _ = aiarts("ranktable", "--from", "a.json", "--form", "cloud")
    assert code == 0 and "their ranks are others than before" in out  # "10.0.0.10" comes before "10.0.0.9"
    assert "others than before" not in aiarts("ranktable", "--from", "a.json", "--form", "lab")[1]


def test_completion_knows_them() -> None:
    completer = Completer(api.connect)
    assert completer.complete("doctor ") == ["path", "ranktable"]
    assert completer.complete("ranktable --form ") == ["cloud", "lab", "v1", "v1.0"]


def test_what_is_no_table_is_not_converted(aiarts: Any, two_cards: Path) -> None:
    (two_cards / "a.json").write_text('{"status": "completed", "version": "1.0"}')
    code, _, err = aiarts("ranktable", "--from", "a.json")
    assert code == 2 and "server_list is missing" in err and "aiarts doctor ranktable a.json" in err
    assert aiarts("ranktable", "--from", "gone.json")[0] == 2
    assert aiarts("ranktable", "--from", "a.json", "--cards", "0")[0] == 2


def test_it_speaks_chinese(aiarts: Any) -> None:
    _, out, _ = aiarts("--lang", "zh", "ranktable")
    assert "卡 4, 5" in out and "没有 IP 地址" in out


def test_in_a_notebook_the_answer_has_path_and_variables(shell: InteractiveShell, two_cards: Path) -> None:
    made = shell.run_line_magic("aiarts", "ranktable --form lab")
    assert made.path == two_cards / ".aiarts" / "hccl_ms.json"
    assert made.variables["RANK_SIZE"] == "2" and made.ranks[1]["RANK_ID"] == "1"
    assert "export RANK_TABLE_FILE=" in repr(made)
