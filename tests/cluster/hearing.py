"""Who hears the API server: whoever asked in vain while it was away asks again at longer and longer intervals.

The intervals end at half a minute, doubled by chance: until a kubelet has asked again it knows of no new pod, although
its node is ready; until the controllers have, a new namespace has no account.
"""

from __future__ import annotations

import uuid

from tests.cluster.api import Api, Json, place, until
from tests.cluster.images import BARE
from tests.cluster.nodes import is_ready
from tests.cluster.paths import NODES

LONGEST = 120.0  # seconds: a minute between two questions, and as long again for a slow machine


def wait_for_everybody(api: Api) -> None:
    """Until the controllers, the scheduler and each kubelet have done something that is asked for only now."""
    space = f"heard-{uuid.uuid4().hex[:8]}"
    api.create({"kind": "Namespace", "metadata": {"name": space}})
    try:
        until("the controllers to hear", lambda: api.get(place("ServiceAccount", space, "default")), LONGEST)
        for node in NODES:
            until(f"{node} to be ready", lambda node=node: is_ready(api, node), LONGEST)
        anywhere = _pod(api, space, None)
        placed = {node: _pod(api, space, node) for node in NODES}
        until("the scheduler to hear", lambda: api.get(anywhere)["spec"].get("nodeName"), LONGEST)
        for node, path in placed.items():
            until(f"the kubelet of {node} to hear", lambda path=path: api.get(path)["status"].get("hostIP"), LONGEST)
    finally:
        now = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        api.request("DELETE", f"api/v1/namespaces/{space}/pods", now)
        api.delete(place("Namespace", name=space))


def _pod(api: Api, space: str, node: str | None) -> str:
    """The path of a pod that ends at once, for this node or for any."""
    name = node or "anywhere"
    spec: Json = {"containers": [{"name": "main", "image": BARE, "command": ["true"]}], "restartPolicy": "Never"}
    if node:
        spec["nodeName"] = node
    body = {"kind": "Pod", "metadata": {"name": name}, "spec": spec}
    api.request("POST", f"api/v1/namespaces/{space}/pods", body)
    return f"api/v1/namespaces/{space}/pods/{name}"
