"""etcd, the API server, the controller manager and the scheduler, in the `control` cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cluster.build import program
from tests.cluster.cells import Cell
from tests.cluster.paths import Instance
from tests.cluster.pki import private_file

# What the cluster does for itself would bury the requests of people and programs in the audit log.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "userGroups": ["system:nodes", "aiarts:parts"]},
        {"level": "None", "users": ["system:apiserver", "system:anonymous"]},
        {"level": "Metadata"},
    ],
}
ETCD = "http://127.0.0.1:2379"  # in the cell's own network


def make_files(instance: Instance) -> None:
    """What the control plane reads at its start; `users.py` adds the token file."""
    (instance.folder / "audit").mkdir()
    private_file(instance.folder / "audit" / "policy.json", json.dumps(AUDIT_POLICY))


def audit_log(instance: Instance) -> Path:
    return instance.folder / "audit" / "audit.log"


def audited(file: Path, since: int) -> list[dict[str, Any]]:
    """The events after the log had this size; while it is written, a line may be half there at either end."""
    with file.open("rb") as log:
        log.seek(max(since - 1, 0))
        text = log.read()
    begin = text.find(b"\n") + 1 if since else 0
    return [json.loads(line) for line in text[begin : text.rfind(b"\n") + 1].splitlines()]


def start_etcd(instance: Instance, cell: Cell) -> None:
    """Nothing here has to survive a power cut, so nothing is synced to disk."""
    flags = {
        "name": "test",
        "data-dir": instance.folder / "etcd",
        "listen-client-urls": ETCD,
        "advertise-client-urls": ETCD,
        "listen-peer-urls": "http://127.0.0.1:2380",
        "initial-advertise-peer-urls": "http://127.0.0.1:2380",
        "initial-cluster": "test=http://127.0.0.1:2380",
        "quota-backend-bytes": 8 * 2**30,
        "log-level": "warn",
    }
    cell.spawn("etcd", [str(program("etcd")), "--unsafe-no-fsync", *_arguments(flags)])


def start_api_server(instance: Instance, cell: Cell) -> None:
    """Pods of a lost node are evicted after seconds here, not after five minutes."""
    pki = instance.folder / "pki"
    flags = {
        "etcd-servers": ETCD,
        "bind-address": "0.0.0.0",
        "secure-port": 443,  # the port of the service `kubernetes`: no kube-proxy translates another
        "advertise-address": instance.address(1),
        "service-cluster-ip-range": instance.services,
        "authorization-mode": "Node,RBAC",
        "token-auth-file": instance.folder / "tokens.csv",
        "client-ca-file": pki / "ca.crt",
        "tls-cert-file": pki / "server.crt",
        "tls-private-key-file": pki / "server.key",
        "kubelet-certificate-authority": pki / "ca.crt",
        "kubelet-client-certificate": pki / "client.crt",
        "kubelet-client-key": pki / "client.key",
        "kubelet-preferred-address-types": "InternalIP",
        "proxy-client-cert-file": pki / "client.crt",  # the API server to other API servers, such as Kueue's
        "proxy-client-key-file": pki / "client.key",
        "requestheader-client-ca-file": pki / "ca.crt",
        "requestheader-allowed-names": "kube-apiserver",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki / "accounts.key",
        "service-account-signing-key-file": pki / "accounts.key",
        "default-not-ready-toleration-seconds": 5,
        "default-unreachable-toleration-seconds": 5,
        "audit-policy-file": instance.folder / "audit" / "policy.json",
        "audit-log-path": audit_log(instance),
        "audit-log-maxsize": 1000,
        "allow-privileged": "true",
    }
    cell.spawn("kube-apiserver", [str(program("kube-apiserver")), *_arguments(flags)])


def start_controllers(instance: Instance, cell: Cell) -> None:
    """A node that is silent for 12 s counts as lost."""
    pki = instance.folder / "pki"
    flags = {
        "kubeconfig": kubeconfig_of(instance, "controllers"),
        "service-account-private-key-file": pki / "accounts.key",
        "root-ca-file": pki / "ca.crt",
        "node-monitor-period": "1s",
        "node-monitor-grace-period": "12s",
        "kube-api-qps": 300,
        "kube-api-burst": 600,
        "secure-port": 0,
        "leader-elect": "false",
    }
    cell.spawn("kube-controller-manager", [str(program("kube-controller-manager")), *_arguments(flags)])


def start_scheduler(instance: Instance, cell: Cell) -> None:
    flags = {
        "kubeconfig": kubeconfig_of(instance, "scheduler"),
        "kube-api-qps": 300,
        "kube-api-burst": 600,
        "secure-port": 0,
        "leader-elect": "false",
    }
    cell.spawn("kube-scheduler", [str(program("kube-scheduler")), *_arguments(flags)])


def kubeconfig_of(instance: Instance, user: str) -> Path:
    return instance.folder / "users" / f"{user}.kubeconfig"


def _arguments(flags: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]
