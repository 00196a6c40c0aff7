"""For which processor a program or library is made: read from its first bytes, nothing is run."""

from __future__ import annotations

HEAD = 20
"""Bytes of a file that tell."""
MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 21: "ppc64le", 243: "riscv64", 258: "loongarch64"}
OF_DEVICE = {"amd64": "x86_64", "arm64": "aarch64"}
"""How devices name the processors of their nodes, and how the system does."""


def machine_of(head: bytes) -> str | None:
    """As `uname -m` says it; None for what is no ELF file, as a script is none."""
    if len(head) < HEAD or head[:4] != b"\x7fELF":
        return None
    number = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
    return MACHINES.get(number, f"machine {number}")


def node_machine(device: str) -> str | None:
    """The processor of the nodes that have a device, where its name says so."""
    return OF_DEVICE.get(device.rpartition("_")[2])
