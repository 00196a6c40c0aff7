"""The objects of a run as a text for `kubectl apply`: to read, to keep, or to run without this software."""

from __future__ import annotations

import json
from typing import Any

from msgspec import structs

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.manifest import objects, release, secret_files
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.model.secrecy import PullSecret


def kubectl_yaml(order: Order) -> str:
    """What `kubectl apply --server-side -f` makes the same run from; values of secrets are left empty.

    The order should have an id and a token of its own: applied beside the job it was copied from, it is another one.
    What is made this way does not belong to its Job, so it carries the same labels, and goes with
    `kubectl delete -f`.
    """
    import yaml  # 20 ms that no submission needs

    hollow = structs.replace(order, reading=_without_secrets(order))
    made = objects(hollow)
    documents = [_readable(one, hollow) for one in made.dependents] + [_released(made.job, hollow)]
    text = yaml.safe_dump_all(documents, allow_unicode=True, sort_keys=False, width=10_000)
    return "".join(f"# {line}\n" for line in _head(order)) + text


def _without_secrets(order: Order) -> Any:
    login = order.reading.pull_secret
    hollow = None if login is None else PullSecret(registry=login.registry, username=login.username, password="")
    return structs.replace(order.reading, secrets={}, pull_secret=hollow)


def _head(order: Order) -> list[str]:
    """What a person should know before applying it. One line each: a name may hold anything but a line break."""
    lines = [f"The job {order.spec.name!a}. Run it with: kubectl apply --server-side -f FILE"]
    if order.spec.secret_env:
        lines.append(f"Write the values of {', '.join(order.spec.secret_env)} into {names.SECRETS_FILE} first.")
    if order.reading.pull_secret is not None:
        lines.append(f"Write the password for {order.reading.pull_secret.registry!a} into the pull secret first.")
    return lines


def _readable(made: dict[str, Any], hollow: Order) -> dict[str, Any]:
    """A Secret with its values as text, so that a person can fill them in."""
    if made["kind"] != "Secret":
        return made
    rest = {key: value for key, value in made.items() if key != "data"}
    if made["type"] == "Opaque":
        return {**rest, "stringData": secret_files(hollow)}
    login = hollow.reading.pull_secret
    assert login is not None  # it is what this Secret was made from
    auth = {login.registry: {"username": login.username, "password": ""}}
    return {**rest, "stringData": {".dockerconfigjson": json.dumps({"auths": auth})}}


def _released(job: dict[str, Any], order: Order) -> dict[str, Any]:
    """The Job as it is after `release`."""
    patch = release(order)
    marks = {**job["metadata"]["labels"], **patch["metadata"]["labels"]}
    labels = {name: value for name, value in marks.items() if value is not None}
    spec = {**job["spec"], **patch.get("spec", {})}
    return {**job, "metadata": {**job["metadata"], "labels": labels}, "spec": spec}
