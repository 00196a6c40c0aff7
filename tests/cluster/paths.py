"""Where the cluster keeps things: what can be used again in the cache, what runs in one folder of its own."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NODES = ("node-a", "node-b")


class Unavailable(RuntimeError):
    """This machine cannot run the cluster, or the cluster did not come up; the message says why."""


def cache_dir() -> Path:
    """What costs minutes to make again: programs, images."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "jupyter-aiarts" / "cluster"


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """One at a time, also among processes; the lock goes with its holder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class Instance:
    """One cluster among several on a machine: nothing that has this number is shared with another."""

    index: int
    folder: Path

    @classmethod
    def current(cls) -> Instance:
        """As the environment says: AIARTS_CLUSTER_INSTANCE (0 to 9), AIARTS_CLUSTER_DIR."""
        index = int(os.environ.get("AIARTS_CLUSTER_INSTANCE", "0"))
        # On disk, not in /run: containers and images would fill the memory there.
        base = os.environ.get("AIARTS_CLUSTER_DIR", "/var/lib/jupyter-aiarts-cluster")
        return cls(index, Path(base + (f"-{index}" if index else "")))

    @property
    def name(self) -> str:
        """Of the one network link on the machine and of the cgroup above the nodes'."""
        return f"aiarts{self.index}"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def ready(self) -> Path:
        """There when everything was up; holds which code started it."""
        return self.folder / "ready"

    @property
    def lock(self) -> Path:
        return cache_dir() / f"{self.name}.lock"

    def address(self, host: int) -> str:
        """On the link between the machine (254), the control plane (1) and the nodes (11, 12)."""
        return f"10.{244 + self.index}.255.{host}"

    def node_address(self, node: str) -> str:
        return self.address(11 + NODES.index(node))

    def pods(self, node: str) -> str:
        """The addresses of this node's pods."""
        return f"10.{244 + self.index}.{NODES.index(node)}.0/24"

    @property
    def services(self) -> str:
        """The addresses of services; only the first, the API server's own, is answered: there is no kube-proxy."""
        return f"10.{244 + self.index}.254.0/24"

    @property
    def service_address(self) -> str:
        return f"10.{244 + self.index}.254.1"

    @property
    def api_url(self) -> str:
        return f"https://{self.address(1)}"
