"""A cluster for the pages that need one: what they call by a name for readers is called by another one here."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
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


class Names:
    """The page's namespace under a name of this test's own, and an image that the test cluster has."""

    def __init__(self) -> None:
        self.namespace = f"{NAMESPACE}-{uuid.uuid4().hex[:8]}"

    def here(self, text: str) -> str:
        return text.replace(NAMESPACE, self.namespace).replace(IMAGE, "registry.local/aiarts-test:1")


@contextmanager
def namespace(cluster: Cluster, name: str, is_made: bool) -> Iterator[None]:
    """Removed after the block; `is_made` is whether it is there from the beginning, with alice's role."""
    if is_made:
        with cluster.namespace(name):
            yield
        return
    try:
        yield
    finally:
        for command in (["namespace", name, "--wait=false"], ["clusterrolebinding", f"{name}-viewers"]):
            try:
                cluster.kubectl("delete", "--ignore-not-found", *command)
            except CommandFailed as error:
                print(f"left behind: {error}")


def move_in(cluster: Cluster, names: Names, home: Path, environ: dict[str, str]) -> None:
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
