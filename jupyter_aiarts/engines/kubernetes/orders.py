"""From what somebody wants to run to an order: where it goes, what it is made of, what the cluster says against it."""

from __future__ import annotations

import asyncio
import grp
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes import kept, manifest
from jupyter_aiarts.engines.kubernetes.checks import Prepared, prepare
from jupyter_aiarts.engines.kubernetes.client import Forbidden, Missing, Refused, localqueues, pods
from jupyter_aiarts.engines.kubernetes.order import Order, PodSecurity
from jupyter_aiarts.engines.kubernetes.policies import policy_cause
from jupyter_aiarts.engines.kubernetes.recall import Recalled, recall_with_secrets
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings, person
from jupyter_aiarts.engines.kubernetes.storage import fill_in
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.reading import Reading, fingerprint
from jupyter_aiarts.model.wording import worded

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.objects import JobObject
    from jupyter_aiarts.engines.kubernetes.storage import Person

RESTRICTED = 'violates PodSecurity "restricted'
POLICY = "violates PodSecurity"
QUOTA = "exceeded quota"


class Place(Struct, frozen=True):
    """Where a run goes: a namespace, and a Kueue queue in it where one is meant."""

    namespace: str
    queue: str | None = None


class Tried(Struct, frozen=True):
    """An order in the form that its namespace accepts, or why it would accept none."""

    order: Order
    refused: Cause | None = None


class Orders:
    """Makes orders for one cluster; called by the engine's `submit`, `edit`, `act` and `fits`."""

    def __init__(self, api: Api, settings: ClusterSettings, namespaces: tuple[str, ...]) -> None:
        self._api = api
        self._settings = settings
        self._namespaces = namespaces

    async def place(self, queue: str | None) -> Place:
        """Where a job of this queue belongs; raises `InvalidSpec` for one that is nowhere."""
        if queue is None:
            return Place(self._namespaces[0])
        if queue in self._namespaces:
            return Place(queue)
        for namespace in self._namespaces:
            if await self._has_queue(namespace, queue):
                return Place(namespace, queue)
        known = ", ".join(self._namespaces)
        message = worded(
            "{cluster} has no queue {queue}: it is neither a LocalQueue nor one of {known}.",
            cluster=self._settings.name,
            queue=repr(queue),
            known=known,
        )
        raise InvalidSpec([{"key": "queue", "message": message}])

    async def _has_queue(self, namespace: str, queue: str) -> bool:
        try:
            await self._api.raw(localqueues(namespace, queue, self._api.kueue))
        except (Missing, Forbidden):  # the same to us: it cannot be used
            return False
        return True

    async def fresh(self, reading: Reading, folder: Path, owner: str, job_id: str, place: Place) -> Order:
        """The order for a new job; raises `InvalidSpec` with everything that is wrong with it here."""
        prepared = await asyncio.to_thread(prepare, reading, folder, self._settings, self._person(owner))
        return self._order(prepared, owner, job_id, 1, place, fingerprint(reading))

    async def again(self, job: JobObject, run: int) -> Order:
        """The order for the next run of a job, from what its last one left in the cluster."""
        found, reading = await recall_with_secrets(self._api, job)
        prepared = await asyncio.to_thread(self._prepare_again, reading, job.owner, found)
        place = await self.place(reading.spec.queue)
        return self._order(prepared, job.owner, job.job_id, run, place, job.fingerprint)

    def _prepare_again(self, reading: Reading, owner: str, found: Recalled) -> Prepared:
        """With the code as it is now, where it is still here; else with that of the last run, if it is still meant."""
        folder = Path(reading.spec.workdir or "/")
        script = folder / os.path.expanduser(reading.spec.script or "")
        here = reading.spec.script is None or script.is_file()
        same = None if here or not same_start(found) else kept.same_code(found.config)
        return prepare(reading, folder, self._settings, self._person(owner), same_code=same)

    def log_path(self, owner: str) -> Path | None:
        """Where this server sees the folders that an owner's launchers write logs to; None where it does not."""
        mount = self._settings.log_mount
        if mount is None or mount.path is None:
            return None
        try:
            return Path(fill_in(mount.path, self._person(owner)))
        except ValueError:
            return None  # an owner without a name that can be part of a path has no such folder

    def _person(self, owner: str) -> Person:
        return person_here(self._settings, owner)

    def _order(self, prepared: Prepared, owner: str, job_id: str, run: int, place: Place, asked: str) -> Order:
        return Order(
            settings=self._settings,
            reading=prepared.reading,
            shipment=prepared.shipment,
            person=self._person(owner),
            namespace=place.namespace,
            job_id=job_id,
            run=run,
            token=secrets.token_hex(32),
            queue=place.queue,
            fingerprint=asked,
        )

    async def try_out(self, order: Order) -> Tried:
        """Try the run's pod on the API server without making it; the first form that is accepted is taken.

        Admission says here what it would say to the Job's controller later, when nobody listens: policies, quotas,
        webhooks.
        """
        forms: tuple[PodSecurity, ...] = ("baseline", "restricted")
        for form in forms:
            tried = structs.replace(order, pod_security=form)
            try:
                await self._api.create(pods(order.namespace), manifest.pod(tried), dry_run=True)
                return Tried(tried)
            except Refused as error:
                if RESTRICTED not in error.message or form == "restricted":
                    return Tried(tried, _refusal(error))
        raise AssertionError("the last form is accepted or refused")


def person_here(settings: ClusterSettings, owner: str) -> Person:
    """Who an owner is for this server."""
    gid = os.getgid()
    return person(settings, owner, os.getuid(), gid, _group_name(gid))


def same_start(found: Recalled) -> bool:
    """Whether the next run starts what the last one started, from the same place."""
    return all(getattr(found.now.spec, key) == getattr(found.next.spec, key) for key in ("script", "workdir", "mounts"))


def _refusal(error: Refused) -> Cause | None:
    """What a dry run's no means for the job; None where only the dry run itself is not allowed, or failed."""
    if QUOTA in error.message:
        return Cause(code="quota-exceeded", evidence=(error.message,))
    is_rule = error.http == 403 and "cannot create resource" not in error.message
    if POLICY in error.message or error.http in (400, 422) or is_rule:
        return policy_cause(error.message)
    return None


def _group_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""
