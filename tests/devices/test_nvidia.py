"""NVIDIA's cards through the real `pynvml`, with a stand-in for the driver's own library below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pynvml
import pytest

from jupyter_aiarts.devices import xids
from jupyter_aiarts.devices.nvidia import NvidiaProbe

from .driver import NO_DRIVER, OK, UNSUPPORTED, Driver, Gpu

Install = Callable[..., Driver]


@pytest.fixture
def driver() -> Iterator[Install]:
    """Make a driver and have it loaded; it is gone afterwards."""
    made: list[Driver] = []

    def install(*gpus: Gpu, init: int = OK) -> Driver:
        made.append(Driver(*gpus, init=init))
        made[-1].load()
        return made[-1]

    yield install
    for one in made:
        one.unload()


def test_everything_a_card_tells_is_told(driver: Install) -> None:
    driver(Gpu(), Gpu(busy=0, used=1 << 20, programs={41: 2 << 30, 42: 1 << 30}))
    first, second = NvidiaProbe().look()
    assert (first.name, first.utilization, first.power_w, first.temperature_c) == (first.name, 50.0, 250.0, 55.0)
    assert (first.memory_used_mb, first.memory_total_mb, first.health) == (20480.0, 81920.0, "ok")
    assert first.programs == ()
    assert second.utilization == 0.0  # a number, and not an unknown one
    assert [(one.pid, one.memory_mb) for one in second.programs or ()] == [(41, 2048.0), (42, 1024.0)]


def test_a_library_without_a_driver_is_no_card_and_one_that_comes_is_seen(driver: Install) -> None:
    there = driver(Gpu(), init=NO_DRIVER)
    probe = NvidiaProbe()
    assert probe.look() == ()
    there.init = OK
    assert len(probe.look()) == 1


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_NO_PERMISSION, pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH])
def test_cards_that_may_not_be_touched_are_not_no_cards(driver: Install, code: int) -> None:
    driver(Gpu(), init=code)
    with pytest.raises(pynvml.NVMLError):
        NvidiaProbe().look()


def test_a_card_that_falls_off_the_bus_says_so_and_the_others_go_on(driver: Install) -> None:
    there = driver(Gpu(), Gpu(), Gpu())
    probe = NvidiaProbe()
    assert [card.health for card in probe.look()] == ["ok"] * 3
    there.gpus[1].lost = True
    cards = probe.look()
    assert [card.id for card in cards] == [0, 1, 2]
    assert (cards[1].health, cards[1].utilization, cards[1].memory_used_mb) == ("gpu is lost", None, None)
    assert [cards[0].utilization, cards[2].utilization] == [50.0, 50.0]


def test_how_a_card_is_that_this_user_may_not_open_is_unknown(driver: Install) -> None:
    driver(Gpu(), Gpu(closed=True))
    cards = NvidiaProbe().look()
    assert [(card.id, card.health, card.utilization) for card in cards] == [(0, "ok", 50.0), (1, None, None)]


@pytest.mark.parametrize(
    ("code", "health"),
    [
        (pynvml.NVML_ERROR_GPU_IS_LOST, "gpu is lost"),
        (pynvml.NVML_ERROR_RESET_REQUIRED, "gpu requires restart"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, None),
    ],
)
def test_a_card_that_is_still_there_by_name_only_says_so(
    driver: Install, monkeypatch: pytest.MonkeyPatch, code: int, health: str | None
) -> None:
    """Whoever has the driver open when a card is lost (XID 79) still gets its handle, and no answer by it."""
    there = driver(Gpu())
    for name in ("MemoryInfo", "UtilizationRates", "PowerUsage", "Temperature", "ComputeRunningProcesses_v3"):
        monkeypatch.setattr(there, f"nvmlDeviceGet{name}", lambda *_: code)
    [card] = NvidiaProbe().look()
    assert (card.health, card.memory_used_mb, card.utilization, card.programs) == (health, None, None, None)


def test_a_card_that_the_driver_reports_as_broken_is_not_well_though_it_answers(
    driver: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = driver(Gpu(), Gpu(), Gpu(parts=["MIG 1g.10gb", "MIG 2g.20gb"]))
    probe = NvidiaProbe()
    assert {card.health for card in probe.look()} == {"ok"}
    there.reports += [(1, 48), (1, 63), (2, 95)]
    cards = probe.look()
    assert [card.health for card in cards] == ["ok", "xid 63", "xid 95", "xid 95"]  # a slice is as ill as its card
    assert cards[1].utilization == 50.0
    assert [card.health for card in probe.look()] == [card.health for card in cards]
    assert there.registered == [0, 1, 2]
    monkeypatch.setattr(xids, "KEPT", 0.0)
    assert {card.health for card in probe.look()} == {"ok"}


def test_what_concerns_a_program_alone_does_not_make_its_card_ill(driver: Install) -> None:
    there = driver(Gpu())
    probe = NvidiaProbe()
    probe.look()
    there.reports += [(0, xid) for xid in (13, 31, 43, 45, 68, 94, 109)]
    assert [card.health for card in probe.look()] == ["ok"]


def test_a_flood_of_reports_holds_up_no_look(driver: Install) -> None:
    there = driver(Gpu())
    probe = NvidiaProbe()
    probe.look()
    there.reports += [(0, 74)] * 1000
    assert [card.health for card in probe.look()] == ["xid 74"]
    assert len(there.reports) == 1000 - xids.MOST


@pytest.mark.parametrize("name", ["nvmlEventSetCreate", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"])
def test_a_driver_that_makes_no_reports_tells_everything_else(
    driver: Install, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    there = driver(Gpu())
    monkeypatch.setattr(there, name, lambda *_: UNSUPPORTED)
    probe = NvidiaProbe()
    for _ in range(2):
        assert [(card.health, card.utilization) for card in probe.look()] == [("ok", 50.0)]


def test_a_driver_that_is_taken_away_while_we_look_is_asked_anew(
    driver: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = driver(Gpu())
    probe = NvidiaProbe()
    assert len(probe.look()) == 1
    with monkeypatch.context() as gone:
        gone.setattr(there, "nvmlDeviceGetCount_v2", lambda _: pynvml.NVML_ERROR_UNINITIALIZED)
        there.load()
        assert probe.look() == ()
    there.load()
    assert len(probe.look()) == 1


def test_a_driver_that_cannot_count_its_cards_is_told_of_and_opened_no_more_often_than_it_is_left(
    driver: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = driver(Gpu())
    probe = NvidiaProbe()
    probe.look()
    with monkeypatch.context() as ill:
        ill.setattr(there, "nvmlDeviceGetCount_v2", lambda _: pynvml.NVML_ERROR_UNKNOWN)
        there.load()
        for _ in range(3):
            with pytest.raises(pynvml.NVMLError, match="Unknown"):
                probe.look()
        assert there.users == 0
    there.load()
    assert len(probe.look()) == 1 and there.users == 1


def test_parts_of_a_card_are_cards_with_names_of_their_own_and_what_they_do_not_tell_is_unknown(
    driver: Install,
) -> None:
    parts = ["NVIDIA A100 MIG 3g.40gb", "NVIDIA A100 MIG 1g.10gb", "NVIDIA A100 MIG 1g.10gb"]
    driver(Gpu(parts=parts), Gpu())
    *cut, whole = NvidiaProbe().look()
    assert [(card.id, card.part) for card in cut] == [(0, "3g.40gb"), (0, "1g.10gb #1"), (0, "1g.10gb #2")]
    assert {card.utilization for card in cut} == {None}
    assert {card.power_w for card in cut} == {250.0}  # the whole card's: a part has none
    assert (whole.id, whole.part, whole.utilization) == (1, None, 50.0)


def test_sixty_four_cards_are_all_told(driver: Install) -> None:
    driver(*(Gpu(busy=number) for number in range(64)))
    assert [(card.id, card.utilization) for card in NvidiaProbe().look()] == [(n, float(n)) for n in range(64)]


def test_what_a_card_does_not_support_is_unknown(driver: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    there = driver(Gpu())
    for name in ("UtilizationRates", "PowerUsage", "Temperature", "ComputeRunningProcesses_v3"):
        monkeypatch.setattr(there, f"nvmlDeviceGet{name}", there._unsupported)
    [card] = NvidiaProbe().look()
    assert (card.utilization, card.power_w, card.temperature_c, card.programs) == (None, None, None, None)
    assert card.memory_used_mb == 20480.0
