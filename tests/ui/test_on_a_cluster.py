"""The whole of it once: a browser, JupyterLab, the server and a real cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cluster.api import until
from tests.cluster.fixture import refuse
from tests.cluster.paths import NODES
from tests.engines.kubernetes.engines import add_queue

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.browser, pytest.mark.timeout(300)]

HERE = Path(__file__).parent
METRICS = "apis/metrics.k8s.io/v1beta1/nodes"


def test_a_person_works_on_a_cluster_in_the_browser(cluster: Cluster) -> None:
    """Submit in the form, watch, read the log, find the node and what it uses, stop, run again, delete; filter by
    cluster and queue."""
    if not (HERE / "node_modules").exists() or shutil.which("node") is None:
        refuse("NO BROWSER, SO ITS TEST DID NOT RUN: `make unit` installs what it needs")
    with cluster.metrics_server(), cluster.namespace() as namespace:
        cluster.bind("viewer", namespace)
        add_queue(cluster, namespace)
        with cluster.admin() as api:
            until("the metrics of nodes", lambda: len(api.get(METRICS)["items"]) == len(NODES))
        places = {"KUBECONFIG": str(cluster.kubeconfig("viewer")), "NAMESPACE": namespace}
        command = ["node", "--test", "--test-reporter=spec", "on-a-cluster.mjs"]
        done = subprocess.run(command, cwd=HERE, env={**os.environ, **places}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
