"""How far a job is, is what its own output says; whatever else has numbers in it says nothing of that."""

from __future__ import annotations

import signal
import sys
from typing import Any

import pytest

from jupyter_aiarts.launcher.progress import progress

from .conftest import LAUNCHER, Run, wait_until

QUICK = f"""
import sys
sys.path.insert(0, {str(LAUNCHER.parent)!r})
from launcher import progress
progress.FIRST_SECONDS = progress.PERIOD_SECONDS = 0.05
from launcher.runner import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["step 12 of 30"], ("step 12/30", 0.4)),
        (["Epoch [3/10], Step [20/100], Loss: 0.5"], ("Epoch 3/10, Step 20/100", 0.3)),
        (["Epoch 1/4", " 45%|####5     | 45/100 [00:10<00:12]"], ("Epoch 1/4, 45%", 0.25)),
        (["Epoch 7:  45%|####5     | 45/100 [00:10<00:12]"], ("45%", 0.45)),
        (["iter: 5/10 loss 1", "loss 0.5"], ("iter 5/10", 0.5)),
        (["step 1/10", "step 2/10", "step 3/10 \x1b[32mloss\x1b[0m"], ("step 3/10", 0.3)),
        (["\x1b[1mEpoch\x1b[0m 2/8"], ("Epoch 2/8", 0.25)),
        (["Executing: Cell 3/12"], ("Cell 3/12", 0.25)),
    ],
)
def test_counts_and_bars_are_told_in_their_own_words(lines: list[str], said: tuple[str, float]) -> None:
    assert progress([lines]) == said


@pytest.mark.parametrize(
    "line",
    [
        "accuracy 93%",
        "100%|##########| 10/10 [00:01<00:00]",  # a download that is over
        "loaded 3/4 shards",
        "step 9/3",
        "epoch 0/0",
        "2026/11/17 08:00",
        "stepping 1/2",
        "",
        "step 99999999999999999999/3",
    ],
)
def test_other_numbers_are_no_progress(line: str) -> None:
    assert progress([[line]]) is None


def test_both_streams_are_read_and_an_old_bar_above_other_lines_is_not() -> None:
    assert progress([["Epoch 2/4"], ["warning", " 10%|#         | 1/10"]]) == ("Epoch 2/4, 10%", 0.5)
    assert progress([["loss 1"], [" 10%|#         | 1/10", "warning"]]) is None
    assert progress([]) is None and progress([[]]) is None


def test_the_status_tells_how_far_the_first_rank_is_as_it_goes_on(run: Run) -> None:
    run.command = [sys.executable, "-c", QUICK]
    run.shell('echo "epoch 1/3"; while [ ! -e "$TMP_PATH/go" ]; do sleep 0.05; done; echo "epoch 2/3"; exec sleep 60')
    run.start()

    def said(text: str) -> Any:
        status = run.status()
        found = status and status["progress"]
        return found if found and found["text"] == text else None

    assert wait_until(lambda: said("epoch 1/3"), "a first word") == {"text": "epoch 1/3", "share": 0.3333}
    [folder] = run.folder.glob("**/tmp/0")
    (folder / "go").touch()
    assert wait_until(lambda: said("epoch 2/3"), "the next one")
    run.launchers[0].send_signal(signal.SIGTERM)
    run.wait()


def test_of_several_nodes_the_first_one_looks(run: Run) -> None:
    run.command = [sys.executable, "-c", QUICK]
    run.shell("echo step 1/2; exec sleep 60", nodes=2)
    run.start(0)
    run.start(1)
    wait_until(lambda: (run.status(0) or {}).get("progress"), "the first node's word")
    wait_until(lambda: run.phase(1) == "running", "the second node")
    assert run.status(1)["progress"] is None
    for launcher in run.launchers.values():
        launcher.send_signal(signal.SIGTERM)
    run.wait(0)
    run.wait(1)
