"""An order: everything that the objects of one run are made from, in one frozen thing.

`submit` makes it; `manifest`, `pod`, `volumes`, `security`, `resources` and `plan` are pure functions of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes.code import Shipment
from jupyter_aiarts.engines.kubernetes.mounts import PodMount, pod_mounts
from jupyter_aiarts.engines.kubernetes.names import (
    MASTER_PORT,
    MEETING_PORT,
    PORT,
    drawn_ports,
    object_name,
    pull_secret_name,
)
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings, DeviceProfile
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.model.placement import has_rings
from jupyter_aiarts.model.reading import Reading
from jupyter_aiarts.model.spec import JobSpec

PodSecurity = Literal["baseline", "restricted"]


class Ports(Struct, frozen=True):
    """Where a run's launchers and its master listen."""

    launcher: int = PORT
    meeting: int = MEETING_PORT
    master: int = MASTER_PORT


class Order(Struct, frozen=True, kw_only=True, dict=True):
    """One run of one job, about to be made. `reading` has been settled and checked (`checks.prepare`)."""

    settings: ClusterSettings
    reading: Reading
    shipment: Shipment
    person: Person
    namespace: str
    job_id: str
    run: int = 1
    token: str
    attempt: int = 1
    used_seconds: float = 0.0
    queue: str | None = None  # a Kueue LocalQueue
    pod_security: PodSecurity = "baseline"
    fingerprint: str = ""

    def __repr__(self) -> str:
        """Without the token and the values of secrets, so that no log or traceback can show them."""
        return f"Order(namespace={self.namespace!r}, job_id={self.job_id!r}, run={self.run!r})"

    @property
    def name(self) -> str:
        """What all objects of the run are called."""
        return object_name(self.reading.spec.name, self.job_id, self.run)

    @cached_property
    def spec(self) -> JobSpec:
        """The spec as it is kept and shown: a registry login has become the name of the pull secret made from it."""
        if self.reading.pull_secret is None:
            return self.reading.spec
        return structs.replace(self.reading.spec, image_pull_secret=pull_secret_name(self.name))

    @property
    def given(self) -> dict[str, Any]:
        """The keys that the owner named, with the same replacement."""
        if self.reading.pull_secret is None:
            return self.reading.given
        return {**self.reading.given, "image_pull_secret": self.spec.image_pull_secret}

    @property
    def profile(self) -> DeviceProfile:
        """What the job's device needs here."""
        return self.settings.profile(self.spec.device)

    @property
    def has_table(self) -> bool:
        """Whether its ranks find each other by a rank table."""
        return has_rings(self.spec.device) and self.spec.devices > 0

    @property
    def ring(self) -> str | None:
        """The label by which the cluster's own controller finds the job, where it makes the rank table."""
        return self.profile.ring_controller if self.has_table else None

    @property
    def ports(self) -> Ports:
        """Fixed ones in a network of the pod's own, drawn ones on the node's."""
        return Ports(*drawn_ports(self.job_id, self.run)) if self.profile.host_network else Ports()

    @cached_property
    def mounts(self) -> tuple[PodMount, ...]:
        """The storage of its pods."""
        return pod_mounts(self.spec, self.settings, self.person).mounts
