"""The NPU driver's log: the right cards' errors, bounded, and no way out of its folder."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.ascend import slog

from .conftest import wait_until
from .pods import Pods
from .reader import ask, get


def error(stamp: str, text: str = "it failed") -> str:
    """A line as the driver writes it: level, module with process, its own clock, source."""
    return f"[ERROR] HCCL(4711,python):2026-11-16-08:{stamp}.123.456 [hccl.cc:42]{text}\n"


def write(root: Path, folder: str, *lines: str, name: str = "", age: float = 0.0) -> Path:
    place = root / "var/log/npu/slog" / folder
    place.mkdir(parents=True, exist_ok=True)
    path = place / (name or f"{folder}_20261116080000123.log")
    path.write_text("".join(lines))
    os.utime(path, (time.time() - age,) * 2)
    return path


def texts(root: Path, cards: "list[int] | None", since: float = 0.0) -> "list[str]":
    return [f"{one.folder} {one.text}" for one in slog.errors(cards, since, str(root)).lines]


def test_only_errors_and_only_those_of_the_jobs_cards_and_their_host(tmp_path: Path) -> None:
    write(tmp_path, "host-0", error("00:03", "host"), "[WARNING] HCCL(1,a):2026-11-16-08:00:00.000.000 no\n")
    for card in (0, 1, 4, 10):
        write(tmp_path, f"device-{card}", error(f"00:0{card % 10}", f"card {card}"), "[INFO] x\n", " [ERROR] inside\n")
    write(tmp_path, "device-os-0", error("00:08", "ring 0"))
    write(tmp_path, "device-os-4", error("00:09", "ring 1"))
    write(tmp_path, "other", error("00:00", "not a folder of the driver"))
    found = slog.errors([1], 0.0, str(tmp_path))
    assert [(one.folder, one.card) for one in found.lines] == [("device-1", 1), ("host-0", None), ("device-os-0", None)]
    assert found.lines[0].text == error("00:01", "card 1").rstrip()
    assert {one.folder for one in slog.errors([4, 5], 0.0, str(tmp_path)).lines} == {
        "host-0",
        "device-4",
        "device-os-4",
    }
    assert len(slog.errors(None, 0.0, str(tmp_path)).lines) == 7


def test_lines_of_all_folders_come_in_the_order_of_their_own_clock(tmp_path: Path) -> None:
    write(tmp_path, "host-0", error("00:05", "b"), "[ERROR] without a time\n", error("00:07", "d"))
    write(tmp_path, "device-0", error("00:01", "a"), error("00:06", "c"))
    assert [text[-1] for text in texts(tmp_path, [0])] == ["a", "b", "e", "c", "d"]


def test_files_that_did_not_change_since_the_job_began_are_somebody_elses(tmp_path: Path) -> None:
    write(tmp_path, "device-0", error("00:01", "old"), name="old.log", age=3600)
    write(tmp_path, "device-0", error("00:02", "new"), name="new.log")
    write(tmp_path, "device-0", error("00:03", "other kind"), name="new.txt")
    assert [text[-3:] for text in texts(tmp_path, [0], time.time() - 60)] == ["new"]


def test_no_link_leads_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text(error("00:01", "secret"))
    folder = write(tmp_path, "device-0", error("00:02", "own")).parent
    (folder / "link.log").symlink_to(secret)
    (folder.parent / "device-1").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.log")
    (folder / "folder.log").mkdir()
    assert [text[-3:] for text in texts(tmp_path, [0, 1])] == ["own"]


def test_however_large_it_is_the_newest_part_is_read_and_quickly(tmp_path: Path) -> None:
    path = write(tmp_path, "device-0")
    with path.open("wb") as file:
        file.write(b"[ERROR] " + b"x" * 50_000_000 + b"\n")
        for number in range(3000):
            file.write(error(f"{number // 60:02}:{number % 60:02}", f"n{number}").encode())
        file.write(b"[ERROR] 2026-11-16-09:00:00.000.000 " + b"y" * 10_000 + b"\xff\n")
    for number in range(50):
        write(tmp_path, "host-0", error("00:00") * 20_000, name=f"{number}.log")
    began = time.process_time()  # reading alone: others on the machine have no part in it
    found = slog.errors([0], 0.0, str(tmp_path)).lines
    assert time.process_time() - began < 5
    assert len(found) == slog.MOST_LINES
    assert found[-2].text.endswith("n2999")
    assert len(found[-1].text) == slog.LINE_BYTES + 1 and found[-1].text.endswith("…")


def test_an_absent_folder_and_a_forbidden_one_are_told_apart(tmp_path: Path) -> None:
    assert slog.errors([0], 0.0, str(tmp_path)) == slog.Errors([], "/var/log/npu/slog", "absent")
    (tmp_path / "var/log/npulog/slog/device-0").mkdir(parents=True)
    assert slog.errors([0], 0.0, str(tmp_path)) == slog.Errors([], "/var/log/npulog/slog", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not read")
def test_what_may_not_be_read_is_said() -> None:
    with tempfile.TemporaryDirectory(prefix="aiarts-", dir="/tmp") as name:
        folder = write(Path(name), "device-0", error("00:01")).parent
        write(Path(name), "host-0", error("00:02", "open"))
        os.chmod(name, 0o755)
        folder.chmod(0o700)
        os.seteuid(65534)
        try:
            found = slog.errors([0], 0.0, name)
        finally:
            os.seteuid(0)
    assert (found.problem, [one.folder for one in found.lines]) == ("denied", ["host-0"])


def test_a_pods_launcher_tells_its_own_cards_errors(pods: Pods) -> None:
    pods.environ["ASCEND_VISIBLE_DEVICES"] = "4,5"
    pods.shell("sleep 300", device="huawei_npu_arm64", cards=2).make()
    for card in (0, 4):
        write(pods.roots[0], f"device-{card}", error("00:01", f"card {card}"))
    assert pods.prepare() == 0
    pods.enter()
    wait_until(lambda: pods.phase() == "running")
    found = get(pods.ports[0], "/v1/npulog?place=/etc&root=/")
    assert [(one["card"], one["text"][-6:]) for one in found["lines"]] == [(4, "card 4")]
    assert (found["place"], found["problem"]) == ("/var/log/npu/slog", "")
    assert ask(pods.ports[0], "/v1/npulog", "wrong")[0] == 403


def test_a_pod_without_the_folder_says_so(pods: Pods) -> None:
    pods.shell("sleep 300").start()
    wait_until(lambda: pods.phase() == "running")
    assert get(pods.ports[0], "/v1/npulog") == {"lines": [], "place": "/var/log/npu/slog", "problem": "absent"}
