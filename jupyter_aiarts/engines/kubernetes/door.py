"""How a mirror reaches a pod: what is known of the pod, the way through the API server, and threads for its files."""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.paths import pod_log, pod_proxy
from jupyter_aiarts.engines.kubernetes.refusals import Refused
from jupyter_aiarts.errors import AiartsError

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from jupyter_aiarts.engines.kubernetes.objects import JobObject
    from jupyter_aiarts.engines.kubernetes.seen import Pod
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.engines.local.records import NodeStatus
    from jupyter_aiarts.model.spec import JobSpec

T = TypeVar("T")
TokenSource = Callable[[str, str], Awaitable[str]]
"""The launcher's token from a namespace's Secret; empty where there is none."""

Heard = Callable[["PodFacts", "NodeStatus"], None]
"""Told in the loop what a pod's launcher says of itself, whenever that changes."""

TOKEN_HEADER = "X-Aiarts-Token"


class PodFacts(Struct, frozen=True, kw_only=True):
    """One pod of a run, as far as its log is concerned."""

    namespace: str
    job: str
    run: int
    node: int  # its index in the run
    name: str
    uid: str = ""
    phase: str = "Running"
    port: int = names.PORT
    secret: str = ""  # the Secret that holds the launcher's token
    attempt: int = 1
    created: str = ""
    job_uid: str = ""  # of the Job object: the log of another one with the same id is not continued
    ranks: tuple[int, ...] = ()  # of this node; empty when nobody knows
    has_run: bool = True  # its container has begun; without that there is no log
    lasting: bool = False  # the launcher's folder outlives the pod, so the next pod's launcher continues its log

    @property
    def key(self) -> str:
        """What tells this pod from the one it replaces; the pods of an Indexed Job have names of their own."""
        return self.uid or self.name

    @property
    def is_over(self) -> bool:
        """Whether its containers have ended for good."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_up(self) -> bool:
        """Whether its launcher may answer."""
        return self.phase == "Running"

    @property
    def has_log(self) -> bool:
        """Whether there is something to mirror now."""
        return self.is_up or (self.is_over and self.has_run)

    def at_launcher(self, path: str) -> str:
        """A path of its launcher's port, by way of the API server."""
        return pod_proxy(self.namespace, self.name, self.port, path)

    def at_kubelet(self) -> str:
        """Where the kubelet's copy of its log is."""
        return pod_log(self.namespace, self.name)


def pod_facts(job: JobObject, spec: JobSpec, pods: Iterable[Pod], settings: ClusterSettings) -> list[PodFacts]:
    """The pods of a run as the archive wants to know them; `spec` is the job's, whose shape its runs share mostly."""
    each = max(spec.devices, 1) if spec.processes == "card" else 1
    port = names.drawn_ports(job.job_id, job.run)[0] if settings.profile(spec.device).host_network else names.PORT
    return [
        PodFacts(
            namespace=job.namespace,
            job=job.job_id,
            run=job.run,
            node=pod.index,
            name=pod.name,
            phase=pod.phase,
            port=port,
            secret=job.name,
            attempt=job.attempt,
            created=pod.created,
            job_uid=job.uid,
            ranks=tuple(range(pod.index * each, (pod.index + 1) * each)),
            has_run=pod.started is not None,
            lasting=settings.log_mount is not None,
        )
        for pod in pods
    ]


class Streams(Protocol):
    """What is needed of the cluster's client: `client.Api` has it."""

    def stream(
        self, path: str, headers: Mapping[str, str] | None = None, quiet: float | None = None, **params: Any
    ) -> AbstractAsyncContextManager[ClientResponse]: ...


class Unanswered(Exception):
    """No stream, or one that broke; `http` is the cluster's status, 0 where there was no answer at all."""

    def __init__(self, http: int, message: str, is_garbled: bool = False) -> None:
        super().__init__(message.rstrip("."))
        self.http = http
        self.is_garbled = is_garbled


class DiskTrouble(Exception):
    """The archive's disk refused; never mixed up with a network's `OSError`."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.strerror or str(error))
        # The folder itself went away: its job was deleted.
        self.is_vanished = error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)


class Door:
    """What all mirrors of an archive share: the cluster, who may connect now, and the threads for files."""

    def __init__(
        self, api: Streams, token: TokenSource, threads: Executor, connecting: int, heard: Heard = lambda *_: None
    ) -> None:
        self._api, self._token, self._threads = api, token, threads
        self.heard = heard
        self._gate = asyncio.Semaphore(connecting)

    async def files(self, work: Callable[..., T], *args: Any) -> T:
        """Run file work in a thread; raises `DiskTrouble` for its `OSError`.

        When cancelled it waits for the thread first, so that nobody closes files under it.
        """
        future = asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*args))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise
        except OSError as error:
            raise DiskTrouble(error) from error

    @contextlib.asynccontextmanager
    async def launcher(self, pod: PodFacts, token: str, path: str, **params: str) -> AsyncIterator[ClientResponse]:
        """An answer of a pod's launcher; raises `Unanswered`."""
        async with self._open(pod.at_launcher(path), {TOKEN_HEADER: token}, params) as response:
            yield response

    @contextlib.asynccontextmanager
    async def kubelet(self, pod: PodFacts, **params: str) -> AsyncIterator[ClientResponse]:
        """The kubelet's copy of a pod's log; raises `Unanswered`."""
        query = {"container": names.MAIN, "timestamps": "true", **params}
        async with self._open(pod.at_kubelet(), {}, query) as response:
            yield response

    @contextlib.asynccontextmanager
    async def _open(
        self, path: str, headers: Mapping[str, str], params: dict[str, Any]
    ) -> AsyncIterator[ClientResponse]:
        """Few connect at once, all may listen."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with self._gate:
                    response = await stack.enter_async_context(self._api.stream(path, headers, **params))
                yield response
        except Refused as error:
            raise Unanswered(error.http, error.message) from error
        except AiartsError as error:
            raise Unanswered(0, str(error)) from error
        except (asyncio.TimeoutError, OSError) as error:
            raise Unanswered(0, str(error) or "nothing came any more") from error

    async def token(self, pod: PodFacts) -> str:
        """What opens a launcher's port; raises `Unanswered`."""
        try:
            found = await self._token(pod.namespace, pod.secret)
        except Refused as error:
            raise Unanswered(error.http, f"its token cannot be read ({error.message.rstrip('.')})") from error
        except AiartsError as error:
            raise Unanswered(0, str(error)) from error
        if not found:
            raise Unanswered(0, f"there is no token in the Secret {pod.secret}")
        return found
