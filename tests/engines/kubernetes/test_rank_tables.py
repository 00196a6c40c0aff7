"""Rank tables in a cluster: the same on every node before its first rank, by the launchers or by a controller."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.kubernetes import manifest
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.engines.kubernetes.settings import InvalidSettings
from jupyter_aiarts.engines.kubernetes.variables import rank_environment
from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import Lab, laboratory
from tests.engines.kubernetes.making import NPU, make_order, make_settings

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

RINGED = {"devices": {NPU: {"ring_controller": "ascend-910"}}}
LABEL = "ring-controller.atlas"
NAMES = ("RANK_ID", "RANK_SIZE", "RANK", "WORLD_SIZE", "DEVICE_NUM", "NODE_RANK", "RANK_TABLE_FILE", "DLWS_GPU_TYPE")
SHOW = f"""
import json, os
folder = os.path.dirname(os.environ["RANK_TABLE_FILE"])
files = {{name: open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder))}}
told = {{name: os.environ.get(name) for name in {NAMES!r}}}
print(json.dumps([told, os.environ["POD_IP"], os.environ["POD_NAME"], files]))
"""
TOOL = """#!/bin/sh
case "$HOST_NAME" in node-a) host=11;; *) host=13;; esac
echo "ipaddr:192.168.$(( ($2 % 4 + 1) * 10 )).$(( host + $2 / 4 ))"
"""


# -- what is asked of the cluster ------------------------------------------------------------------------------------


def test_the_controllers_label_is_on_the_job_its_pods_and_the_table_it_is_to_fill() -> None:
    made = manifest.objects(make_order(RINGED, {"device": NPU, "nodes": 2}))
    assert made.ring is not None and made.ring in made.dependents
    labelled = [made.job["metadata"], made.job["spec"]["template"]["metadata"], made.ring["metadata"]]
    assert [one["labels"][LABEL] for one in labelled] == ["ascend-910"] * 3
    assert made.ring["metadata"]["name"] == f"rings-config-{made.job['metadata']['name']}"
    assert json.loads(made.ring["data"]["hccl.json"]) == {"status": "initializing"}


def test_a_controller_that_is_no_labels_value_is_refused_in_the_settings() -> None:
    with pytest.raises(InvalidSettings, match="ring_controller must be a label's value"):
        make_settings(devices={NPU: {"ring_controller": "ascend 910!"}})


def test_the_whole_folder_of_the_table_is_mounted_where_start_scripts_look() -> None:
    """A single file would never change in a pod that has it."""
    order = make_order(RINGED, {"device": NPU})
    pod = manifest.pod(order)["spec"]
    (volume,) = [one for one in pod["volumes"] if one["name"] == "aiarts-ring"]
    (mount,) = [one for one in pod["containers"][0]["volumeMounts"] if one["name"] == "aiarts-ring"]
    assert volume["configMap"]["optional"] and "subPath" not in mount
    assert plan_of(order)["ring"]["file"] == f"{mount['mountPath']}/hccl.json"
    assert plan_of(order)["ring"]["name"] == volume["configMap"]["name"]


def test_a_job_of_one_node_says_that_it_is_the_first() -> None:
    index = "hccl/rankIndex"
    assert manifest.pod(make_order(RINGED, {"device": NPU}))["metadata"]["annotations"][index] == "0"
    assert index not in manifest.pod(make_order(RINGED, {"device": NPU, "nodes": 2}))["metadata"]["annotations"]


@pytest.mark.parametrize("raw", [{}, {"device": "nvidia_gpu_amd64"}, {"device": NPU, "devices": 0}])
def test_other_jobs_are_made_as_if_there_were_no_cards_and_no_controller(raw: dict[str, Any]) -> None:
    order, plain = make_order(RINGED, raw), make_order({}, raw)
    assert manifest.objects(order) == manifest.objects(plain)
    assert not {"rank_table", "ring"} & set(plan_of(order)) and "RANK_TABLE_FILE" not in rank_environment(order)


def test_an_argument_may_name_the_table_and_the_plan_which_form() -> None:
    order = make_order({}, {"device": NPU, "rank_table": "lab", "args": ["${RANK_TABLE_FILE}"]})
    assert plan_of(order)["rank_table"] == "lab"
    assert rank_environment(order)["RANK_TABLE_FILE"].endswith("/hccl_ms.json")


# -- on a real one ---------------------------------------------------------------------------------------------------


@pytest.fixture
def tools(tmp_path: Path) -> str:
    """A folder of the nodes with a driver's tool that knows the addresses of their cards."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "hccn_tool").write_text(TOOL)
    (folder / "hccn_tool").chmod(0o755)
    return str(folder)


def profile(**more: Any) -> dict[str, Any]:
    return {NPU: {"resource": "huawei.com/Ascend910", "node_selector": {}, **more}}


async def said(lab: Lab, job_id: str) -> list[list[Any]]:
    """What the nodes printed, node 0 first."""
    texts = await lab.texts(job_id)
    return sorted((json.loads(text) for text in texts if text.startswith("[{")), key=lambda one: one[0]["NODE_RANK"])


@pytest.mark.cluster
async def test_two_boards_agree_on_one_table(cluster: Cluster, tmp_path: Path, tools: str) -> None:
    driver = {"source": tools, "target": "/usr/local/Ascend/driver/tools"}
    async with laboratory(cluster, tmp_path, devices=profile(volumes=[driver])) as lab:
        job = await lab.submit(SHOW, device=NPU, nodes=2)
        assert (await lab.until(job.id)).phase is Phase.SUCCEEDED, await lab.texts(job.id)
        nodes = await said(lab, job.id)
    folder = f"/home/alice/.npu/{job.id}"
    common = {"RANK_SIZE": "16", "WORLD_SIZE": "2", "DEVICE_NUM": "8", "RANK_TABLE_FILE": f"{folder}/hccl.json",
              "DLWS_GPU_TYPE": NPU}  # fmt: skip
    assert [one[0] for one in nodes] == [
        {**common, "RANK_ID": str(8 * node), "RANK": str(node), "NODE_RANK": str(node)} for node in range(2)
    ]
    assert nodes[0][3] == nodes[1][3] and list(nodes[0][3]) == ["hccl.json", "hccl_ms.json", "hccl_tf.json"]
    table = json.loads(nodes[0][3]["hccl.json"])
    assert (table["status"], table["server_count"]) == ("completed", "2")
    assert [one["server_id"] for one in table["server_list"]] == [one[1] for one in nodes]
    cards = [card for one in table["server_list"] for card in one["device"]]
    assert [card["rank_id"] for card in cards] == [str(rank) for rank in range(16)]
    assert len({card["device_ip"] for card in cards}) == 16
    pods = json.loads(nodes[0][3]["hccl_tf.json"])["group_list"][0]["instance_list"]
    assert [pod["pod_name"] for pod in pods] == [one[2] for one in nodes]


@pytest.mark.cluster
async def test_cards_without_addresses_are_a_cause_with_the_lines_to_run(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path, devices=profile()) as lab:
        job = await lab.submit(SHOW, device=NPU, nodes=2)
        done = await lab.until(job.id)
        assert (done.phase, done.cause.code) == (Phase.FAILED, "npu-ip-missing")
        assert await lab.texts(job.id) == []
    assert {"node-a", "node-b"} <= set(done.cause.values["message"].replace("(", " ").replace(")", " ").split())
    assert "hccn_tool -i 7 -ip -s address 192.168.40.14 netmask 255.255.255.0" in done.cause.values["hint"]


def filled(servers: list[str], status: str) -> str:
    """The table as hccl-controller writes it, in the order in which the device plugin reported the pods."""
    listed = [
        {"server_id": server, "device": [
            {"device_id": str(card), "device_ip": f"192.168.{card}.{place}", "rank_id": str(8 * place + card)}
            for card in range(8)
        ]}
        for place, server in enumerate(servers, 0)
    ]  # fmt: skip
    return json.dumps({"status": status, "version": "1.0", "server_count": str(len(listed)), "server_list": listed})


def fill(lab: Lab, name: str, content: str) -> None:
    patch = json.dumps({"data": {"hccl.json": content}})
    lab.cluster.kubectl("-n", lab.namespace, "patch", "configmap", name, "--type=merge", "-p", patch)


@pytest.mark.cluster
async def test_a_controllers_table_is_waited_for_and_followed(cluster: Cluster, tmp_path: Path) -> None:
    """The test is the controller: it sees the pods, fills the table in two steps, and numbers the pods."""
    async with laboratory(cluster, tmp_path, devices=profile(ring_controller="ascend-910")) as lab:
        job = await lab.submit(SHOW, device=NPU, nodes=2)
        await lab.when(job.id, lambda _: both_up(lab))
        (name,) = cluster.kubectl(
            "-n", lab.namespace, "get", "configmap", "-l", f"{LABEL}=ascend-910", "-o", "name"
        ).split()
        pods = sorted(lab.pods("-l", f"{LABEL}=ascend-910"), key=lambda pod: str(pod["metadata"]["name"]))
        servers = [str(pod["status"]["podIP"]) for pod in reversed(pods)]  # node 1 was quicker
        name = name.partition("/")[2]
        fill(lab, name, filled(servers[:1], "initializing"))
        waiting = await lab.until(job.id, code="ring-controller-wait")
        assert waiting.phase is Phase.STARTING and waiting.cause.values == {"table": name}
        assert waiting.cause.evidence == (f"waiting for the ring controller to complete {name}, which is initializing",)
        events = await lab.engine.events(job.id, None)
        assert [one.message for one in events if one.reason == "Waiting"] == [f"Node 0: {waiting.cause.evidence[0]}"]
        assert await lab.texts(job.id) == []
        fill(lab, name, filled(servers, "completed"))
        for place, pod in enumerate(reversed(pods)):
            # A change of the pod makes its kubelet look at once; else it takes up to a minute and a half.
            cluster.kubectl("-n", lab.namespace, "annotate", "pod", pod["metadata"]["name"], f"hccl/rankIndex={place}")
        done = await lab.until(job.id, seconds=120)
        assert done.phase is Phase.SUCCEEDED, await lab.texts(job.id)
        nodes = await said(lab, job.id)
        notes = [note for note in done.notes if note.startswith("Node 0: the ranks waited ")]
        assert len(notes) == 1 and notes[0].endswith(f" s for the ring controller to complete {name}")
        assert notes[0] in [one.message for one in await lab.engine.events(job.id, None)]
    assert [one[0]["RANK_ID"] for one in nodes] == ["8", "0"]
    assert [one[3] for one in nodes] == [{"hccl.json": filled(servers, "completed")}] * 2


def both_up(lab: Lab) -> bool:
    pods = lab.pods("-l", f"{LABEL}=ascend-910")
    return len(pods) == 2 and all(pod["status"].get("phase") == "Running" for pod in pods)
