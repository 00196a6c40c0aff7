"""Which kind of job, and which cards: what is filled in, understood, or refused as a guess."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.model.reading import read_spec

from .told import GPU, NPU, problems, read


@pytest.mark.parametrize(
    ("given", "kind", "nodes"),
    [
        ({"kind": "RegularJob"}, "regular", 1),
        ({"kind": "Regular Job"}, "regular", 1),
        ({"kind": "PSDistJob", "nodes": 2}, "distributed", 2),
        ({"kind": "Distributed Job", "nodes": 3}, "distributed", 3),
        ({"kind": "DISTRIBUTED", "nodes": 2}, "distributed", 2),
        ({"kind": "PyTorchJob", "nodes": 2}, "distributed", 2),
        ({"kind": "PyTorchJob"}, "regular", 1),
        ({"nodes": 2}, "distributed", 2),
        ({"nodes": 1}, "regular", 1),
        ({"nodes": 2.0}, "distributed", 2),
    ],
)
def test_kinds_and_their_spellings(given: dict[str, Any], kind: str, nodes: int) -> None:
    spec = read(**given)
    assert (spec.kind, spec.nodes) == (kind, nodes)


@pytest.mark.parametrize(
    ("given", "device", "devices"),
    [
        ({"device": GPU}, GPU, 1),
        ({"device": GPU, "devices": 0}, GPU, 0),
        ({"device": "CPU"}, "cpu", 0),
        ({"device": NPU}, NPU, 1),
        ({"device": NPU, "nodes": 2}, NPU, 8),
        ({"device": GPU, "nodes": 2}, GPU, 1),
        ({"device": "mlu370", "devices": 3}, "mlu370", 3),
    ],
)
def test_cards_default_to_what_the_device_needs(given: dict[str, Any], device: str, devices: int) -> None:
    spec = read(**given)
    assert (spec.device, spec.devices) == (device, devices)


def test_cards_without_a_device_take_the_only_kind_there_is() -> None:
    reading = read_spec({"script": "t.py", "devices": 2}, offered_devices=["cpu", GPU])
    assert (reading.spec.device, reading.spec.devices) == (GPU, 2)
    assert reading.notes == ["No device was named, so the job takes nvidia_gpu_amd64, the only kind of card there is."]


@pytest.mark.parametrize("offered", [None, [], ["cpu"], [GPU, NPU]])
def test_cards_without_a_device_are_refused_when_it_would_be_a_guess(offered: list[str] | None) -> None:
    assert problems({"script": "t.py", "devices": 2}, offered_devices=offered) == {
        "device": "devices asks for 2 cards per node, and cpu has none. "
        "Set device to the kind of card you want, or leave devices out."
    }


def test_a_device_that_is_not_offered_is_refused_with_the_nearest() -> None:
    found = problems({"script": "t.py", "device": "nvidia_gpu_amd46"}, offered_devices=["cpu", GPU])
    assert found == {"device": 'local has no device "nvidia_gpu_amd46". Did you mean nvidia_gpu_amd64?'}
    found = problems({"script": "t.py", "device": "zzz"}, offered_devices=["cpu", GPU])
    assert found == {"device": 'local has no device "zzz". It offers cpu, nvidia_gpu_amd64.'}


@pytest.mark.parametrize("devices", [0, 1, 2, 4, 8])
def test_ascend_shapes_that_exist_are_accepted(devices: int) -> None:
    assert read(device=NPU, devices=devices).devices == devices


def test_gpus_come_in_any_number() -> None:
    assert read(device=GPU, devices=3, nodes=5).devices == 3
