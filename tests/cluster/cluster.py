"""The running cluster as tests see it: who asks, and what to break."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tests.cluster import control_plane, kueue, nodes, start, users
from tests.cluster.accounts import Account, make_account
from tests.cluster.api import Api, ApiError, place, until
from tests.cluster.build import Say, program
from tests.cluster.cleanup import cells_of
from tests.cluster.hearing import wait_for_everybody
from tests.cluster.metrics import metrics_server
from tests.cluster.paper import paper_nodes
from tests.cluster.paths import NODES, Instance
from tests.cluster.registry import Registry, registry

ORDER = "apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/queued/localqueues/cards/pendingworkloads"
COMPACT = Path(__file__).with_name("etcd_compact.py")


class CommandFailed(RuntimeError):
    """kubectl said no; the message is what it said."""


class Cluster:
    """One running cluster. Whoever breaks something mends it: the next test gets the same cluster."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._cells = cells_of(instance)
        self._deaf = False  # somebody could not reach the API server, and may not have noticed yet that it is back

    @classmethod
    def running(cls) -> Cluster | None:
        """The cluster of this environment, if it runs and nothing of it has ended."""
        instance = Instance.current()
        return cls(instance) if start.is_whole(instance) else None

    @classmethod
    def start(cls, say: Say) -> tuple[Cluster, bool]:
        """The cluster, and whether this call started it."""
        instance = Instance.current()
        started = start.up(instance, say)
        return cls(instance), started

    def stop(self) -> None:
        start.down(self.instance)

    # Asking

    @property
    def api_url(self) -> str:
        return self.instance.api_url

    @property
    def audit_log(self) -> Path:
        """One JSON event a line for each request of people and service accounts; the cluster's own are left out."""
        return control_plane.audit_log(self.instance)

    def audited(self, since: int) -> list[dict[str, Any]]:
        """The events after the log had this size."""
        return control_plane.audited(self.audit_log, since)

    def kubeconfig(self, user: str) -> Path:
        """Of admin, alice, bob, viewer, noproxy or nobody: a file only root can read."""
        return control_plane.kubeconfig_of(self.instance, user)

    def write_kubeconfig(self, file: Path, credential: dict[str, Any], namespace: str = "default") -> Path:
        """A kubeconfig with another credential: `{"exec": …}`, `{"tokenFile": …}`, a wrong token."""
        return users.write_kubeconfig(self.instance, file, "test", credential, namespace)

    def kubectl(self, *arguments: str, user: str = "admin", input: str | None = None) -> str:
        """What kubectl prints for this user; CommandFailed with its complaint when it fails."""
        command = [str(program("kubectl")), f"--kubeconfig={self.kubeconfig(user)}", *arguments]
        done = subprocess.run(command, input=input, capture_output=True, text=True)
        if done.returncode:
            raise CommandFailed(done.stderr.strip())
        return done.stdout

    def admin(self) -> Api:
        """A connection of one's own that may do anything (`with cluster.admin() as api:`); quicker than kubectl."""
        return start.admin(self.instance)

    # Places and people of a test's own

    @contextmanager
    def namespace(self, name: str | None = None, pod_security: str | None = None) -> Iterator[str]:
        """A fresh namespace where alice has the role `aiarts-user`; after the block its pods are gone."""
        name = name or f"test-{uuid.uuid4().hex[:8]}"
        with self.admin() as api:
            users.make_namespace(api, name, pod_security)
            until(f"the account of {name}", lambda: api.get(f"api/v1/namespaces/{name}/serviceaccounts/default"))
        self.bind("alice", name)
        try:
            yield name
        finally:
            with self.admin() as api:
                _empty(api, name)

    def bind(self, user: str, namespace: str, role: str = "aiarts-user") -> None:
        """Give a user a role; `aiarts-user` and `aiarts-noproxy` are in each namespace made here."""
        with self.admin() as api:
            users.bind(api, namespace, role, {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"})

    def service_account_kubeconfig(self, namespace: str, name: str, role: str = "aiarts-user") -> Account:
        """A service account whose token can be revoked, restored and rotated; `.kubeconfig` names its token file."""
        return make_account(self.instance, self.admin, namespace, name, role)

    def registry(self, locked: bool = False) -> AbstractContextManager[Registry]:
        """A registry to push to and pull from, with a password when `locked`; one at a time."""
        return registry(self.instance, self._cells["control"], locked)

    def metrics_server(self) -> AbstractContextManager[None]:
        """What nodes use is told through `metrics.k8s.io`; otherwise nobody serves it. One at a time."""
        return metrics_server(self.instance, self._cells["control"], self.admin)

    def paper_nodes(self, count: int, prefix: str = "paper", taint: bool = True) -> AbstractContextManager[list[str]]:
        """Nodes without a kubelet that stay ready; `taint` keeps pods away that do not tolerate `paper`."""
        return paper_nodes(self.admin, count, prefix, taint)

    # Breaking and mending

    def stop_api(self) -> None:
        """The API server dies at once, with the controllers and the scheduler; etcd, pods and kubelets go on.

        Left alive, the controllers would take both nodes for lost, whose leases they saw grow old, and evict what runs
        there once the API server is back.
        """
        self._deaf = True
        for name in ("kube-controller-manager", "kube-scheduler", "kube-apiserver"):
            self._cells["control"].kill(name)

    def start_api(self) -> None:
        """Start what `stop_api` ended, unless it runs, and wait until it is ready; the rest hears it after `settle`."""
        control = self._cells["control"]
        if control.find("kube-apiserver") is None:
            control_plane.start_api_server(self.instance, control)
        start.wait_for_api(self.instance)
        if control.find("kube-controller-manager") is None:
            control_plane.start_controllers(self.instance, control)
        if control.find("kube-scheduler") is None:
            control_plane.start_scheduler(self.instance, control)

    def settle(self) -> None:
        """After the API server was away from somebody, wait until everybody hears it; each test ends with this.

        Kueue and the kubelets begin anew: by themselves they would ask again only after up to a minute.
        """
        if not self._deaf:
            return
        self.stop_kueue()
        self.start_kueue()
        for node in NODES:
            self.kill_kubelet(node)
            self.start_kubelet(node)
        with self.admin() as api:
            wait_for_everybody(api)
        self._deaf = False

    def stop_kueue(self) -> None:
        """Kueue dies at once: nothing is admitted, its webhooks refuse, and nobody converts its objects."""
        self._cells["control"].kill("kueue")

    def start_kueue(self) -> None:
        """Start it again, unless it runs, and wait until it answers."""
        if self._cells["control"].find("kueue") is None:
            kueue.start_kueue(self.instance, self._cells["control"])
        with self.admin() as api:
            until("Kueue to convert", lambda: api.get(place("LocalQueue", "queued", "cards")))
            until("Kueue to tell its order", lambda: api.get(ORDER))  # asked anew only every half minute

    def compact_etcd(self) -> int:
        """Forget all history; gives the revision up to which nothing is left.

        From then on a list with an old `continue` token or with `resourceVersionMatch=Exact` gets 410. A watch from
        an old resourceVersion does not: the API server answers it from its own memory. It gets its 410 after
        `forget_watches`.
        """
        return int(self._cells["control"].run(sys.executable, "-I", str(COMPACT)))

    def forget_watches(self) -> None:
        """Compact etcd and restart the API server: a watch from any older resourceVersion gets 410 Gone."""
        self.stop_api()
        self.compact_etcd()
        self.start_api()

    @contextmanager
    def silent_api(self) -> Iterator[None]:
        """Packets from the API server to this machine vanish: open connections are half-open, new ones hang."""
        route = ["blackhole", f"{self.instance.address(254)}/32"]
        self._cells["control"].run("ip", "route", "add", *route)
        try:
            yield
        finally:
            self._cells["control"].run("ip", "route", "delete", *route)

    def kill_kubelet(self, node: str) -> None:
        """The node is NotReady after 12 s and its pods are to go 5 s later; containers go on running."""
        self._cells[node].kill("kubelet")

    def start_kubelet(self, node: str) -> None:
        """Start it again, unless it runs; returns when the node takes pods and has its cards."""
        if self._cells[node].find("kubelet") is None:
            nodes.start_kubelet(self.instance, self._cells[node])
        start.wait_for_node(self.instance, node)

    def kill_containerd(self, node: str) -> None:
        """Containers go on running; nothing new starts and the node is NotReady after a while."""
        self._cells[node].kill("containerd")

    def start_containerd(self, node: str) -> None:
        """Start it again, unless it runs; returns when the node takes pods and its kubelet reaches it."""
        if self._cells[node].find("containerd") is None:
            nodes.start_containerd(self._cells[node])
        start.wait_for_node(self.instance, node)
        with self.admin() as api:
            until(f"the kubelet of {node} to reach containerd", lambda: _running(api, node))

    def revive(self, node: str) -> None:
        """Start containerd and then the kubelet, which ends where it finds none; returns when the node takes pods."""
        if self._cells[node].find("containerd") is None:
            nodes.start_containerd(self._cells[node])
        self.start_kubelet(node)

    @contextmanager
    def unplugged(self, node: str) -> Iterator[None]:
        """The node's network cable is out: the node lives and runs its pods, but nobody hears of it."""
        self._deaf = True
        self._cells["control"].run("ip", "link", "set", node, "down")
        try:
            yield
        finally:
            self._cells["control"].run("ip", "link", "set", node, "up")
            start.wait_for_node(self.instance, node)

    def in_node(self, node: str, *command: str) -> str:
        """Run something on a node, among its processes and files, and give what it prints."""
        return self._cells[node].run(*command, processes=True)


def _running(api: Api, node: str) -> bool:
    """Whether the kubelet can say what runs on its node; the node counts as ready for a while also when it cannot."""
    return bool(api.get(f"api/v1/nodes/{node}/proxy/runningpods/"))


def _empty(api: Api, namespace: str) -> None:
    """Delete a namespace and what runs in it; the rest of it goes by itself."""
    now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}
    api.request("DELETE", f"apis/batch/v1/namespaces/{namespace}/jobs", now)
    api.request("DELETE", f"api/v1/namespaces/{namespace}/pods", now)
    try:
        api.delete(f"api/v1/namespaces/{namespace}")
    except ApiError as error:
        if error.status != 404:  # its own test deleted it
            raise
    until(f"the pods of {namespace} to go", lambda: not api.get(f"api/v1/namespaces/{namespace}/pods")["items"])
