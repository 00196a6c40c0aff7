"""A real API server's word on the objects of a run: every field is known, kept and allowed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from jupyter_aiarts.engines.kubernetes import manifest
from jupyter_aiarts.engines.kubernetes.checks import LARGEST_OBJECT, size_problems
from jupyter_aiarts.engines.kubernetes.code import LARGEST_ZIP, Shipment
from jupyter_aiarts.engines.kubernetes.kubectl import kubectl_yaml
from jupyter_aiarts.engines.kubernetes.order import Order
from tests.cluster.api import Api, until
from tests.engines.kubernetes.making import make_order
from tests.engines.kubernetes.variants import EVERYTHING, variants

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

LEVELS = ("plain", "baseline", "restricted")
NOWHERE = {"devices": {"cpu": {"node_selector": {"example.org/nowhere": "true"}}}}
"""No pod of such a job ever starts: a test is about its objects."""


@pytest.fixture(scope="module")
def namespaces(cluster: Cluster) -> Iterator[dict[str, str]]:
    """A namespace of each level that Pod Security knows, by its name."""
    with ExitStack() as stack:
        levels = {"plain": None, "baseline": "baseline", "restricted": "restricted"}
        yield {name: stack.enter_context(cluster.namespace(pod_security=level)) for name, level in levels.items()}


Created = Callable[..., list[dict[str, Any]]]
PLURALS = {"Job": "jobs", "Service": "services", "ConfigMap": "configmaps", "Secret": "secrets", "Pod": "pods"}


@pytest.fixture(scope="module")
def tried(cluster: Cluster) -> Iterator[Created]:
    """What the server would make of these objects, without making them; a field that it does not know is an error."""
    with as_user(cluster, "alice") as alice, as_user(cluster, "admin") as admin:
        asking = {"alice": alice, "admin": admin}

        def create(*objects: dict[str, Any], user: str = "alice") -> list[dict[str, Any]]:
            return [asking[user].request("POST", place(one), one) for one in objects]

        yield create


def as_user(cluster: Cluster, user: str) -> Api:
    """Requests of one person; a test makes many, and kubectl takes a second for each."""
    config = json.loads(cluster.kubeconfig(user).read_text())
    return Api(cluster.api_url, cluster.instance.folder / "pki" / "ca.crt", config["users"][0]["user"]["token"])


def place(one: dict[str, Any]) -> str:
    root = "api" if one["apiVersion"] == "v1" else "apis"
    path = f"{root}/{one['apiVersion']}/namespaces/{one['metadata']['namespace']}/{PLURALS[one['kind']]}"
    return f"{path}?dryRun=All&fieldValidation=Strict"


def missing(sent: Any, got: Any, path: str = "") -> list[str]:
    """Where the server's object lacks or changed what was sent; it may add what it likes."""
    if isinstance(sent, dict) and isinstance(got, dict):
        return [line for key, value in sent.items() for line in missing(value, got.get(key), f"{path}.{key}")]
    if isinstance(sent, list) and isinstance(got, list) and len(sent) == len(got):
        return [line for index, one in enumerate(sent) for line in missing(one, got[index], f"{path}[{index}]")]
    same = sent == got or (not sent and not got)  # {} and "" are left out of what the server tells
    return [] if same else [f"{path}: {str(sent)[:80]!r} became {str(got)[:80]!r}"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", list(variants()))
def test_every_field_of_every_object_is_known_and_kept(
    name: str, level: str, namespaces: dict[str, str], tried: Created
) -> None:
    made = manifest.objects(variants(namespaces[level])[name])
    sent = [made.job, *made.dependents]
    got = tried(*sent)
    assert [line for one, other in zip(sent, got, strict=True) for line in missing(one, other, one["kind"])] == []


ALLOWED = {
    "plain": {"plain", "as-user", "restricted", "root-by-name", "nfs", "host-path", "host-network"},
    "baseline": {"plain", "as-user", "restricted", "root-by-name", "nfs"},
    "restricted": {"as-user", "restricted"},
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", sorted(ALLOWED["plain"]))
def test_pod_security_lets_in_what_it_should_and_refuses_the_rest(
    name: str, level: str, namespaces: dict[str, str], tried: Created
) -> None:
    """Pod Security judges pods, which people may not create themselves: the admin asks in the Job's place."""
    pod = manifest.pod(variants(namespaces[level])[name])
    if name in ALLOWED[level]:
        assert missing(pod, tried(pod, user="admin")[0]) == []
    else:
        with pytest.raises(RuntimeError, match=rf'violates PodSecurity \\"{level}:latest\\"'):
            tried(pod, user="admin")


def test_the_largest_description_that_we_let_through_is_one_that_the_server_takes(
    namespaces: dict[str, str], tried: Created
) -> None:
    code = Shipment(kind="shipped", script_in_pod="/aiarts/run/code/a.py", zip=bytes(LARGEST_ZIP))
    rest = LARGEST_OBJECT - manifest.config_size(make_order(shipment=code))
    raw = {"args": ["x" * 50_000] * (rest // 3 // 50_000)}  # they stand in spec, given and plan
    order = make_order(raw=raw, shipment=code, namespace=namespaces["plain"])
    assert size_problems(order) == [] and manifest.config_size(order) > LARGEST_OBJECT - 160_000
    tried(manifest.objects(order).config)


def test_a_released_job_is_as_the_patch_says(cluster: Cluster, namespaces: dict[str, str]) -> None:
    order = make_order(NOWHERE, namespace=namespaces["plain"], job_id="releasedjo")
    where = ("-n", order.namespace)
    cluster.kubectl("create", "-f", "-", user="alice", input=json.dumps(manifest.objects(order).job))
    patch = json.dumps(manifest.release(order))
    cluster.kubectl("patch", "job", order.name, *where, "--type=merge", "-p", patch, user="alice")
    job = json.loads(cluster.kubectl("get", "job", order.name, *where, "-o", "json", user="alice"))
    assert job["spec"]["suspend"] is False and "jupyter-aiarts/creating" not in job["metadata"]["labels"]
    assert job["spec"]["backoffLimit"] == 2**31 - 1  # the server's own, beside a limit per index
    for one in manifest.objects(order).dependents:
        owned = manifest.owned(one, order.name, job["metadata"]["uid"])
        cluster.kubectl("create", "-f", "-", user="alice", input=json.dumps(owned))
    cluster.kubectl("delete", "job", order.name, *where, "--cascade=foreground", user="alice")
    look = ("get", "service,configmap,secret", *where, "-l", "jupyter-aiarts/job=releasedjo", "-o", "name")
    until("the garbage collector to take what belonged to it", lambda: cluster.kubectl(*look) == "")


@pytest.mark.parametrize("queue", [None, "cards"])
def test_kubectl_apply_of_the_copied_text_makes_the_same_objects(
    queue: str | None, cluster: Cluster, namespaces: dict[str, str]
) -> None:
    settings, raw = EVERYTHING
    order = make_order(
        settings, raw, namespace=namespaces["plain"], job_id=f"copied{queue or 'alon'}"[:10], queue=queue
    )
    text = kubectl_yaml(order)
    cluster.kubectl("apply", "--server-side", "--validate=strict", "-f", "-", user="alice", input=text)
    try:
        assert differences(cluster, order, text) == []
    finally:
        cluster.kubectl("delete", "-f", "-", user="alice", input=text)


def differences(cluster: Cluster, order: Order, text: str) -> list[str]:
    """Between what was written and what is there now."""
    found: list[str] = []
    for one in yaml.safe_load_all(text):
        one.pop("stringData", None)  # a Secret's own way of being written
        name = f"{one['kind']}/{one['metadata']['name']}"
        there = json.loads(cluster.kubectl("get", name, "-n", order.namespace, "-o", "json", user="alice"))
        found += missing(one, there, name)
    return found
