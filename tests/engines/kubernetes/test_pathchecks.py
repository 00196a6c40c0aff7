"""Before submitting: the start file and data are looked for where the pod will look, by the path map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.checks import Prepared, prepare
from jupyter_aiarts.errors import InvalidSpec
from tests.engines.kubernetes.making import ALICE, make_reading, make_settings


@pytest.fixture
def nas(tmp_path: Path) -> Path:
    """What this server sees of a share that pods have at /work."""
    (tmp_path / "nas" / "Data").mkdir(parents=True)
    (tmp_path / "nas" / "train.py").write_text("pass")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "train.py").write_text("pass")
    return tmp_path / "nas"


def prepared(nas: Path, **raw: Any) -> Prepared:
    mount = {"source": "nas:/export/{user}", "target": "/work", "path": str(nas)}
    settings = make_settings(default_mounts=[mount, {"source": "datasets", "target": "/data"}])
    reading = make_reading(**{"workdir": str(nas.parent / "own"), **raw})
    return prepare(reading, nas.parent / "own", settings, ALICE)


def problem(nas: Path, **raw: Any) -> str:
    with pytest.raises(InvalidSpec) as caught:
        prepared(nas, **raw)
    [found] = caught.value.problems
    assert found["key"] == "script"
    return found["message"]


def notes(nas: Path, **raw: Any) -> list[str]:
    return [note for note in prepared(nas, **raw).reading.notes if "_path " in note and "SAVE_PATH" not in note]


def test_a_start_file_by_its_path_in_the_pod_is_taken_where_it_is_there(nas: Path) -> None:
    assert prepared(nas, script="/work/train.py").shipment.script_in_pod == "/work/train.py"
    assert prepared(nas, script=str(nas / "train.py")).shipment.script_in_pod == "/work/train.py"


def test_one_that_surely_is_not_there_is_refused_with_what_was_meant(nas: Path) -> None:
    assert problem(nas, script="/work/trian.py") == (
        f"The start file /work/trian.py is not there: in the pod that is {nas} of this server."
    )
    assert problem(nas, script="/work/Train.py").endswith("Did you mean /work/train.py?")


def test_one_that_may_be_in_the_image_or_on_storage_that_is_not_seen_here_is_let_go(nas: Path) -> None:
    for script in ("/opt/tool/train.py", "/data/train.py"):
        made = prepared(nas, script=script)
        assert made.shipment.script_in_pod == script and "is not on this server" in str(made.reading.notes)


def test_a_start_file_that_only_looks_the_same_is_named(nas: Path) -> None:
    own = nas.parent / "own"
    assert (
        problem(nas, script="Train.py") == f"The start file {own}/Train.py is not there. Did you mean {own}/train.py?"
    )
    assert problem(nas, script="train.py ").endswith(f"Did you mean {own}/train.py?")


def test_data_that_the_pod_has_under_another_name_is_told(nas: Path) -> None:
    [note] = notes(nas, data_path=str(nas / "Data"))
    assert note == f"data_path {nas}/Data is /work/Data in the pod: write that."
    assert notes(nas, data_path="/work/Data") == [] == notes(nas, data_path="/data/imagenet")


def test_data_that_the_pod_does_not_have_is_told(nas: Path) -> None:
    own = nas.parent / "own"
    [note] = notes(nas, data_path=str(own))
    assert note.startswith(f"data_path {own} is on this server, and no mount of the job has it: aiarts doctor path")
    assert notes(nas, data_path="/work/nothing") == [
        "data_path /work/nothing is not there in the storage that the pod has at that place."
    ]
    assert notes(nas, data_path="/opt/in/the/image") == [] == notes(nas, output_path="/work/new")


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("https://harbor.lab/x:1", "Did you mean harbor.lab/x:1?"),
        ("Harbor/X:1", "Did you mean harbor/x:1?"),
        ("镜像", "is no name of an image"),
    ],
)
def test_an_image_that_no_runtime_can_name_is_refused_before_submitting(nas: Path, image: str, said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        prepared(nas, image=image)
    assert [one["key"] for one in caught.value.problems] == ["image"] and said in str(caught.value)


def test_an_image_without_a_tag_is_told(nas: Path) -> None:
    assert any("has no tag" in note for note in prepared(nas, image="harbor.lab/x").reading.notes)
    assert not any("has no tag" in note for note in prepared(nas, image="harbor.lab/x:1").reading.notes)
