"""What `read_spec` promises: defaults filled, spellings understood, notes about what has no effect."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec, Mount

from .told import GPU, NPU, read


def test_everything_has_a_default() -> None:
    """A start file alone is a whole spec, with every default shown."""
    assert msgspec.to_builtins(read()) == {
        "name": "train",
        "cluster": "local",
        "kind": "regular",
        "device": "cpu",
        "devices": 0,
        "nodes": 1,
        "image": None,
        "image_pull_secret": None,
        "script": "train.py",
        "args": [],
        "params": {},
        "command": None,
        "environment": None,
        "env": {},
        "secret_env": {},
        "workdir": None,
        "data_path": None,
        "output_path": None,
        "pass_paths": False,
        "mounts": [],
        "cpu": None,
        "memory_gb": None,
        "shm_gb": None,
        "framework": None,
        "processes": "node",
        "rank_table": "v1.0",
        "run_as": "image",
        "queue": None,
        "priority": 5,
        "preemptible": False,
        "max_restarts": 0,
        "max_hours": None,
        "grace_seconds": 30,
        "template": None,
        "submission_id": None,
    }


def test_a_full_spec_is_read_as_written() -> None:
    raw: dict[str, Any] = {
        "name": "训练 一号",
        "cluster": "prod",
        "kind": "distributed",
        "device": NPU,
        "devices": 8,
        "nodes": 2,
        "image": "registry/ms:2",
        "image_pull_secret": "regcred",
        "script": "/data/train.py",
        "args": ["a", "$(whoami)", "`id`;\n'\""],
        "params": {"lr": 0.1, "flag": None, "on": True, "sizes": [1, "2", 3.5, False], "n": 7},
        "env": {"EPOCHS": "3"},
        "workdir": "/data",
        "data_path": "/d",
        "output_path": "/o",
        "pass_paths": True,
        "mounts": [{"source": "claim/sub", "target": "/data", "read_only": True}],
        "cpu": 1.5,
        "memory_gb": 8.0,
        "shm_gb": 0.0,
        "framework": "mindspore",
        "processes": "card",
        "rank_table": "lab",
        "run_as": "1000:1000",
        "queue": "team-a",
        "priority": 9,
        "preemptible": True,
        "max_restarts": 2,
        "max_hours": 0.5,
        "grace_seconds": 0,
        "template": "npu-2x8",
        "submission_id": "abc",
    }
    reading = read_spec(raw)
    mounts = [Mount(source="claim/sub", target="/data", read_only=True)]
    assert reading.spec == JobSpec(**{**raw, "mounts": mounts})
    assert (reading.notes, reading.secrets, reading.pull_secret) == ([], {}, None)


def test_reading_what_was_read_changes_nothing() -> None:
    """An edit sends the shown spec back: it must mean the same, and keep its secrets."""
    first = read_spec(
        {
            "script": "t.py",
            "env": {"HF_TOKEN": "s", "N": 1},
            "device": GPU,
            "nodes": 2,
            "cpu": 2,
            "params": {"a": None},
        }
    )
    shown = json.loads(msgspec.json.encode(first.spec))
    again = read_spec(shown, known_secrets=["HF_TOKEN"])
    assert again.spec == first.spec
    assert again.secrets == {}


def test_null_means_not_given() -> None:
    assert read_spec(dict.fromkeys(JobSpec.__struct_fields__) | {"script": "train.py"}).spec == read()


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("train.py", "train"),
        ("/a/b/run.sh", "run"),
        ("实验.ipynb", "实验"),
        ("a/" + "x" * 100 + ".py", "x" * 63),
        (".py", ".py"),
        (" ", "job"),
        ("a\nb.py", "job"),
        ("/", "job"),
    ],
)
def test_the_name_comes_from_the_start_file(script: str, name: str) -> None:
    assert read(script=script).name == name


def test_a_command_is_called_job() -> None:
    assert read_spec({"command": "echo hi"}).spec.name == "job"


@pytest.mark.parametrize("alias", ["queue", "workspace_id", "vc"])
def test_a_queue_has_three_names(alias: str) -> None:
    assert read(**{alias: "team"}).queue == "team"
    assert read(**{alias: 42}).queue == "42"


def test_numbers_become_text_where_text_is_wanted() -> None:
    spec = read(args=[1, 2.5, True, "x"], env={"A": 1, "B": False, "C": 0.5})
    assert spec.args == ["1", "2.5", "true", "x"]
    assert spec.env == {"A": "1", "B": "false", "C": "0.5"}


@pytest.mark.parametrize(
    "source", ["/host/path", "data", "~/data", "rel/path", "server:/export", "nfs://server/export"]
)
def test_mount_sources_of_every_kind_are_read(source: str) -> None:
    assert read(mounts=[{"source": source, "target": "/d"}]).mounts == [Mount(source=source, target="/d")]


@pytest.mark.parametrize(
    "source", ["/host", "data", "data/sub/folder", "server:/export", "nfs://server/export", "a..b"]
)
def test_mount_sources_of_a_cluster(source: str) -> None:
    assert read(cluster="k", mounts=[{"source": source, "target": "/d"}]).mounts[0].source == source


def test_a_local_job_says_what_has_no_effect() -> None:
    login = {"registry": "r", "username": "u", "password": "hush"}
    raw = {"script": "a", "image": "i:1", "priority": 9, "preemptible": True, "image_pull_secret": login}
    reading = read_spec(raw)
    assert reading.notes == [
        "The image i:1 is ignored: jobs on this machine run without a container.",
        "image_pull_secret is ignored: jobs on this machine pull no image.",
        "preemptible has no effect on this machine: no job takes another one's place here.",
    ]
    assert reading.pull_secret is None
    assert read_spec({**raw, "cluster": "k"}).notes == []


def test_other_notes() -> None:
    assert read_spec({"script": "a", "params": {"--lr": 1}}).notes == [
        "The parameter --lr is passed as ----lr, because two dashes are added to every key."
    ]
    assert read_spec({"command": "a", "pass_paths": True}).notes == [
        "pass_paths has no effect with command: use $DATA_PATH and $OUTPUT_PATH in the line."
    ]
