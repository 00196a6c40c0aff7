"""Nodes with Ascend cards, without the cards: what each pod is told, and an `hccn_tool` that answers for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.at_once import write_at_once

from .pods import Pods

NPU = "huawei_npu_arm64"
CONFIGURATION = "ascend.kubectl.kubernetes.io/ascend-910-configuration"
TOOL = """#!/bin/sh
# hccn_tool -i <card> -ip -g
[ "$3 $4" = "-ip -g" ] || exit 2
echo "ipaddr:192.168.$(( ($2 % 4 + 1) * 10 )).$(( 11 + 2 * ${HOST_NUMBER:-0} + $2 / 4 ))"
echo "netmask:255.255.255.0"
"""


def address(node: int, card: int) -> str:
    """What the tool says of this card."""
    return f"192.168.{(card % 4 + 1) * 10}.{11 + 2 * node + card // 4}"


def server(node: int) -> str:
    """The address of a pod."""
    return f"10.0.0.{5 + node}"


def add_tool(folder: Path) -> str:
    """A folder for PATH with the tool in it."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "hccn_tool").write_text(TOOL)
    (tools / "hccn_tool").chmod(0o755)
    return str(tools)


def boards(pods: Pods, nodes: int = 2, cards: int = 8, *, tool: bool = True, **changes: Any) -> Pods:
    """Pods of a job on Ascend cards; each has an address, a host and a name of its own, as in a cluster."""
    pods.plan(device=NPU, nodes=nodes, cards=cards, user="alice", **changes)
    for node in range(nodes):
        pods.own[node] = {
            "POD_IP": server(node), "POD_NAME": f"train-{node}-x", "HOST_NAME": f"host-{node}",
            "HOST_NUMBER": str(node), "AIARTS_HOST_IP": f"172.16.0.{node + 1}",
        }  # fmt: skip
    if tool:
        pods.environ["PATH"] = add_tool(pods.folder) + ":" + pods.environ["PATH"]
    return pods


def annotate(root: Path, notes: dict[str, str]) -> None:
    """Write a pod's annotations as Kubernetes mounts them."""
    (root / "aiarts/pod").mkdir(exist_ok=True)
    lines = [f"{name}={json.dumps(value)}\n" for name, value in {"kubernetes.io/x": 'a "b"\n', **notes}.items()]
    write_at_once(root / "aiarts/pod/annotations", "".join(lines))


def tables(root: Path, job: str = "a123456789") -> dict[str, bytes]:
    """The rank tables of a pod by name."""
    folder = root / "home/alice/.npu" / job
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
