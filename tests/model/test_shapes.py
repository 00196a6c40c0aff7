"""What goes over the wire: jobs, lists, log lines, and the schema that describes them."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from jupyter_aiarts.model.job import (
    Action,
    DryRun,
    Event,
    Explanation,
    Job,
    ListedJob,
    LogLine,
    Rank,
    listed,
)
from jupyter_aiarts.model.phase import MOVES, Phase
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.schema import component_schemas, job_spec_schema
from jupyter_aiarts.model.spec import JobSpec

JOB = Job(
    id="a123456789",
    name="训练",
    cluster="local",
    phase=Phase.FAILED,
    run=2,
    created="2026-11-16T01:02:03.456789Z",
    owner="alice",
    spec=read_spec({"script": "t.py", "env": {"MY_TOKEN": "s"}, "mounts": [{"source": "/a", "target": "/b"}]}).spec,
    explanation=Explanation(
        code="exit-code",
        title="T",
        why="W",
        evidence=["e"],
        actions=[Action(id="fix", label="Fix", patch={"cpu": 2})],
    ),
    ranks=[Rank(rank=0, node=0, phase=Phase.FAILED, exit_code=1, devices=[4])],
    notes=["A note."],
    moves=list(MOVES[Phase.FAILED]),
)


def wire(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def test_a_job_has_the_promised_shape() -> None:
    shown = wire(JOB)
    assert shown == {
        "id": "a123456789",
        "name": "训练",
        "cluster": "local",
        "phase": "failed",
        "run": 2,
        "created": "2026-11-16T01:02:03.456789Z",
        "started": None,
        "ended": None,
        "owner": "alice",
        "spec": wire(JOB.spec),
        "explanation": {
            "code": "exit-code",
            "title": "T",
            "why": "W",
            "evidence": ["e"],
            "actions": [{"id": "fix", "label": "Fix", "patch": {"cpu": 2}}],
        },
        "ranks": [{"rank": 0, "node": 0, "phase": "failed", "exit_code": 1, "devices": [4]}],
        "notes": ["A note."],
        "machines": [],
        "moves": ["rerun", "clone", "edit", "delete"],
    }
    assert shown["spec"]["secret_env"] == {"MY_TOKEN": None}


@pytest.mark.parametrize(
    "value",
    [
        JOB,
        listed(JOB),
        LogLine(seq="0.1", t="t", node=0, rank=1, stream="stdout", text="\ufffd", more=True, folded=3),
        Event(t="t", type="Normal", reason="R", message="m", object="o"),
        DryRun(spec=JOB.spec, explanation=JOB.explanation, fits=True, notes=["n"]),
    ],
)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_a_list_carries_only_the_short_spec() -> None:
    short, whole = wire(listed(JOB)), wire(JOB)
    assert short.pop("spec") == {
        "kind": "regular",
        "device": "cpu",
        "devices": 0,
        "nodes": 1,
        "image": None,
        "queue": None,
        "priority": 5,
        "script": "t.py",
    }
    del whole["spec"]
    assert short == whole
    assert isinstance(listed(JOB), ListedJob)


def test_a_plain_log_line_says_nothing_extra() -> None:
    line = LogLine(seq="0.1", t="t", node=0, rank=1, stream="stderr", text="x")
    assert wire(line) == {"seq": "0.1", "t": "t", "node": 0, "rank": 1, "stream": "stderr", "text": "x"}


def test_every_key_of_the_spec_is_described() -> None:
    properties = component_schemas()["JobSpec"]["properties"]
    assert list(properties) == list(JobSpec.__struct_fields__)
    assert [key for key, one in properties.items() if not one.get("description", "").endswith(".")] == []
    assert properties["devices"] == {
        "description": "Cards per node. Default: 1 where a device with cards is named "
        "(8 for a distributed Ascend job), else 0.",
        "type": "integer",
        "minimum": 0,
        "maximum": 128,
        "default": 0,
    }


def test_the_request_takes_what_the_shown_spec_never_has() -> None:
    schema = job_spec_schema()
    assert schema["properties"]["secret_env"]["additionalProperties"] == {"type": ["string", "null"]}
    assert {"$ref": "#/$defs/PullSecret"} in schema["properties"]["image_pull_secret"]["anyOf"]
    assert {"workspace_id", "vc"} <= schema["properties"].keys()
    assert schema["additionalProperties"] is False
    shown = component_schemas()
    assert shown["JobSpec"]["properties"]["secret_env"]["additionalProperties"] == {"type": "null"}
    assert "workspace_id" not in shown["JobSpec"]["properties"]


@pytest.mark.parametrize("schema", [component_schemas(), job_spec_schema()], ids=["components", "request"])
def test_every_reference_leads_somewhere(schema: dict[str, Any]) -> None:
    names = {**schema, **schema.get("$defs", {})}
    for target in re.findall(r'"\$ref": "([^"]+)"', json.dumps(schema)):
        assert target.rsplit("/", 1)[1] in names


def test_the_schema_is_valid_and_agrees_with_the_reader() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = job_spec_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = [
        {"script": "a.py", "params": {"a": [1, "x"], "b": None}, "secret_env": {"S": "v"}, "vc": "q"},
        wire(JOB.spec),
        {
            "command": "ls",
            "image_pull_secret": {"registry": "r", "username": "u", "password": "p"},
            "cluster": "k",
        },
    ]
    for raw in good:
        validator.validate(raw)
        read_spec(raw, known_secrets=["MY_TOKEN"])
    for raw in [
        {"devices": -1},
        {"nope": 1},
        {"mounts": [{"source": "../a", "target": "/b"}]},
        {"kind": "x"},
    ]:
        assert not validator.is_valid(raw)
