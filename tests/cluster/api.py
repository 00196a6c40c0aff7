"""The few requests that starting and breaking the cluster takes; tests use `kubectl` or the project's own client."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.cluster.paths import Unavailable

# kind → where its API lives, its plural
PLACES = {
    "APIService": ("apis/apiregistration.k8s.io/v1", "apiservices"),
    "ClusterQueue": ("apis/kueue.x-k8s.io/v1beta2", "clusterqueues"),
    "ClusterRole": ("apis/rbac.authorization.k8s.io/v1", "clusterroles"),
    "ClusterRoleBinding": ("apis/rbac.authorization.k8s.io/v1", "clusterrolebindings"),
    "CustomResourceDefinition": ("apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
    "Lease": ("apis/coordination.k8s.io/v1", "leases"),
    "LocalQueue": ("apis/kueue.x-k8s.io/v1beta2", "localqueues"),
    "MutatingWebhookConfiguration": ("apis/admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations"),
    "Namespace": ("api/v1", "namespaces"),
    "Node": ("api/v1", "nodes"),
    "ResourceFlavor": ("apis/kueue.x-k8s.io/v1beta2", "resourceflavors"),
    "ResourceQuota": ("api/v1", "resourcequotas"),
    "Role": ("apis/rbac.authorization.k8s.io/v1", "roles"),
    "RoleBinding": ("apis/rbac.authorization.k8s.io/v1", "rolebindings"),
    "Secret": ("api/v1", "secrets"),
    "Service": ("api/v1", "services"),
    "ServiceAccount": ("api/v1", "serviceaccounts"),
    "ValidatingWebhookConfiguration": ("apis/admissionregistration.k8s.io/v1", "validatingwebhookconfigurations"),
}
Json = dict[str, Any]
Test = Callable[[], object]


class ApiError(RuntimeError):
    """What the API server refused, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


class Api:
    """One connection with one token, for one thread; `with` closes it."""

    def __init__(self, url: str, authority: Path, token: str) -> None:
        self._host = urlsplit(url).netloc
        self._context = ssl.create_default_context(cafile=str(authority))
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._connection: http.client.HTTPSConnection | None = None

    def request(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        """One request; the connection is kept for the next, unless it broke."""
        connection = self._connection or http.client.HTTPSConnection(self._host, context=self._context, timeout=120)
        self._connection = None
        payload = None if body is None else json.dumps(body)
        try:
            connection.request(method, f"/{path}", payload, {**self._headers, "Content-Type": kind})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        self._connection = connection
        if answer.status >= 400:
            raise ApiError(answer.status, text.decode(errors="replace"))
        return _decoded(text)

    def get(self, path: str) -> Json:
        return self.request("GET", path)

    def create(self, item: Json, namespace: str | None = None) -> Json:
        return self.request("POST", place(item["kind"], namespace), item)

    def delete(self, path: str) -> Json:
        return self.request("DELETE", path)

    def patch(self, path: str, change: Json) -> Json:
        return self.request("PATCH", path, change, "application/merge-patch+json")

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def place(kind: str, namespace: str | None = None, name: str | None = None) -> str:
    """The path of a kind, or of one object of it."""
    root, plural = PLACES[kind]
    parts = [root, *(["namespaces", namespace] if namespace else []), plural, *([name] if name else [])]
    return "/".join(parts)


def holds(item: Json, condition: str) -> bool:
    """Whether an object's status says that this condition is true."""
    found = item.get("status", {}).get("conditions") or []
    return any(one["type"] == condition and one["status"] == "True" for one in found)


def until(what: str, test: Test, seconds: float = 60, while_true: Test = lambda: True) -> None:
    """Wait until `test()` is true; refusals and broken connections count as not yet.

    `while_true` is asked once a second whether it is still worth waiting.
    """
    began = asked = time.monotonic()
    problem = ""
    while (now := time.monotonic()) < began + seconds:
        try:
            if test():
                return
        except (OSError, http.client.HTTPException, ApiError, KeyError) as error:
            problem = f" ({error})"
        if now > asked + 1:
            asked = now
            if not while_true():
                break
        time.sleep(0.05)
    raise Unavailable(f"waited {time.monotonic() - began:.0f} s for {what}{problem[:2000]}")


def _decoded(text: bytes) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        return {"text": text.decode(errors="replace")}
    return found if isinstance(found, dict) else {"value": found}
