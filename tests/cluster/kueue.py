"""Kueue outside the cluster: it manages Jobs that name a queue, and its webhooks are called on the cell's loopback."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.api import Api, Json, holds, place, until
from tests.cluster.build import GO, PROGRAMS, program
from tests.cluster.cells import Cell
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import Instance

CONVERTED = ("clusterqueues", "cohorts", "localqueues", "workloads", "multikueueclusters")
WEBHOOKS = ("job", "clusterqueue", "cohort", "localqueue", "resourceflavor", "workload")
HOOK = "https://127.0.0.1:9443"
QUOTA = {"cpu": "1000", "memory": "4Ti", "huawei.com/Ascend910": "8", "nvidia.com/gpu": "8"}


def keep_manifests() -> Path:
    """Kueue's definitions and webhooks as JSON beside the program, so that a start needs neither Go nor YAML."""
    kept = _wanted().with_name(f"{_wanted().name}.json")
    if not kept.exists():
        kept.write_text(json.dumps(_read_manifests()))
    return kept


def mounts(instance: Instance, cell: Cell) -> list[list[str]]:
    """Kueue looks for one certificate under /etc/kueue and nowhere else: an /etc with that folder in it."""
    certificates = cell.folder / "etc" / "kueue" / "metrics" / "certs"
    certificates.mkdir(parents=True)
    for suffix in ("crt", "key"):
        shutil.copy(instance.folder / "pki" / f"server.{suffix}", certificates / f"tls.{suffix}")
    return [["-t", "overlay", "overlay", "-o", f"lowerdir={cell.folder / 'etc'}:/etc", "/etc"]]


def define(instance: Instance, api: Api) -> None:
    """Create the definitions and wait until the API server serves them."""
    authority = base64.b64encode((instance.folder / "pki" / "ca.crt").read_bytes()).decode()
    items = [_adapted(item, authority) for item in json.loads(keep_manifests().read_text())]
    definitions = [item for item in items if item["kind"] == "CustomResourceDefinition"]
    for item in definitions:
        api.create(item)
    paths = [place("CustomResourceDefinition", name=item["metadata"]["name"]) for item in definitions]
    until("Kueue's kinds", lambda: all(holds(api.get(path), "Established") for path in paths))
    for item in items:
        if item not in definitions:
            api.create(item)


def start_kueue(instance: Instance, cell: Cell) -> None:
    config = cell.folder / "kueue.json"
    config.write_text(json.dumps(_configuration(cell)))
    flags = [f"--config={config}", "--feature-gates=VisibilityOnDemand=false", "--zap-log-level=1"]
    environ = {"KUBECONFIG": str(kubeconfig_of(instance, "kueue"))}
    cell.spawn("kueue", [str(program("kueue")), *flags], environ)


def make_queues(api: Api) -> None:
    """One flavor and one queue of eight cards for the whole cluster, open to the namespace `queued`."""
    flavor = {"kind": "ResourceFlavor", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "default"}}
    until("Kueue's webhooks", lambda: api.create(flavor))
    resources = [{"name": name, "nominalQuota": amount} for name, amount in QUOTA.items()]
    group = {"coveredResources": list(QUOTA), "flavors": [{"name": "default", "resources": resources}]}
    api.create({
        "kind": "ClusterQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": "cards"},
        "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
    })  # fmt: skip
    api.create(local_queue("cards", "cards"), "queued")
    until("the queue", lambda: holds(api.get(place("LocalQueue", "queued", "cards")), "Active"))


def local_queue(name: str, cluster_queue: str) -> Json:
    return {
        "kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": name},
        "spec": {"clusterQueue": cluster_queue},
    }  # fmt: skip


def _configuration(cell: Cell) -> Json:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"port": 9443, "host": "127.0.0.1", "certDir": str(cell.folder / "etc/kueue/metrics/certs")},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "manageJobsWithoutQueueName": False,
        "clientConnection": {"qps": 200, "burst": 400},
        "integrations": {"frameworks": ["batch/job"]},
    }


def _wanted() -> Path:
    return next(wanted.cached for wanted in PROGRAMS if wanted.name == "kueue")


def _read_manifests() -> list[Json]:
    command = ["go", "mod", "download", "-json", "sigs.k8s.io/kueue"]
    found = subprocess.run(command, cwd=GO / "kubernetes", capture_output=True, text=True, check=True).stdout
    components = Path(json.loads(found)["Dir"]) / "config" / "components"
    files = [*sorted((components / "crd" / "bases").glob("*.yaml")), components / "webhook" / "manifests.yaml"]
    with ThreadPoolExecutor() as pool:
        return [item for items in pool.map(_documents, files) for item in items]


def _documents(file: Path) -> list[Json]:
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [item for item in yaml.load_all(file.read_text(), Loader=loader) if item]


def _adapted(item: Json, authority: str) -> Json:
    """Webhooks by address instead of by service, and only those of what is switched on."""
    if item["kind"] == "CustomResourceDefinition":
        if item["spec"]["names"]["plural"] in CONVERTED:
            client = {"url": f"{HOOK}/convert", "caBundle": authority}
            hook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
            item["spec"]["conversion"] = {"strategy": "Webhook", "webhook": hook}
        return item
    item["metadata"]["name"] = f"kueue-{item['metadata']['name']}"
    item["webhooks"] = [hook for hook in item["webhooks"] if hook["name"].split(".")[0][1:] in WEBHOOKS]
    for hook in item["webhooks"]:
        hook["clientConfig"] = {"url": HOOK + hook["clientConfig"]["service"]["path"], "caBundle": authority}
    return item
