"""A pod's network is told by the second, with all its interfaces, and without what it says to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_aiarts.launcher.usage.netuse import NetUse, counters

HEAD = "Inter-|   Receive  |  Transmit\n face |bytes    packets errs …\n"


def row(name: str, received: int, sent: int) -> str:
    """An interface as /proc/net/dev shows it: eight numbers of what came, eight of what went."""
    return f"{name:>6}:{received:8}" + 7 * " 0" + f"{sent:9}" + 7 * " 0" + "\n"


LO, ETH0, RDMA = row("lo", 9_000_000, 9_000_000), row("eth0", 1000, 2000), row("rdma0", 50, 70)


def said(tmp_path: Path, text: str) -> list[int] | None:
    path = tmp_path / "dev"
    path.write_text(text)
    return counters(str(path))


def test_all_interfaces_count_but_the_one_for_itself(tmp_path: Path) -> None:
    assert said(tmp_path, HEAD + LO + ETH0 + RDMA) == [1050, 2070]


@pytest.mark.parametrize("text", ["", HEAD, HEAD + LO, HEAD + "eth0\n", HEAD + "eth0: a b\n", HEAD + "eth0: 1 2\n"])
def test_a_pod_without_a_network_or_with_another_form_is_unknown(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, text) is None
    assert counters(str(tmp_path / "none")) is None


def test_the_first_look_only_says_where_counters_stand_and_rates_are_by_the_second(tmp_path: Path) -> None:
    path = tmp_path / "dev"
    use = NetUse(str(path))
    told = []
    for at, text in (
        (0.0, HEAD + ETH0),
        (10.0, HEAD + row("eth0", 2000, 2000)),
        (20.0, HEAD + ETH0),  # an interface that was made anew: its counters began again
        (20.0, HEAD + ETH0),  # twice at a time
        (30.0, HEAD + LO),
        (40.0, HEAD + ETH0),
        (50.0, HEAD + ETH0),
    ):
        path.write_text(text)
        use.look(at, at)
        told.append(use.as_json()["received"])
    assert told[0] == [None, None, None]
    assert told[1] == [100.0, 100.0, 100.0]
    assert told[-1] == [0.0, 50.0, 100.0]
    assert use.past.as_json() == {"times": [10.0, 50.0], "series": {"received": [100.0, 0.0], "sent": [0.0, 0.0]}}


def test_the_real_counters_of_this_machine_can_be_read() -> None:
    found = counters()
    assert found is None or (len(found) == 2 and all(one >= 0 for one in found))
