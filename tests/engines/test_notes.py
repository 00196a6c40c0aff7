"""What launchers say is on the job's page: bounded, by node where there are several, and among the events."""

from __future__ import annotations

from pathlib import Path

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.engines.local.records import NodeStatus, RankStatus, Settings
from jupyter_aiarts.engines.notes import MOST, events_of, notes_of
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.model.reading import read_spec
from tests.engines.reaching import job_reached

NPU = "huawei_npu_arm64"


def test_a_job_of_one_node_needs_no_numbers() -> None:
    assert notes_of([(0, ["no address is known"])], 1) == ("No address is known",)
    assert notes_of([(1, ["b"]), (0, ["a"])], 2) == ("Node 0: a", "Node 1: b")
    assert notes_of([(0, [])], 1) == () == notes_of([], 3)


def test_five_hundred_nodes_do_not_fill_the_page() -> None:
    found = notes_of([(node, ["the same"]) for node in range(512)], 512)
    assert len(found) == MOST
    assert found[-1] == f"{512 - MOST + 1} more notes of its launchers are among its events."


def test_notes_and_what_is_waited_for_are_events_at_their_times() -> None:
    ranks = (RankStatus(rank=0, started="2026-11-16T08:00:02Z"),)
    status = NodeStatus(node=3, attempt=1, phase="running", since="2026-11-16T08:00:01Z", ranks=ranks, notes=("oh",))
    (noted,) = events_of(status, "job/x")
    assert (noted.t, noted.type, noted.reason) == ("2026-11-16T08:00:02Z", "Warning", "Noted")
    assert (noted.message, noted.object) == ("Node 3: oh", "job/x")
    since = "2026-11-16T08:00:05Z"
    waiting = NodeStatus(node=0, attempt=1, phase="meeting", since=since, message="waiting for it", code="a-wait")
    (waits,) = events_of(waiting, "job/x")
    assert (waits.t, waits.reason, waits.message) == (since, "Waiting", "Node 0: waiting for it")
    assert events_of(NodeStatus(node=0, attempt=1, phase="stopping", since=since, message="asked to"), "job/x") == []


async def test_cards_without_addresses_are_a_note_on_a_local_job_while_it_runs_and_after(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('done')")
    engine = open_local(tmp_path / "state", Settings(devices={NPU: 8}, cpus=8))
    caller = Caller(owner="alice", python="python3", folder=tmp_path)
    reading = read_spec({"name": "n", "script": "train.py", "device": NPU, "devices": 2})
    try:
        job, _ = await engine.submit(reading, caller)
        record = await job_reached(engine, job.id, lambda one: one.phase.is_terminal, 60)
        assert record.phase is Phase.SUCCEEDED
        (note,) = [note for note in record.notes if note.startswith("No IP address is known for card 0, 1")]
        (event,) = [event for event in await engine.events(job.id, None) if event.reason == "Noted"]
        assert event.message[len("Node 0: ") + 1 :] == note[1:]
    finally:
        await engine.aclose()
