"""Who took the place of a job where the scheduler decides and not Kueue: it tells so in an event, and nowhere else.

The event is no warning, so it is not among those that are watched. From the moment on that a job is seen to have lost
its place, events of this one reason are watched for a while; otherwise nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes import paths
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.looking import Looking
from jupyter_aiarts.engines.kubernetes.meta import Meta
from jupyter_aiarts.engines.kubernetes.watch import Kind


class _About(Struct, gc=False):
    namespace: str = ""
    name: str = ""


class TakenEvent(Struct, gc=False, rename="camel"):
    """The scheduler's event about a pod that lost its place; `related` is the pod that it was taken for."""

    metadata: Meta
    involved_object: _About = field(default_factory=_About)
    related: _About | None = None
    message: str | None = None


KIND = Kind("preemptions", paths.events, TakenEvent, {"fieldSelector": "reason=Preempted"}, False)


class Takers:
    """Looks for the events for a while, and tells of each."""

    def __init__(self, api: Api, namespaces: tuple[str, ...], told: Callable[[TakenEvent], None]) -> None:
        self._told = told
        self._looking = Looking(api, (KIND,), namespaces, lambda: self, lambda: None)

    async def look(self) -> None:
        """Watch for them from now on, for a while: the event may come a moment after the pod was told to go."""
        await self._looking.look()

    async def aclose(self) -> None:
        """End all watches."""
        await self._looking.aclose()

    # -- what a look paints --------------------------------------------------------------------------------------

    def apply(self, kind: str, type: str, found: TakenEvent) -> None:
        """One event as it is now, or was when it was DELETED, which happens to all of them after an hour."""
        if type != "DELETED":
            self._told(found)

    def keep_only(self, kind: str, namespace: str, names: Collection[str]) -> None:
        """Nothing: what was told once stays true."""
