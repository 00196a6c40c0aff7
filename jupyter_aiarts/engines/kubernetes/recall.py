"""Fetching what the objects of a run hold: its spec, what its owner named, its secrets, what the next run is to be.

Asked for when a job is shown whole, edited or run again; never for a list. `kept.py` reads what is fetched.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes import kept, names
from jupyter_aiarts.engines.kubernetes.client import Missing, configmaps, secrets
from jupyter_aiarts.errors import JobUnreadable

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.objects import JobObject
    from jupyter_aiarts.model.reading import Reading

NEXT_FILE = "next.json"
"""Beside `spec.json`: the spec that the next run uses, once its owner changed it."""

NEXT_SECRETS = "next_secret_env.json"
"""Beside `secret_env.json`: the values that go with it."""


class Recalled(Struct, frozen=True, kw_only=True):
    """A run's ConfigMap, what it ran with, and what the next run is to have; without the values of secrets."""

    config: dict[str, Any]
    now: Reading
    next: Reading

    @property
    def was_edited(self) -> bool:
        return NEXT_FILE in (self.config.get("data") or {})


async def recall(api: Api, job: JobObject) -> Recalled:
    """What was kept of a run; raises `JobUnreadable` where it is gone or damaged."""
    try:
        config = await api.get(configmaps(job.namespace, job.name), dict)
    except Missing as error:
        raise JobUnreadable(
            f"The spec of job {job.job_id} is gone from the cluster: it has no ConfigMap {job.name} any more.",
            "Delete the job and submit it anew.",
        ) from error
    now = kept.read_back(config)
    later = (config.get("data") or {}).get(NEXT_FILE)
    return Recalled(config=config, now=now, next=kept.read_spec_file(later) if later else now)


async def recall_with_secrets(api: Api, job: JobObject) -> tuple[Recalled, Reading]:
    """The same, and the next run's reading with the values of its secrets and its registry login."""
    found = await recall(api, job)
    secret = await _fetch(api, job.namespace, job.name)
    pull = None
    if found.next.spec.image_pull_secret == names.pull_secret_name(job.name):
        pull = await _fetch(api, job.namespace, names.pull_secret_name(job.name))
    whole = structs.replace(found.next, secrets=_values(secret))
    return found, kept.with_login(whole, pull)


async def token(api: Api, namespace: str, secret: str) -> str:
    """The word that lets a reader in at the launcher's port; empty where the Secret is gone."""
    return kept.token_of(await _fetch(api, namespace, secret) or {})


async def keep_next(api: Api, job: JobObject, reading: Reading) -> None:
    """Put an edited spec beside the one that was; secrets first, so that no spec names one without a value."""
    known = _values(await _fetch(api, job.namespace, job.name))
    values = {**known, **reading.secrets}
    wanted = {name: values[name] for name in reading.spec.secret_env if name in values}
    if wanted != known:
        content = base64.b64encode(msgspec.json.encode(wanted)).decode()
        await api.patch(secrets(job.namespace, job.name), {"data": {NEXT_SECRETS: content}})
    later = {"schema": kept.SCHEMA, "spec": reading.spec, "given": reading.given, "notes": reading.notes}
    text = msgspec.json.encode(later).decode()
    await api.patch(configmaps(job.namespace, job.name), {"data": {NEXT_FILE: text}})


async def _fetch(api: Api, namespace: str, name: str) -> dict[str, Any] | None:
    try:
        return await api.get(secrets(namespace, name), dict)
    except Missing:
        return None


def _values(secret: dict[str, Any] | None) -> dict[str, str]:
    """The values for the next run: those of an edit, else those of the last one."""
    data = (secret or {}).get("data") or {}
    if NEXT_SECRETS in data:
        return kept.secret_values({"data": {names.SECRETS_FILE: data[NEXT_SECRETS]}})
    return kept.secret_values({"data": data})
