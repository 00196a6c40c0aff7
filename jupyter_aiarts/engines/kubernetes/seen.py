"""What the picture keeps of a pod, a workload and a warning: `objects.py` decodes them, these are boiled down.

There may be ten thousand pods: a field here costs 80 KB.
"""

from __future__ import annotations

from msgspec import Struct


class Condition(Struct, gc=False, rename="camel"):
    """One condition of any kind of object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None


def holding(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    """The condition of this type, if it holds."""
    return next((one for one in conditions if one.type == kind and one.status == "True"), None)


class Trouble(Struct, gc=False, frozen=True, kw_only=True):
    """What is not as usual with a pod; a pod that runs or ended well has none."""

    reason: str | None = None  # the pod's own: Evicted, UnexpectedAdmissionError …
    message: str | None = None
    unscheduled: str | None = None  # the scheduler's sentence
    disrupted: str | None = None  # the reason of DisruptionTarget
    disruption: str | None = None  # and its sentence
    unreachable: bool = False  # its containers are ready and it is not: its node stopped reporting
    waiting: str | None = None  # the reason a container waits
    waiting_message: str | None = None
    container: str | None = None  # why a container ended: OOMKilled, StartError, Error …
    container_message: str | None = None
    unstarted: bool = False  # all its containers still wait for their first start, and nothing says why


class Pod(Struct, gc=False, frozen=True, kw_only=True):
    """One pod of a run."""

    name: str
    index: int  # which node of the job it is
    phase: str
    node: str | None = None  # the machine's name
    created: str = ""
    deleted: str | None = None  # when it should be gone, once its deletion was asked for
    started: str | None = None  # of the launcher's container, as is all that follows
    ended: str | None = None
    exit_code: int | None = None
    message: str | None = None  # its last words
    trouble: Trouble | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing of it runs any more, for good."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_up(self) -> bool:
        """Whether its launcher runs, on a node that reports."""
        lost = self.trouble is not None and self.trouble.unreachable
        return self.started is not None and self.ended is None and self.deleted is None and not lost


class Notice(Struct, gc=False, frozen=True, kw_only=True):
    """One warning about a Job or a pod."""

    name: str
    about: str
    kind: str
    reason: str
    message: str
    at: str


class Workload(Struct, gc=False, frozen=True, kw_only=True):
    """What Kueue says about a Job."""

    name: str
    queue: str | None
    active: bool
    conditions: tuple[Condition, ...] = ()
    priority: int | None = None

    def condition(self, kind: str) -> Condition | None:
        """The condition of this type, whether it holds or not."""
        return next((one for one in self.conditions if one.type == kind), None)
