"""From an order to the objects of a run: pure, so they are tested as dicts and tried on a real API server.

A run is one Indexed Job; its Service, ConfigMap and Secrets belong to it. `submit` creates the Job first, suspended
and marked as being created, then what belongs to it, then releases it.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.launcher_zip import pack
from jupyter_aiarts.engines.kubernetes.order import Order as Order
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.engines.kubernetes.pod import pod_spec
from jupyter_aiarts.engines.kubernetes.resources import device_labels, priority_class
from jupyter_aiarts.model.secrecy import PullSecret

LARGEST_NOTES = 16_000
"""All annotations of an object have 256 KB together; notes are for reading, and `spec.json` holds them all."""

LEFT = 75
"""A launcher's exit code for "nothing failed, but the group is not complete": its pod is replaced."""


class Objects(Struct, frozen=True, kw_only=True):
    """What a run consists of, as the API server takes it."""

    job: dict[str, Any]
    service: dict[str, Any]
    config: dict[str, Any]
    secret: dict[str, Any]
    pull_secret: dict[str, Any] | None = None
    ring: dict[str, Any] | None = None

    def __repr__(self) -> str:
        """Without the content of the secrets."""
        return f"Objects(job={self.job!r}, service={self.service!r})"

    @property
    def dependents(self) -> list[dict[str, Any]]:
        """What is created after the Job, and owned by it."""
        return [one for one in (self.service, self.config, self.secret, self.pull_secret, self.ring) if one is not None]


def objects(order: Order) -> Objects:
    """All objects of a run; the Job is suspended, marked as being created, and in no queue yet."""
    login = order.reading.pull_secret
    return Objects(
        job=_job(order),
        service=_service(order),
        config=_config(order),
        secret=_secret(order),
        pull_secret=None if login is None else _pull_secret(order, login),
        ring=None if order.ring is None else _ring(order),
    )


def pod(order: Order) -> dict[str, Any]:
    """One pod as the Job would make it: Pod Security judges pods, so a dry run of the Job alone tells nothing."""
    made = {"apiVersion": "v1", "kind": "Pod", **_template(order)}
    annotations = {names.INDEX: "0", **made["metadata"].get("annotations", {})}
    named = {"name": f"{order.name}-0-try", "namespace": order.namespace, "annotations": annotations}
    return {**made, "metadata": {**made["metadata"], **named}}


def release(order: Order) -> dict[str, Any]:
    """The merge patch that lets a complete run go. Kueue unsuspends what it admits, so there the label is all."""
    if order.queue is None:
        return {"metadata": {"labels": {names.CREATING: None}}, "spec": {"suspend": False}}
    return {"metadata": {"labels": {names.CREATING: None, names.QUEUE: order.queue}}}


def owned(made: dict[str, Any], job_name: str, uid: str) -> dict[str, Any]:
    """The same object, belonging to a Job that exists: it goes when the Job goes, and never holds it up."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job_name, "uid": uid}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def labels(order: Order) -> dict[str, str]:
    """What every object of a run is found by."""
    return {
        names.MANAGED_BY: "jupyter-aiarts",
        names.JOB: order.job_id,
        names.RUN: str(order.run),
        names.OWNER: names.owner_label(order.person.owner),
    }


def _object(order: Order, version: str, kind: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": order.name, "namespace": order.namespace, "labels": labels(order)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


# -- the Job -------------------------------------------------------------------------------------------------------


def _job(order: Order) -> dict[str, Any]:
    made = _object(order, "batch/v1", "Job", spec=_job_spec(order))
    made["metadata"]["labels"] |= {names.CREATING: "true", **_ring_label(order)}
    chosen = priority_class(order.spec, order.settings) if order.queue else None
    if chosen is not None:
        made["metadata"]["labels"][names.QUEUE_PRIORITY] = chosen
    made["metadata"]["annotations"] = _annotations(order)
    return made


def _job_spec(order: Order) -> dict[str, Any]:
    """One index per node. An index that fails stays failed and its peers stay, with their logs; a pod that was
    disrupted or left by agreement is replaced, once it is really gone."""
    return {
        "completions": order.spec.nodes,
        "parallelism": order.spec.nodes,
        "completionMode": "Indexed",
        "backoffLimitPerIndex": 0,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                {
                    "action": "Ignore",
                    "onExitCodes": {"containerName": names.MAIN, "operator": "In", "values": [LEFT]},
                },
            ]
        },
        "suspend": True,
        "template": _template(order),
    }


def _template(order: Order) -> dict[str, Any]:
    metadata: dict[str, Any] = {"labels": {**labels(order), **device_labels(order.spec), **_ring_label(order)}}
    if order.ring is not None and order.spec.nodes == 1:
        # Nodes of a larger job are numbered by the controller: all pods of a Job are made from one template.
        metadata["annotations"] = {names.RANK_INDEX: "0"}
    return {"metadata": metadata, "spec": pod_spec(order)}


def _ring_label(order: Order) -> dict[str, str]:
    return {} if order.ring is None else {names.RING: order.ring}


def _annotations(order: Order) -> dict[str, str]:
    return {
        names.EXACT_OWNER: order.person.owner,
        names.INTENT: "run",
        names.SHORT: _json(short_spec(order)),
        names.HASH: order.fingerprint,
        names.NOTES: _json(_few(order.reading.notes)),
        names.ATTEMPT: str(order.attempt),
        names.USED: f"{order.used_seconds:.3f}",
    }


def short_spec(order: Order) -> dict[str, Any]:
    """As much of the spec as lists and the picture of a job need; the whole is in the ConfigMap."""
    spec = order.spec
    keys = (
        "name", "kind", "device", "devices", "nodes", "image", "queue", "priority", "script", "processes",
        "memory_gb", "grace_seconds", "max_hours", "max_restarts",
    )  # fmt: skip
    short = {key: getattr(spec, key) for key in keys} | ({"preemptible": True} if spec.preemptible else {})
    return short if spec.command is None else {**short, "command": True}


def _few(notes: list[str]) -> list[str]:
    kept: list[str] = []
    for note in notes:
        if sum(len(one) for one in kept) + len(note) > LARGEST_NOTES // 4:  # a character has up to four bytes
            return [*kept, f"There are {len(notes) - len(kept)} more notes like these."]
        kept.append(note)
    return kept


# -- what belongs to it --------------------------------------------------------------------------------------------


def _service(order: Order) -> dict[str, Any]:
    """Names for the pods, from the moment they exist: launchers look for each other before they are ready."""
    ports = {names.LAUNCHER_PORT_NAME: order.ports.launcher, names.MEETING_PORT_NAME: order.ports.meeting}
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {names.JOB_NAME: order.name},
        "ports": [{"name": name, "port": port, "protocol": "TCP"} for name, port in ports.items()],
    }
    return _object(order, "v1", "Service", spec=spec)


def _config(order: Order) -> dict[str, Any]:
    binary = {names.LAUNCHER_ZIP: _base64(launcher_zip())}
    if order.shipment.zip is not None:
        binary[names.CODE_ZIP] = _base64(order.shipment.zip)
    return _object(order, "v1", "ConfigMap", data=texts(order), binaryData=binary)


@cache
def launcher_zip() -> bytes:
    """The launcher as it is installed beside this server; read once."""
    return pack()


def texts(order: Order) -> dict[str, str]:
    """The ConfigMap's files that are text: the spec to read back, the plan, and which attempt this is."""
    spec = {
        "schema": 1,
        "spec": order.spec,
        "given": order.given,
        "notes": order.reading.notes,
        "caller": {"owner": order.person.owner},
    }
    return {
        names.SPEC_FILE: _json(spec),
        names.PLAN_FILE: _json(plan_of(order)),
        names.ATTEMPT_FILE: _json({"attempt": order.attempt, "used_seconds": order.used_seconds}),
    }


def secret_files(order: Order) -> dict[str, str]:
    """The Secret's files: the launchers' token, and the values of secret variables where there are any."""
    files = {names.TOKEN_FILE: order.token}
    if order.spec.secret_env:
        kept = {name: order.reading.secrets.get(name, "") for name in order.spec.secret_env}
        files[names.SECRETS_FILE] = _json(kept)
    return files


def _secret(order: Order) -> dict[str, Any]:
    content = {name: _base64(text.encode()) for name, text in secret_files(order).items()}
    return _object(order, "v1", "Secret", type="Opaque", data=content)


def _pull_secret(order: Order, login: PullSecret) -> dict[str, Any]:
    pair = _base64(f"{login.username}:{login.password}".encode())
    auth = {"username": login.username, "password": login.password, "auth": pair}
    content = _json({"auths": {login.registry: auth}})
    made = _object(order, "v1", "Secret", type="kubernetes.io/dockerconfigjson")
    made["metadata"]["name"] = names.pull_secret_name(order.name)
    return {**made, "data": {".dockerconfigjson": _base64(content.encode())}}


def _ring(order: Order) -> dict[str, Any]:
    """The rank table as a controller wants to find it: begun, and for it to fill."""
    made = _object(order, "v1", "ConfigMap", data={names.RING_FILE: '{"status":"initializing"}'})
    made["metadata"]["name"] = names.ring_name(order.name)
    made["metadata"]["labels"] |= _ring_label(order)
    return made


def config_size(order: Order) -> int:
    """How many bytes the ConfigMap will hold."""
    described = sum(len(text.encode()) for text in texts(order).values())
    return described + len(launcher_zip()) + len(order.shipment.zip or b"")


def secret_size(order: Order) -> int:
    """How many bytes the Secret will hold."""
    return sum(len(text.encode()) for text in secret_files(order).values())


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
