"""A value that a key cannot have is refused with a sentence that names the key and prints the value."""

from __future__ import annotations

from typing import Any

import pytest

from .told import problems

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
