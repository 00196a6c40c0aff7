"""Orders of every kind that the objects of a run come in.

Whole dicts of some are kept in `golden/`; `python -m tests.engines.kubernetes.variants` writes them anew, and the
difference is for a person to read. All of them are tried on a real API server.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupyter_aiarts.engines.kubernetes import manifest
from jupyter_aiarts.engines.kubernetes.order import Order
from tests.engines.kubernetes.making import NPU, make_order

GOLDEN = Path(__file__).parent / "golden"

BOARD: dict[str, Any] = {
    "node_selector": {"accelerator": "huawei-Ascend910"},
    "tolerations": [
        {"key": "npu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    ],
    "runtime_class": "ascend",
    "scheduler_name": "volcano",
    "supplemental_groups": [1001],
    "volumes": ["/usr/local/Ascend/driver", {"source": "/var/log/npu", "target": "/var/log/npu", "read_only": False}],
    "capabilities": ["IPC_LOCK"],
    "extra_resources": {"rdma/hca": 1},
    "ring_controller": "ascend-910",
    "node": {"cards": 8, "cpu": 192, "memory_gb": 768},
}
LOGIN = {"registry": "registry.example.org", "username": "robot", "password": "pull-password"}

EVERYTHING: tuple[dict[str, Any], dict[str, Any]] = (
    {
        "devices": {NPU: BOARD},
        "log_mount": "logs/aiarts",
        "default_mounts": [
            {"source": "nas.example.org:/home/{user}/work", "target": "/home/{user}"},
            {"source": "/mnt/share/{group}", "target": "/share", "read_only": True},
        ],
        "allow_host_paths": ["/data"],
        "priorities": {"1": "low", "7": "high"},
        "gang_timeout": 120,
    },
    {
        "name": "两节点 训练 🚀",
        "device": NPU,
        "nodes": 2,
        "image_pull_secret": LOGIN,
        "args": ["--lr", "${LR}", "$(whoami)", "a\nb"],
        "params": {"epochs": 3, "fast": None},
        "env": {"LR": "0.1"},
        "secret_env": {"HF_TOKEN": "hub-token"},
        "mounts": [
            {"source": "datasets/imagenet", "target": "/data/imagenet", "read_only": True},
            {"source": "datasets", "target": "/datasets", "read_only": True},
            {"source": "/data//./sets", "target": "/data/host/", "read_only": True},
        ],
        "output_path": "/home/alice/out",
        "pass_paths": True,
        "framework": "tensorflow",
        "processes": "card",
        "queue": "vision",
        "priority": 8,
        "max_restarts": 2,
        "max_hours": 1.5,
        "grace_seconds": 60,
        "submission_id": "Exp. #7",
    },
)


def variants(namespace: str = "team-a") -> dict[str, Order]:
    """An order of each kind, by what is special about it."""
    settings, raw = EVERYTHING
    gpu = {"nvidia_gpu_amd64": {"host_network": True, "node_selector": {}}}
    here: dict[str, Any] = {"namespace": namespace}
    return {
        "plain": make_order(**here),
        "everything": make_order(settings, raw, **here),
        "queued": make_order(
            {"priorities": {5: "normal"}}, {"device": NPU, "preemptible": True}, queue="cards", **here
        ),
        "as-user": make_order({}, {"run_as": "user"}, **here),
        "restricted": make_order({}, {"command": "echo $HOSTNAME"}, pod_security="restricted", **here),
        "host-network": make_order(
            {"devices": gpu}, {"device": "nvidia_gpu_amd64", "devices": 5, "nodes": 3, "cpu": 0.25, "shm_gb": 0}, **here
        ),
        "root-by-name": make_order({"allow_run_as": ["0:0"]}, {"run_as": "0:0", "priority": 1}, **here),
        "nfs": make_order(
            {}, {"run_as": "user", "mounts": [{"source": "nfs://nas.example.org/x y/é", "target": "/nfs"}]}, **here
        ),
        "host-path": make_order(
            {"allow_host_paths": ["/data/{user}"], "log_mount": "/var/log/aiarts/{user}/jobs"},
            {"mounts": [{"source": "/data/alice/sets", "target": "/sets"}, {"source": "claim", "target": "/claim"}]},
            **here,
        ),
        "long-name": make_order({}, {"name": "训" * 63, "submission_id": "9" * 128}, run=123_456, **here),
        "many-nodes": make_order({}, {"nodes": 10_000, "framework": "none"}, **here),
    }


KEPT = ("plain", "everything", "queued", "as-user", "restricted", "host-network")


def readable(order: Order) -> dict[str, Any]:
    """A run's objects as golden files hold them: what is JSON or a zip inside is told as such."""
    made = manifest.objects(order)
    config = {**made.config, "data": {name: json.loads(text) for name, text in made.config["data"].items()}}
    config["binaryData"] = dict.fromkeys(made.config["binaryData"], "(bytes)")
    job = json.loads(json.dumps(made.job))
    notes = job["metadata"]["annotations"]
    for name in ("jupyter-aiarts/spec", "jupyter-aiarts/notes"):
        notes[name] = json.loads(notes[name])
    return {
        "job": job,
        "service": made.service,
        "config": config,
        "secret": made.secret,
        "pull_secret": made.pull_secret,
        "ring": made.ring,
        "release": manifest.release(order),
    }


def write() -> None:
    """All golden files, as they are now."""
    GOLDEN.mkdir(exist_ok=True)
    for name in KEPT:
        text = json.dumps(readable(variants()[name]), indent=1, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
