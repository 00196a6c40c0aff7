"""Kueue outside the cluster: it manages Jobs that name a queue, and is called on the cell's loopback.

It believes to be in a pod, for its visibility API, which tells the order of those who wait, asks for that: it has a
root folder of its own, with a service account's token and the certificates where it looks for them and nowhere else.
"""

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
from tests.cluster.paths import Instance
from tests.cluster.pki import private_file
from tests.cluster.users import token_of

CONVERTED = ("clusterqueues", "cohorts", "localqueues", "workloads", "multikueueclusters")
WEBHOOKS = ("job", "clusterqueue", "cohort", "localqueue", "resourceflavor", "workload")
HOOK = "https://127.0.0.1:9443"
VISIBILITY, VISIBILITY_PORT = "visibility.kueue.x-k8s.io", 8082
CERTIFICATES = ("etc/kueue/metrics/certs", "visibility")  # for metrics and webhooks, for the visibility API
ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
CONFIGURATION: Json = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": "0"},
    "metrics": {"bindAddress": "0"},
    "webhook": {"port": 9443, "host": "127.0.0.1", "certDir": f"/{CERTIFICATES[0]}"},
    "leaderElection": {"leaderElect": False},
    "internalCertManagement": {"enable": False},
    "manageJobsWithoutQueueName": False,
    "clientConnection": {"qps": 200, "burst": 400},
    "integrations": {"frameworks": ["batch/job"]},
}
QUOTA = {"cpu": "1000", "memory": "4Ti", "huawei.com/Ascend910": "8", "nvidia.com/gpu": "8"}


def keep_manifests() -> Path:
    """Kueue's definitions and webhooks as JSON beside the program, so that a start needs neither Go nor YAML."""
    kept = _wanted().with_name(f"{_wanted().name}.json")
    if not kept.exists():
        kept.write_text(json.dumps(_read_manifests()))
    return kept


def mounts(instance: Instance, cell: Cell) -> list[list[str]]:
    """Make Kueue's root folder; all that is mounted there is the program."""
    root, pki = _root(cell), instance.folder / "pki"
    for folder in (*CERTIFICATES, ACCOUNT, "tmp"):
        (root / folder).mkdir(parents=True)
    for folder in CERTIFICATES:
        for suffix in ("crt", "key"):
            shutil.copy(pki / f"server.{suffix}", root / folder / f"tls.{suffix}")
    shutil.copy(pki / "ca.crt", root / ACCOUNT / "ca.crt")
    private_file(root / ACCOUNT / "token", token_of(instance, "kueue"))
    (root / "config.json").write_text(json.dumps(CONFIGURATION))
    found = program("kueue")
    (root / found.name).touch()
    return [["--bind", str(found), str(root / found.name)]]


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
    _announce(api)


def _announce(api: Api) -> None:
    """Tell the API server where the visibility API is: what looks like another machine's name is this very one."""
    api.create({"kind": "Namespace", "metadata": {"name": "kueue-system"}})
    spec = {"type": "ExternalName", "externalName": "localhost"}
    api.create({"kind": "Service", "metadata": {"name": "visibility-server"}, "spec": spec}, "kueue-system")
    service = {"name": "visibility-server", "namespace": "kueue-system", "port": VISIBILITY_PORT}
    for version in ("v1beta1", "v1beta2"):
        api.create({
            "kind": "APIService", "metadata": {"name": f"{version}.{VISIBILITY}"},
            "spec": {"group": VISIBILITY, "version": version, "groupPriorityMinimum": 100, "versionPriority": 100,
                     "insecureSkipTLSVerify": True, "service": service},
        })  # fmt: skip


def start_kueue(instance: Instance, cell: Cell) -> None:
    flags = ["--config=/config.json", "--zap-log-level=1"]
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    cell.spawn("kueue", ["chroot", str(_root(cell)), f"/{program('kueue').name}", *flags], environ)


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
    until("Kueue's visibility API", lambda: is_visible(api))


def local_queue(name: str, cluster_queue: str) -> Json:
    return {
        "kind": "LocalQueue", "apiVersion": "kueue.x-k8s.io/v1beta2", "metadata": {"name": name},
        "spec": {"clusterQueue": cluster_queue},
    }  # fmt: skip


def is_visible(api: Api) -> bool:
    """Whether the visibility API answers through the API server."""
    return holds(api.get(place("APIService", name=f"v1beta2.{VISIBILITY}")), "Available")


def _root(cell: Cell) -> Path:
    return cell.folder / "kueue"


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
