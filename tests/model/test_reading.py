"""What `read_spec` promises: defaults filled, spellings understood, every problem at once with its key."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import MAX_PROBLEMS, MAX_STRING
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec, Mount

NPU = "huawei_npu_arm64"
GPU = "nvidia_gpu_amd64"


def problems(raw: Any, **options: Any) -> dict[str, str]:
    """The problems of a spec that must be refused, by key."""
    with pytest.raises(InvalidSpec) as caught:
        read_spec(raw, **options)
    return {problem["key"]: problem["message"] for problem in caught.value.problems}


def read(**raw: Any) -> JobSpec:
    """The spec of a job that is otherwise fine."""
    return read_spec({"script": "train.py", **raw}).spec


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


@pytest.mark.parametrize("alias", ["queue", "workspace_id", "vc"])
def test_a_queue_has_three_names(alias: str) -> None:
    assert read(**{alias: "team"}).queue == "team"
    assert read(**{alias: 42}).queue == "42"


def test_two_names_of_one_key_must_agree() -> None:
    assert read(queue="a", vc="a").queue == "a"
    found = problems({"script": "t.py", "queue": "a", "vc": "b"})
    assert found == {"vc": "vc is another name of queue, which is given with another value."}


def test_numbers_become_text_where_text_is_wanted() -> None:
    spec = read(args=[1, 2.5, True, "x"], env={"A": 1, "B": False, "C": 0.5})
    assert spec.args == ["1", "2.5", "true", "x"]
    assert spec.env == {"A": "1", "B": "false", "C": "0.5"}


BAD_VALUES: list[tuple[dict[str, Any], str, str]] = [
    ({"devices": "two"}, "devices", 'devices must be a whole number from 0 to 128, and it is "two".'),
    (
        {"devices": "2"},
        "devices",
        'devices must be a whole number from 0 to 128, and it is "2". Write it without quotes.',
    ),
    ({"devices": True}, "devices", "devices must be a whole number from 0 to 128, and it is true."),
    ({"devices": 1.5}, "devices", "devices must be a whole number from 0 to 128, and it is 1.5."),
    ({"devices": -1}, "devices", "devices must be a whole number from 0 to 128, and it is -1."),
    ({"devices": 129}, "devices", "devices must be a whole number from 0 to 128, and it is 129."),
    ({"nodes": 0}, "nodes", "nodes must be a whole number from 1 to 10,000, and it is 0."),
    (
        {"nodes": 10**30},
        "nodes",
        "nodes must be a whole number from 1 to 10,000, and it is a very long number.",
    ),
    (
        {"nodes": 10**5000},
        "nodes",
        "nodes must be a whole number from 1 to 10,000, and it is a very long number.",
    ),
    ({"args": [10**5000]}, "args[0]", "args[0] must be text, and it is a very long number."),
    (
        {"params": {10**5000: 1}},
        "params.a very long number",
        "A name in params must be text, and it is a very long number.",
    ),
    ({"secret_env": {"S": 10**5000}}, "secret_env.S", "secret_env.S must be text."),
    ({"priority": 0}, "priority", "priority must be a whole number from 1 to 9, and it is 0."),
    ({"priority": 10}, "priority", "priority must be a whole number from 1 to 9, and it is 10."),
    (
        {"pass_paths": "true"},
        "pass_paths",
        'pass_paths must be true or false, and it is "true". Write it without quotes.',
    ),
    ({"preemptible": 1}, "preemptible", "preemptible must be true or false, and it is 1."),
    ({"cpu": 0}, "cpu", "cpu must be a number above 0 and up to 10,000, and it is 0."),
    ({"cpu": float("nan")}, "cpu", "cpu must be a number above 0 and up to 10,000, and it is nan."),
    ({"cpu": float("inf")}, "cpu", "cpu must be a number above 0 and up to 10,000, and it is inf."),
    ({"memory_gb": -2}, "memory_gb", "memory_gb must be a number above 0 and up to 1,000,000, and it is -2."),
    ({"shm_gb": -1}, "shm_gb", "shm_gb must be a number from 0 to 1,000,000, and it is -1."),
    ({"max_hours": 0}, "max_hours", "max_hours must be a number above 0 and up to 87,600, and it is 0."),
    (
        {"max_restarts": -1},
        "max_restarts",
        "max_restarts must be a whole number from 0 to 1,000, and it is -1.",
    ),
    (
        {"grace_seconds": 3601},
        "grace_seconds",
        "grace_seconds must be a whole number from 0 to 3,600, and it is 3601.",
    ),
    ({"kind": "batch"}, "kind", 'kind must be distributed or regular, and it is "batch".'),
    ({"kind": 3}, "kind", "kind must be distributed or regular, and it is 3."),
    (
        {"framework": "jax"},
        "framework",
        'framework must be mindspore, none, pytorch or tensorflow, and it is "jax".',
    ),
    ({"processes": "gpu"}, "processes", 'processes must be card or node, and it is "gpu".'),
    ({"rank_table": 1.0}, "rank_table", "rank_table must be cloud, lab or v1.0, and it is 1.0."),
    ({"run_as": "root"}, "run_as", 'run_as must be image, user, or two numbers uid:gid, and it is "root".'),
    (
        {"run_as": "user\n"},
        "run_as",
        'run_as must be image, user, or two numbers uid:gid, and it is "user\\n".',
    ),
    ({"run_as": "1:1"}, "run_as", "Jobs on this machine run as the user of the server. Leave run_as out."),
    (
        {"run_as": "4294967295:1", "cluster": "k"},
        "run_as",
        'run_as must name ids below 4,294,967,295, and it is "4294967295:1".',
    ),
    ({"script": ""}, "script", "script is empty; leave the key out, or give it a value."),
    ({"script": ["a"]}, "script", "script must be text, and it is a list of 1 item."),
    ({"script": "a" * 4097}, "script", "script may have at most 4,096 characters, and it has 4,097."),
    (
        {"image": "a b"},
        "image",
        'image must be an image reference without spaces, and it is "a b".',
    ),
    ({"image": ""}, "image", 'image must be an image reference without spaces, and it is "".'),
    ({"args": "a b"}, "args", 'args must be a list, and it is "a b".'),
    ({"args": [None]}, "args[0]", "args[0] must be text, and it is null."),
    ({"args": ["x"] * 20_001}, "args", "args may have at most 20,000 entries, and it has 20,001."),
    ({"params": []}, "params", "params must be an object of names and values, and it is a list of 0 items."),
    (
        {"params": {str(n): 1 for n in range(20_001)}},
        "params",
        "params may have at most 20,000 entries, and it has 20,001.",
    ),
    ({"params": {"": 1}}, "params.", "A name in params is empty; leave the key out, or give it a value."),
    ({"params": {1: 1}}, "params.1", "A name in params must be text, and it is 1."),
    (
        {"params": {"a": {"b": 1}}},
        "params.a",
        "params.a must be text, a number, true, false, null, or a list of these, and it is an object of 1 key.",
    ),
    (
        {"params": {"a": [[1]]}},
        "params.a[0]",
        "params.a[0] must be text, a number, true or false, and it is a list of 1 item.",
    ),
    ({"params": {"a": float("nan")}}, "params.a", "params.a must be a number that is finite, and it is nan."),
    (
        {"params": {"a": 2**63}},
        "params.a",
        "params.a must be a whole number of at most 64 bits, and it is 9223372036854775808.",
    ),
    ({"env": ["A=1"]}, "env", "env must be an object of names and values, and it is a list of 1 item."),
    ({"env": {"A": None}}, "env.A", "env.A must be text, and it is null."),
    ({"env": {"A": {}}}, "env.A", "env.A must be text, and it is an object of 0 keys."),
    ({"mounts": {}}, "mounts", "mounts must be a list, and it is an object of 0 keys."),
    ({"mounts": ["/a:/b"]}, "mounts[0]", 'mounts[0] must be an object, and it is "/a:/b".'),
    ({"mounts": [{"source": "/a"}]}, "mounts[0].target", "mounts[0].target is missing."),
    (
        {"mounts": [{"source": "/a", "target": "b"}]},
        "mounts[0].target",
        'mounts[0].target must be an absolute path below / without “..”, and it is "b".',
    ),
    (
        {"mounts": [{"source": "/a", "target": "/"}]},
        "mounts[0].target",
        'mounts[0].target must be an absolute path below / without “..”, and it is "/".',
    ),
    (
        {"mounts": [{"source": "/a", "target": "/b/../c"}]},
        "mounts[0].target",
        'mounts[0].target must be an absolute path below / without “..”, and it is "/b/../c".',
    ),
    (
        {"mounts": [{"source": "/a/../b", "target": "/b"}]},
        "mounts[0].source",
        'mounts[0].source must be a path or volume without “..”, and it is "/a/../b".',
    ),
    (
        {"mounts": [{"source": "..", "target": "/b"}]},
        "mounts[0].source",
        'mounts[0].source must be a path or volume without “..”, and it is "..".',
    ),
    (
        {"mounts": [{"source": "/a", "target": "/b", "ro": True}]},
        "mounts[0].ro",
        "mounts[0] has no key ro; it has source, target, read_only.",
    ),
    (
        {"mounts": [{"source": "/a", "target": "/b"}, {"source": "/c", "target": "/b/"}]},
        "mounts[1].target",
        'mounts[0] and mounts[1] have the same target, "/b/".',
    ),
    (
        {"cluster": "k", "mounts": [{"source": "My Claim", "target": "/b"}]},
        "mounts[0].source",
        "mounts[0].source must be a volume claim, an NFS export (server:/export) or a whole path, "
        'and it is "My Claim".',
    ),
    (
        {"cluster": "../etc"},
        "cluster",
        "cluster must be letters, digits, dots, dashes and underscores, starting with a letter or digit, "
        'and it is "../etc".',
    ),
    (
        {"device": "gpu card"},
        "device",
        "device must be letters, digits, dots, dashes and underscores, starting with a letter or digit, "
        'and it is "gpu card".',
    ),
    (
        {"cluster": "k", "queue": "Team A"},
        "queue",
        'queue must be the name of a queue or namespace (small letters, digits, dashes), and it is "Team A".',
    ),
    ({"queue": "a\tb"}, "queue", 'queue must not hold control characters, and it is "a\\tb".'),
    ({"name": ""}, "name", "name is empty; leave the key out, or give it a value."),
    ({"name": "  "}, "name", "name holds only spaces. Give the job a name, or leave the key out."),
    ({"name": "x" * 64}, "name", "name may have at most 63 characters, and it has 64."),
    (
        {"name": "a\nb"},
        "name",
        'name must not hold control characters or line breaks, and it is "a\\nb".',
    ),
    (
        {"name": "a\u202eb"},
        "name",
        'name must not hold control characters or line breaks, and it is "a\\u202eb".',
    ),
    ({"name": 7}, "name", "name must be text, and it is 7."),
    (
        {"template": "../x"},
        "template",
        'template must be 1 to 63 letters, digits, dots, dashes and underscores, no leading dot, and it is "../x".',
    ),
    (
        {"submission_id": "x" * 129},
        "submission_id",
        "submission_id may have at most 128 characters, and it has 129.",
    ),
    (
        {"submission_id": "a\x07"},
        "submission_id",
        'submission_id must not hold control characters, and it is "a\\u0007".',
    ),
    (
        {"image_pull_secret": "Not A Name"},
        "image_pull_secret",
        "image_pull_secret must be the name of a Kubernetes secret: small letters, digits, dashes and dots, "
        'and it is "Not A Name".',
    ),
    (
        {"endpoints": ["ssh"]},
        "endpoints",
        "endpoints (Jupyter, SSH, TensorBoard) cannot be opened in a job yet. Remove the key; "
        "logs and usage are shown without it.",
    ),
]


@pytest.mark.parametrize(("given", "key", "message"), BAD_VALUES)
def test_a_bad_value_is_refused_with_its_key(given: dict[str, Any], key: str, message: str) -> None:
    assert problems({"script": "train.py", **given}) == {key: message}


@pytest.mark.parametrize(
    ("given", "key", "message"),
    [
        ({}, "script", "There is nothing to run: give script a start file, or command a shell line."),
        (
            {"script": "a", "command": "b"},
            "command",
            "script and command are both given, and a job has one start. Remove one of them.",
        ),
        (
            {"command": "b", "args": ["x"]},
            "args",
            "args belongs to script and cannot be passed to command. Write it into the command line.",
        ),
        (
            {"command": "b", "params": {"x": 1}},
            "params",
            "params belongs to script and cannot be passed to command. Write it into the command line.",
        ),
        (
            {"script": "a", "kind": "distributed"},
            "nodes",
            "A distributed job runs on two or more nodes. Set nodes to 2 or more, or kind to regular.",
        ),
        (
            {"script": "a", "kind": "regular", "nodes": 2},
            "kind",
            "A regular job has one node, and nodes is 2. Set kind to distributed, or nodes to 1.",
        ),
        (
            {"script": "a", "device": NPU, "devices": 3},
            "devices",
            "A job on huawei_npu_arm64 takes 0, 1, 2, 4 or 8 cards, because a board has two rings of four, "
            "and devices is 3.",
        ),
        (
            {"script": "a", "device": NPU, "devices": 4, "nodes": 2},
            "devices",
            "A distributed job on huawei_npu_arm64 takes 8 cards per node, and devices is 4.",
        ),
    ],
)
def test_keys_must_agree_with_each_other(given: dict[str, Any], key: str, message: str) -> None:
    assert problems(given) == {key: message}


@pytest.mark.parametrize("devices", [0, 1, 2, 4, 8])
def test_ascend_shapes_that_exist_are_accepted(devices: int) -> None:
    assert read(device=NPU, devices=devices).devices == devices


def test_gpus_come_in_any_number() -> None:
    assert read(device=GPU, devices=3, nodes=5).devices == 3


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("scirpt", "script"),
        ("Devices", "devices"),
        ("max-hours", "max_hours"),
        ("memory", "memory_gb"),
        ("gpus", "devices"),
        ("cmd", "command"),
        ("replicas", "nodes"),
        ("workspace-id", "workspace_id"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(key: str, meant: str) -> None:
    assert problems({"script": "a", key: 1}) == {key: f"There is no key {key} in a job spec. Did you mean {meant}?"}


def test_an_unknown_key_far_from_all_is_told_what_there_is() -> None:
    found = problems({"script": "a", "qqqqqqqq": 1})["qqqqqqqq"]
    assert found == f"There is no key qqqqqqqq in a job spec. The keys are {', '.join(JobSpec.__struct_fields__)}."


@pytest.mark.parametrize("key", ["a\x00b", "x" * 10_000, "line\nbreak", 7, None, ("a",)])
def test_a_hostile_key_makes_a_short_printable_problem(key: Any) -> None:
    (named,) = problems({"script": "a", key: 1})
    assert named.isprintable()
    assert len(named) <= 100


def test_all_problems_come_at_once() -> None:
    """One from every stage of the reading: key, type, limit, secret, rule."""
    found = problems(
        {
            "scrip": "a",
            "devices": "x",
            "cpu": -1,
            "env": {"RANK_ID": "1", "1A": "x", "OK": []},
            "secret_env": {"S": None},
            "image_pull_secret": {"registry": "r"},
            "mounts": [{"source": "../a", "target": "b"}, {"target": "/c"}],
            "kind": "distributed",
        }
    )
    assert sorted(found) == [
        "cpu",
        "devices",
        "env.1A",
        "env.OK",
        "env.RANK_ID",
        "image_pull_secret.password",
        "image_pull_secret.username",
        "mounts[0].source",
        "mounts[0].target",
        "mounts[1].source",
        "nodes",
        "scrip",
        "script",
        "secret_env.S",
    ]


def test_a_flood_of_problems_is_cut_and_counted() -> None:
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", "args": [None] * 5_000})
    assert len(caught.value.problems) == MAX_PROBLEMS + 1
    assert caught.value.problems[-1] == {"key": "", "message": "There are 4900 more problems like these."}


@pytest.mark.parametrize("raw", [[], "text", 5, None, True])
def test_what_is_no_object_is_no_spec(raw: Any) -> None:
    assert list(problems(raw)) == [""]


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"script": "a\0b"}, "script"),
        ({"args": ["ok", "a\0b"]}, "args[1]"),
        ({"params": {"a": "\0"}}, "params.a"),
        ({"params": {"a\0": "x"}}, 'params."a\\u0000"'),
        ({"env": {"A": "\0"}}, "env.A"),
        ({"workdir": "/\0"}, "workdir"),
    ],
)
def test_nul_is_refused_everywhere(given: dict[str, Any], key: str) -> None:
    found = problems({"script": "t.py", **given})
    assert list(found) == [key]
    assert "holds a NUL character" in found[key]


def test_half_a_character_is_refused() -> None:
    """It could not even be written into the answer."""
    found = problems({"script": "a", "args": ["\ud800"]})
    assert found == {"args[0]": "args[0] holds half a character (a lone surrogate), which cannot be written as UTF-8."}


def test_linux_limits_are_said_before_anything_starts() -> None:
    longest = "x" * (MAX_STRING - len("A="))
    assert read(env={"A": longest}).env == {"A": longest}
    told = (
        "bytes long, and Linux starts no process with an argument or a variable of more than 131,071 bytes, "
        "a variable's name included; put it into a file and pass the file's path."
    )
    assert problems({"script": "a", "env": {"A": longest + "x"}}) == {"env.A": f"env.A is 131,072 {told}"}
    assert problems({"script": "a", "env": {"A": "x" * 5_000_000}}) == {"env.A": f"env.A is 5,000,000 {told}"}
    assert problems({"script": "a", "args": ["", "é" * 70_000]}) == {"args[1]": f"args[1] is 140,000 {told}"}
    assert problems({"script": "a", "params": {"p": ["x", "y" * 131_072]}}) == {
        "params.p[1]": f"params.p[1] is 131,072 {told}"
    }
    assert problems({"command": "x" * 131_072}) == {"command": f"command is 131,072 {told}"}
    assert problems({"script": "a", "secret_env": {"S": "x" * 131_072}}) == {
        "secret_env.S": f"secret_env.S is 131,072 {told}"
    }


def test_the_sum_of_all_strings_is_limited_too() -> None:
    assert len(read(args=["x" * 1000] * 1500).args) == 1500
    found = problems({"script": "a", "args": ["x" * 1000] * 1600})
    assert found == {
        "args": "Arguments and variables are 1,614,409 bytes together, and at most 1,572,864 are allowed: "
        "Linux starts no process with many more. Put them into a file and pass the file's path."
    }


def test_twenty_thousand_arguments_are_fine() -> None:
    assert len(read(args=["-v"] * 20_000).args) == 20_000


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
