"""A cluster for the pages that need one: what they call by a name for readers is called by another one here."""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster.build import program
from tests.cluster.cluster import CommandFailed

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

RBAC = Path(__file__).parent.parent.parent / "docs" / "rbac"
NAMESPACE, IMAGE = "vision", "python:3.12-slim"
SECTION = "On a cluster"


def needs_cluster(page: Path, section: str) -> bool:
    """Whether blocks of this section are run on the test cluster; the others need none."""
    return page.name == "kubernetes.md" or section == SECTION


CONFIG = f'c.AiartsApp.clusters = {{"lab": {{"kubeconfig": "~/.kube/config", "namespaces": ["{NAMESPACE}"]}}}}'
"""For a page that is not about configuring."""


class Names:
    """The page's namespace under a name of this test's own, and an image that the test cluster has."""

    def __init__(self) -> None:
        self.namespace = f"{NAMESPACE}-{uuid.uuid4().hex[:8]}"

    def here(self, text: str) -> str:
        """What the page says, as it is true here."""
        return re.sub(rf"\b{NAMESPACE}\b", self.namespace, text).replace(IMAGE, "registry.local/aiarts-test:1")


@contextmanager
def emptied(cluster: Cluster, name: str) -> Iterator[None]:
    """Everything that a page makes in the cluster is gone after the block; all of it is named after the namespace."""
    try:
        yield
    finally:
        for kind, ends in {
            "namespace": ("", "-big"),
            "clusterrolebinding": ("-viewers",),
            "priorityclass": ("-low", "-high"),
        }.items():
            with suppress(CommandFailed):  # the test's own failure says more
                named = [name + end for end in ends]
                cluster.kubectl("delete", "--ignore-not-found", "--wait=false", kind, *named)


def move_in(cluster: Cluster, home: Path, environ: dict[str, str]) -> None:
    """The server's kubeconfig is alice's, in her home; the shell's kubectl speaks for the cluster's admin."""
    config: dict[str, Any] = json.loads(cluster.kubeconfig("alice").read_text())
    config["contexts"][0]["name"] = config["current-context"] = "lab"
    folder = home / ".kube"
    folder.mkdir(mode=0o700)
    (folder / "config").write_text(json.dumps(config))
    (folder / "config").chmod(0o600)
    environ["KUBECONFIG"] = str(cluster.kubeconfig("admin"))
    environ["PATH"] = os.pathsep.join([str(program("kubectl").parent), environ["PATH"]])
    shutil.copytree(RBAC, home / "work" / "docs" / "rbac")
