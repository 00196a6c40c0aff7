"""One link from the machine into the control plane's cell, and a switch there that the nodes hang on.

The machine's own routing and firewall are not touched: only the link `aiarts<n>` is on it, and it goes with the cell.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping

from tests.cluster.cells import Cell
from tests.cluster.paths import NODES, Instance, Unavailable


def connect(instance: Instance, control: Cell, nodes: Mapping[str, Cell]) -> None:
    """Lay the cables and the routes."""
    machine = [
        f"link add {instance.name} type veth peer name machine netns {control.pid()}",
        f"address add {instance.address(254)}/24 dev {instance.name}",
        f"link set {instance.name} up",
    ]
    _batch(machine)
    control.run("ip", "-batch", "-", text="\n".join(_switch(instance, nodes)))
    for name, cell in nodes.items():
        cell.run("ip", "-batch", "-", text="\n".join(_node(instance, name)))


def disconnect(instance: Instance) -> None:
    """Remove the link, should it have outlived its cell."""
    subprocess.run(["ip", "link", "delete", instance.name], capture_output=True)


def _switch(instance: Instance, nodes: Mapping[str, Cell]) -> list[str]:
    lines = [
        "link add nodes type bridge",
        f"address add {instance.address(1)}/24 dev nodes",
        f"address add {instance.service_address}/32 dev lo",  # pods reach the API server as `kubernetes.default`
        "link set nodes up",
        "link set machine master nodes up",
    ]
    for name, cell in nodes.items():
        lines += [
            f"link add {name} type veth peer name eth0 netns {cell.pid()}",
            f"link set {name} master nodes up",
            f"route add {instance.pods(name)} via {instance.node_address(name)}",
        ]
    return lines


def _node(instance: Instance, name: str) -> list[str]:
    others = [other for other in NODES if other != name]
    return [
        f"address add {instance.node_address(name)}/24 dev eth0",
        "link set eth0 up",
        f"route add default via {instance.address(1)}",
        *(f"route add {instance.pods(other)} via {instance.node_address(other)}" for other in others),
    ]


def _batch(lines: list[str]) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"the network link of the cluster: {done.stderr.strip()}")
