"""Cards: whose memory it was, which card or rank is meant, and what is only seen of another's end."""

from __future__ import annotations

import pytest

from jupyter_aiarts.explain.rules import root

from .test_program import SPEC, failed, said

NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB. GPU 1 has a total capacity of "
    "{total} GiB of which {free} GiB is free. {other}Including non-PyTorch memory, this process has "
    "{mine} GiB memory in use."
)
OLD = (
    "RuntimeError: NPU out of memory. Tried to allocate 22.00 MiB (NPU 1; {total} GiB total capacity; {mine} GiB "
    "already allocated; {mine} GiB current active; {free} GiB free; {mine} GiB reserved in total by PyTorch)"
)


@pytest.mark.parametrize("wording", [NEW, OLD])
@pytest.mark.parametrize(
    ("total", "free", "mine", "form", "held"),
    [
        ("24.00", "0.10", "8.00", "card-memory-held", 15.9),
        ("80.00", "0.50", "79.00", "card-full", None),
        ("80.00", "1.00", "70.50", "card-memory-held", 8.5),
        ("16.00", "0.10", "14.40", "card-full", None),  # 1.5 GiB may be the driver's own
        ("64.00", "60.00", "3.00", "card-full", None),
    ],
)
def test_whose_memory_it_was(wording: str, total: str, free: str, mine: str, form: str, held: float | None) -> None:
    found = root(failed(wording.format(total=total, free=free, mine=mine, other="")), SPEC)
    assert (found.code, found.form) == ("device-out-of-memory", form)
    assert found.values["card"] == 1 and found.values.get("held") == held


def test_the_process_that_holds_most_is_named() -> None:
    other = "Process 11 has 0.40 GiB memory in use. Process 22 has 15.00 GiB memory in use. "
    told = said(failed(NEW.format(total="24.00", free="0.10", mine="8.00", other=other)))
    assert "process 22" in told.why and "smaller batch does not help" in told.why


def test_a_number_that_only_says_that_a_card_did_not_start_is_not_a_cause() -> None:
    assert root(failed("error code is 507033"), SPEC).form == "npu-start-failed"
    assert root(failed("error code is 507033", "E30006: x"), SPEC).code == "driver-mismatch"
    assert root(failed("E30006: x", "error code is 507033"), SPEC).code == "driver-mismatch"


def test_no_answer_of_the_npu_driver_is_never_read_as_no_card() -> None:
    told = said(failed("dcmi module initialize failed. ret is -8005"))
    assert told.code == "device-not-visible" and "may be fine" in told.why


@pytest.mark.parametrize("xid", [48, 63, 74, 79, 94, 95, 119])
def test_faults_of_a_gpu_itself(xid: int) -> None:
    found = root(failed(f"NVRM: Xid (PCI:0000:3b:00): {xid}, pid=1"), SPEC)
    assert (found.code, found.values["xid"]) == ("device-unhealthy", xid)


@pytest.mark.parametrize("xid", [13, 31, 43, 45])
def test_faults_of_a_program_are_not_the_gpu_s(xid: int) -> None:
    assert root(failed(f"NVRM: Xid (PCI:0000:3b:00): {xid}, pid=1"), SPEC).code == "exit-code"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("EI0002: x remote rank [7].", "rank 7"),
        ("serverId[10.0.0.9], deviceId[4], Heartbeat Lost Occurred", "card 4 of 10.0.0.9"),
    ],
)
def test_who_was_waited_for_is_named(line: str, shown: str) -> None:
    assert shown in said(failed(line)).why


def test_of_two_ranks_on_one_card_both_are_named() -> None:
    told = said(failed("RuntimeError: NCCL error in: a.cpp:1", "Duplicate GPU detected : rank 5 and rank 4 both on x"))
    assert told.title == "Ranks 5 and 4 use the same GPU"
