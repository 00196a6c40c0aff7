"""A metrics server outside the cluster, for as long as a test wants one: it asks kubelets what their nodes use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.cluster.api import Api, holds, place, until
from tests.cluster.build import program
from tests.cluster.cells import Cell
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import Instance

GROUP, VERSION, PORT = "metrics.k8s.io", "v1beta1", 4443
SERVICE, SPACE = "metrics-server", "kube-system"


@contextmanager
def metrics_server(instance: Instance, cell: Cell, admin: Callable[[], Api]) -> Iterator[None]:
    """Run it for the block; it knows the nodes when it has looked twice, ten seconds apart. After it, nobody does."""
    kubeconfig, pki = kubeconfig_of(instance, "metrics"), instance.folder / "pki"
    flags = {
        "kubeconfig": kubeconfig, "authentication-kubeconfig": kubeconfig, "authorization-kubeconfig": kubeconfig,
        "secure-port": PORT, "tls-cert-file": pki / "server.crt", "tls-private-key-file": pki / "server.key",
        "kubelet-certificate-authority": pki / "ca.crt", "kubelet-client-certificate": pki / "client.crt",
        "kubelet-client-key": pki / "client.key", "kubelet-preferred-address-types": "InternalIP",
        "metric-resolution": "10s", "kubelet-request-timeout": "5s",
    }  # fmt: skip
    cell.spawn("metrics-server", [str(program("metrics-server")), *(f"--{name}={flags[name]}" for name in flags)])
    try:
        with admin() as api:
            _announce(api)
            until("the metrics server", lambda: _answers(api), while_true=lambda: cell.find("metrics-server"))
        yield
    finally:
        with admin() as api:
            api.delete(place("APIService", name=f"{VERSION}.{GROUP}"))
            api.delete(place("Service", SPACE, SERVICE))
        cell.kill("metrics-server")


def _announce(api: Api) -> None:
    """What looks like another machine's name is this very one."""
    spec = {"type": "ExternalName", "externalName": "localhost"}
    api.create({"kind": "Service", "metadata": {"name": SERVICE}, "spec": spec}, SPACE)
    api.create({
        "kind": "APIService", "metadata": {"name": f"{VERSION}.{GROUP}"},
        "spec": {"group": GROUP, "version": VERSION, "groupPriorityMinimum": 100, "versionPriority": 100,
                 "insecureSkipTLSVerify": True, "service": {"name": SERVICE, "namespace": SPACE, "port": PORT}},
    })  # fmt: skip


def _answers(api: Api) -> bool:
    return holds(api.get(place("APIService", name=f"{VERSION}.{GROUP}")), "Available")
