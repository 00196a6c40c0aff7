"""Jobs of other platforms: what is mapped, what is said, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.foreign import Mapped, from_dlc, from_postjob, recognise
from jupyter_aiarts.model.reading import read_spec

DOCUMENTED_DLC = """name=yourtaskname
kind=PyTorchJob
worker_count=1
worker_cpu=4
worker_gpu=0
worker_memory=4
worker_shared_memory=4
worker_image=master0:5000/eflops/pytorch:v1
command=echo "hello world"
priority=1
workspace_id=id
interactive=false
"""

DOCUMENTED_POSTJOB: dict[str, Any] = {
    "userName": "alice",
    "jobName": "resnet-2p",
    "vcName": "platform",
    "jobType": "artsTraining",
    "jobtrainingtype": "RegularJob",
    "gpuType": "huawei_npu_arm64",
    "resourcegpu": 2,
    "image": "harbor/ms:1.0",
    "cmd": "bash -lc 'source /pod.env && python train.py'",
    "workPath": "./",
    "dataPath": "./",
    "jobPath": "./",
    "frameworkType": "mindspore",
    "preemptionAllowed": False,
    "hostNetwork": False,
    "isPrivileged": False,
    "containerUserId": 0,
    "env": [],
}


def refusals(act: Any, given: Any) -> dict[str, str]:
    with pytest.raises(InvalidSpec) as caught:
        act(given)
    return {problem["key"]: problem["message"] for problem in caught.value.problems}


def test_the_documented_params_file() -> None:
    assert from_dlc(DOCUMENTED_DLC) == Mapped(
        spec={
            "name": "yourtaskname",
            "command": 'echo "hello world"',
            "image": "master0:5000/eflops/pytorch:v1",
            "queue": "id",
            "memory_gb": 4.0,
            "shm_gb": 4.0,
            "framework": "pytorch",
            "kind": "regular",
            "nodes": 1,
            "device": "cpu",
            "cpu": 4,
            "priority": 1,
        }
    )
    assert read_spec(from_dlc(DOCUMENTED_DLC).spec).spec.command == 'echo "hello world"'


def test_a_distributed_gpu_job_of_the_public_client() -> None:
    mapped = from_dlc(
        "\ufeff# a comment\r\nname=实验\r\ncommand=python a.py --x=1 # no comment\r\n\r\nworkers = 2\r\n"
        "worker_gpu=4\r\nworker_memory=64GB\r\n"
        "envs=A=1,B=x=y, HF_TOKEN=s\r\njob_max_running_time_minutes=90\r\n"
        "success_policy=AllWorkers\r\ntags=a=b\r\ncode_source=c-1\r\n"
    )
    assert mapped.spec == {
        "name": "实验",
        "command": "python a.py --x=1 # no comment",
        "memory_gb": 64.0,
        "kind": "distributed",
        "nodes": 2,
        "device": "nvidia_gpu_amd64",
        "devices": 4,
        "max_hours": 1.5,
        "env": {"A": "1", "B": "x=y", "HF_TOKEN": "s"},
    }
    assert mapped.notes == [
        "code_source was left out: code comes from a mount, or from the folder of the start file.",
        "tags was left out: jobs have no tags here.",
    ]
    spec = read_spec({**mapped.spec, "cluster": "k"}).spec
    assert (spec.kind, spec.nodes, spec.devices, spec.secret_env) == ("distributed", 2, 4, {"HF_TOKEN": None})


def test_no_time_limit_is_no_limit() -> None:
    assert "max_hours" not in from_dlc("command=a\njob_max_running_time_minutes=0").spec


def test_every_bad_line_of_a_params_file_is_reported() -> None:
    found = refusals(
        from_dlc,
        "nmae=x\nname=a\nname=b\njust text\n=5\nworker_cpu=many\nworker_gpu=-1\nworker_memory=lots\n"
        "kind=MPIJob\nworker_count=0\nenvs=A=1,hunter2\n",
    )
    assert found == {
        "nmae": "There is no key nmae in a DLC params file. Did you mean name?",
        "name": "name stands twice in the params file, again in line 3.",
        "just text": 'Line 4 of the params file is not key=value: "just text".',
        "": 'Line 5 of the params file is not key=value: "=5".',
        "worker_cpu": 'worker_cpu must be a number of 0 or more, and it is "many".',
        "worker_gpu": 'worker_gpu must be a number of 0 or more, and it is "-1".',
        "worker_memory": 'worker_memory must be a size in GB, and it is "lots".',
        "kind": 'kind must be PyTorchJob, TFJob or XGBoostJob, and it is "MPIJob".',
        "worker_count": "worker_count must be 1 or more: a job without workers runs nothing.",
        "envs": "envs must be name=value pairs with commas between them; a value holds no comma.",
    }


@pytest.mark.parametrize("number", ["nan", "inf", "1e400", "9" * 30])
def test_numbers_that_are_none_are_refused(number: str) -> None:
    assert list(refusals(from_dlc, f"command=a\nworker_cpu={number}")) == ["worker_cpu"]


def test_the_documented_postjob_body() -> None:
    mapped = from_postjob(DOCUMENTED_POSTJOB)
    assert mapped == Mapped(
        spec={
            "name": "resnet-2p",
            "queue": "platform",
            "image": "harbor/ms:1.0",
            "kind": "regular",
            "nodes": 1,
            "device": "huawei_npu_arm64",
            "devices": 2,
            "command": "bash -lc 'source /pod.env && python train.py'",
            "framework": "mindspore",
            "preemptible": False,
        },
        notes=["userName was left out: a job belongs to the user who is logged in."],
    )
    assert read_spec(mapped.spec).spec.devices == 2


def test_a_training_with_start_file_mounts_and_login() -> None:
    mapped = from_postjob(
        {
            "jobName": "t",
            "vcName": "platform",
            "jobtrainingtype": "PSDistJob",
            "numps": 1,
            "numpsworker": "2",
            "gpuType": "huawei_npu_arm64",
            "resourcegpu": "8",
            "startupFile": "train.py",
            "codePath": "/home/alice/code",
            "scriptParams": {"lr": 0.1, "sudo": ""},
            "datasetPath": "/data/d",
            "outputPath": "/out",
            "mountpoints": [
                {
                    "name": "a",
                    "containerPath": "/data",
                    "pvcName": "claim",
                    "subPath": "/sub",
                    "enabled": True,
                },
                {"name": "b", "containerPath": "/host", "hostPath": "/mnt/x", "readOnly": True},
                {"name": "c", "containerPath": "/off", "hostPath": "/mnt/y", "enabled": False},
            ],
            "env": [{"name": "A", "value": "1"}, {"name": "B"}],
            "envs": [{"name": "IGNORED", "value": "1"}],
            "plugins": {
                "imagePull": [{"registry": "r", "username": "u", "password": "hush"}],
                "blobfuse": [],
            },
            "jobPriority": 200,
            "preemptionAllowed": "true",
            "nodeSelector": {"a": "b"},
            "desc": "words",
        }
    )
    assert mapped.spec == {
        "name": "t",
        "queue": "platform",
        "output_path": "/out",
        "data_path": "/data/d",
        "kind": "distributed",
        "nodes": 2,
        "device": "huawei_npu_arm64",
        "devices": 8,
        "script": "train.py",
        "params": {"lr": 0.1},
        "pass_paths": True,
        "workdir": "/home/alice/code",
        "preemptible": True,
        "priority": 7,
        "env": {"A": "1", "B": ""},
        "mounts": [
            {"source": "claim/sub", "target": "/data", "read_only": False},
            {"source": "/mnt/x", "target": "/host", "read_only": True},
        ],
        "image_pull_secret": {"registry": "r", "username": "u", "password": "hush"},
    }
    assert mapped.notes == [
        "scriptParams.sudo was left out: a job runs as the user that run_as names.",
        "nodeSelector was left out: the admin's device profile decides about nodes.",
        "desc was left out: jobs have no description here.",
    ]
    reading = read_spec({**mapped.spec, "cluster": "k"})
    assert reading.pull_secret is not None
    assert (reading.spec.kind, reading.spec.nodes, reading.spec.image_pull_secret) == ("distributed", 2, None)


@pytest.mark.parametrize(
    ("numps", "numpsworker", "nodes", "kind"),
    [(1, 4, 4, "distributed"), (4, 1, 4, "distributed"), (4, 0, 4, "distributed"), (1, 1, 1, "regular")],
)
def test_swapped_numbers_of_workers_are_seen_and_said(numps: int, numpsworker: int, nodes: int, kind: str) -> None:
    body = {
        "jobName": "t",
        "jobtrainingtype": "PSDistJob",
        "cmd": "x",
        "numps": numps,
        "numpsworker": numpsworker,
    }
    mapped = from_postjob(body)
    assert (mapped.spec["nodes"], mapped.spec["kind"]) == (nodes, kind)
    swapped = "numps and numpsworker came swapped, as AIArts sends them: the job has 4 nodes."
    assert (swapped in mapped.notes) == (numps > numpsworker)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, 1),
        (24, 1),
        (25, 2),
        (50, 3),
        (99, 4),
        (100, 5),
        (101, 6),
        (150, 6),
        (200, 7),
        (201, 8),
        (1000, 9),
        (5000, 9),
    ],
)
def test_priorities_keep_their_order(old: int, new: int) -> None:
    assert from_postjob({"jobName": "t", "cmd": "x", "jobPriority": old}).spec["priority"] == new


def test_the_command_wins_over_the_start_file() -> None:
    mapped = from_postjob({"jobName": "t", "cmd": "python a.py", "startupFile": "a.py"})
    assert mapped.spec["command"] == "python a.py"
    assert "script" not in mapped.spec
    assert mapped.notes == ["startupFile was left out: cmd is what the old platform ran, and it is taken as it is."]


def test_equal_commands_of_both_roles_are_one() -> None:
    assert from_postjob({"jobName": "t", "masterCmd": "x", "workerCmd": "x"}).spec["command"] == "x"
    found = refusals(from_postjob, {"jobName": "t", "masterCmd": "x", "workerCmd": "y"})
    assert found == {"masterCmd": "All nodes run one command. Use $DLWS_ROLE_IDX in it to let node 0 do more."}


@pytest.mark.parametrize(
    ("given", "key", "message"),
    [
        (
            {"isPrivileged": True},
            "isPrivileged",
            "Privileged containers are never started: they would own the node. Remove isPrivileged; "
            "what cards and networks need is in the admin's device profile.",
        ),
        ({"isPrivileged": "yes"}, "isPrivileged", ""),
        ({"jobType": "codeEnv"}, "jobType", ""),
        ({"jobType": ["training"]}, "jobType", ""),
        ({"jobtrainingtype": "InferenceJob"}, "jobtrainingtype", ""),
        (
            {"jobtrainingtype": {}, "resourcegpu": "x"},
            "resourcegpu",
            'resourcegpu must be a whole number, and it is "x".',
        ),
        (
            {"resourcegpu": 2},
            "gpuType",
            "resourcegpu asks for 2 cards, and gpuType does not say of which kind.",
        ),
        ({"resourcegpu": True}, "resourcegpu", "resourcegpu must be a whole number, and it is true."),
        ({"jobPriority": "high"}, "jobPriority", 'jobPriority must be a whole number, and it is "high".'),
        ({"preemptionAllowed": "maybe"}, "preemptionAllowed", ""),
        ({"env": {"A": 1}}, "env", "env must be a list of objects."),
        ({"mountpoints": ["x"]}, "mountpoints", "mountpoints must be a list of objects."),
        ({"plugins": {"blobfuse": [{}]}}, "plugins.blobfuse", ""),
        ({"plugins": {"imagePull": [{"a": 1}, {"a": 2}]}}, "plugins.imagePull", ""),
        ({"plugins": [1]}, "plugins", "plugins must be an object."),
        ({"hyperparametername": "lr"}, "hyperparametername", ""),
        (
            {"interactivePorts": "40000"},
            "interactivePorts",
            "Ports cannot be opened in a job yet. Remove interactivePorts.",
        ),
        ({"jobtrainingtype": "PSDistJob", "numps": 2, "numpsworker": 2}, "numps", ""),
        ({"jobNme": "x"}, "jobNme", "There is no key jobNme in a PostJob body. Did you mean jobName?"),
        ({"startupFile": "a.py", "cmd": "", "scriptParams": "x"}, "scriptParams", ""),
    ],
)
def test_what_a_postjob_body_may_not_ask(given: dict[str, Any], key: str, message: str) -> None:
    found = refusals(from_postjob, {"jobName": "t", "cmd": "x", **given})
    assert key in found
    assert found[key] == (message or found[key])
    assert found[key].endswith((".", "?"))


def test_a_password_is_never_in_a_refusal() -> None:
    logins = [{"registry": "r", "username": "u", "password": "hunter2"}] * 2
    found = refusals(from_postjob, {"jobName": "t", "cmd": "x", "plugins": {"imagePull": logins}})
    assert "hunter2" not in str(found)


@pytest.mark.parametrize("raw", [{"jobName": "t", "cmd": "x"}, {"vcName": "v", "jobType": "training", "cmd": "x"}])
def test_a_postjob_body_is_recognised(raw: dict[str, Any]) -> None:
    assert recognise(raw) == from_postjob(raw)


@pytest.mark.parametrize("raw", [{}, {"script": "a", "name": "b"}, {"gpuType": "x"}, {"anything": 1}])
def test_everything_else_stays_a_spec(raw: dict[str, Any]) -> None:
    assert recognise(raw) == Mapped(spec=raw)


def test_text_is_a_params_file() -> None:
    assert recognise("name=x\ncommand=true\n") == from_dlc("name=x\ncommand=true\n")


@pytest.mark.parametrize("raw", [[], None, 3])
def test_what_is_no_object_is_refused(raw: Any) -> None:
    assert list(refusals(recognise, raw)) == [""]
