"""The API server, asked as directly as possible: JSON, decoded by msgspec straight into small Structs.

Every failure is an error of this package: `Refused` and its kinds where the cluster answered, `ClusterUnreachable`
where it did not.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from jupyter_aiarts.engines.kubernetes.credentials import Credentials
from jupyter_aiarts.engines.kubernetes.listing import remembered, texts
from jupyter_aiarts.engines.kubernetes.meta import Listed
from jupyter_aiarts.engines.kubernetes.paths import (
    KUEUE,
    KUEUE_VERSION,
    configmaps,
    events,
    group,
    jobs,
    localqueues,
    pod_log,
    pod_proxy,
    pods,
    secrets,
    services,
    workloads,
)
from jupyter_aiarts.engines.kubernetes.refusals import (
    Busy,
    Contradicted,
    Expired,
    Forbidden,
    Missing,
    Refused,
    Unwell,
    read_status,
    refusal,
)
from jupyter_aiarts.engines.kubernetes.transport import Transport
from jupyter_aiarts.errors import ClusterUnreachable

if TYPE_CHECKING:
    from aiohttp import ClientResponse

    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings

__all__ = [
    "Api", "Busy", "Contradicted", "Delta", "Expired", "Forbidden", "Missing", "Page", "Refused", "Unwell",
    "configmaps", "events", "jobs", "localqueues", "pod_log", "pod_proxy", "pods", "secrets", "services", "workloads",
]  # fmt: skip

T = TypeVar("T")
Param = str | int | float

_JSON = "application/json"
_PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
}


class HasVersion(Protocol):
    """What `watch` has to know of a decoded object."""

    @property
    def metadata(self) -> Any: ...


V = TypeVar("V", bound=HasVersion)


class Page(Struct, Generic[T]):
    """Some objects of a list; `version` is where a watch goes on after all of them."""

    items: list[T]
    version: str


class Delta(Struct, Generic[T]):
    """One step of a watch: ADDED, MODIFIED or DELETED with its object; OPENED at first and BOOKMARK with none."""

    kind: str
    object: T | None
    version: str


class _Line(Struct):
    type: str
    object: msgspec.Raw


class _Bookmark(Struct):
    metadata: dict[str, Any]


class _Version(Struct):
    version: str = ""


class _Group(Struct):
    versions: tuple[_Version, ...] = ()


class Api:
    """One cluster's API server, as one user. Made by `open`; nothing is asked before somebody wants something."""

    def __init__(self, name: str, credentials: Credentials) -> None:
        self.name = name
        self.kueue = KUEUE_VERSION  # the version of Kueue's objects that jobs go by; see `find_kueue`
        self._credentials = credentials
        self._transport = Transport(name, credentials)

    @classmethod
    async def open(cls, settings: ClusterSettings) -> Api:
        """The API of a configured cluster; one that is away, or without credentials yet, says so when asked."""
        api = cls(settings.name, Credentials(settings))
        with contextlib.suppress(ClusterUnreachable):
            await api.ready()
        return api

    async def ready(self) -> None:
        """Have credentials; raises `ClusterUnreachable` where there are none."""
        await self._credentials.current()

    @property
    def namespace(self) -> str:
        """The namespace that the credentials name; `default` as long as there are none."""
        known = self._credentials.known
        return known.namespace if known is not None else "default"

    @property
    def lead(self) -> float:
        """How many seconds the API server's clock is ahead of ours, as its last answer said."""
        return self._transport.lead

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    # -- requests --------------------------------------------------------------------------------------------------

    async def raw(self, path: str, **params: Param) -> bytes:
        """The body of an answer, as it is."""
        async with self._transport.send("GET", path, params) as response:
            return await response.read()

    async def get(self, path: str, type: type[T], **params: Param) -> T:
        """One object."""
        return self._decode(await self.raw(path, **params), msgspec.json.Decoder(type))

    async def served(self, name: str) -> tuple[str, ...]:
        """The versions of a group of kinds that this API server has; none where nobody serves the group."""
        try:
            return tuple(one.version for one in (await self.get(group(name), _Group)).versions)
        except Missing:
            return ()

    async def find_kueue(self) -> None:
        """Go by a version of Kueue's objects that is there; what cannot be found out stays as it is."""
        with contextlib.suppress(Refused, ClusterUnreachable):
            there = await self.served(KUEUE)
            self.kueue = self.kueue if self.kueue in there or not there else there[0]

    # A default for a type variable has no type that fits every variable.
    async def create(self, path: str, body: Any, type: type[T] = dict, *, dry_run: bool = False) -> T:  # type: ignore[assignment]
        """Make an object below `path`; with `dry_run` everything but that."""
        return await self._write("POST", path, body, type, _JSON, dry_run)

    async def patch(
        self,
        path: str,
        body: Any,
        type: type[T] = dict,  # type: ignore[assignment]
        *,
        kind: str = "merge",
        dry_run: bool = False,
    ) -> T:
        """Change an object by a merge, strategic or json patch."""
        return await self._write("PATCH", path, body, type, _PATCHES[kind], dry_run)

    async def delete(
        self, path: str, *, propagation: str = "Background", grace: int | None = None, uid: str | None = None
    ) -> None:
        """Remove an object, and what belongs to it by `propagation`; with `uid` only if it is still that one."""
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        await self._write("DELETE", path, body, msgspec.Raw, _JSON, False)

    async def _write(self, method: str, path: str, body: Any, type: type[T], content: str, dry_run: bool) -> T:
        headers = {"Content-Type": content}
        params = {"dryRun": "All"} if dry_run else {}
        sent = msgspec.json.encode(body)
        async with self._transport.send(method, path, params, body=sent, headers=headers) as response:
            return self._decode(await response.read(), msgspec.json.Decoder(type))

    async def pages(
        self, path: str, item: type[T], *, from_memory: bool = False, **params: Param
    ) -> AsyncIterator[Page[T]]:
        """A list, page by page, so that neither memory nor the event loop feels its size.

        `from_memory` is cheaper and quicker where it is long: as the API server last heard, for who watches from there.
        """
        decoder: msgspec.json.Decoder[Listed[T]] = msgspec.json.Decoder(Listed[item])  # type: ignore[valid-type]
        source = remembered if from_memory else texts
        async with contextlib.aclosing(source(self._transport, path, params)) as bodies:
            async for body in bodies:
                page = self._decode(body, decoder)
                del body  # while the page is looked at, its text need not be kept
                yield Page(page.items, page.metadata.resource_version)

    @contextlib.asynccontextmanager
    async def stream(
        self, path: str, headers: Mapping[str, str] | None = None, quiet: float | None = None, **params: Param
    ) -> AsyncIterator[ClientResponse]:
        """An answer to be read as it comes; `quiet` is how long it may be silent, for ever by default."""
        async with self._transport.send("GET", path, params, headers=headers, quiet=quiet, lasting=True) as response:
            yield response

    # -- watches ---------------------------------------------------------------------------------------------------

    async def watch(self, path: str, item: type[V], version: str, **params: Param) -> AsyncGenerator[Delta[V], None]:
        """What happens after `version`, until the server ends it, as it does now and then.

        Raises `Expired` when that is too long ago. A connection that died without a word is noticed within 45 s:
        by pings, for which a websocket is used, or, where that is not let through, by watches that are short.
        """
        asked = {**params, "watch": "1", "allowWatchBookmarks": "true", "resourceVersion": version}
        decoder = msgspec.json.Decoder(item)
        async with contextlib.aclosing(self._transport.lines(path, asked)) as lines:
            async for line in lines:
                yield self._delta(line, decoder) if line else Delta("OPENED", None, version)

    def _delta(self, line: str | bytes, decoder: msgspec.json.Decoder[V]) -> Delta[V]:
        try:
            said = msgspec.json.decode(line, type=_Line)
            if said.type == "ERROR":
                raise refusal(read_status(bytes(said.object)).code or 500, bytes(said.object))
            if said.type == "BOOKMARK":
                mark = msgspec.json.decode(said.object, type=_Bookmark)
                return Delta(said.type, None, str(mark.metadata.get("resourceVersion", "")))
            found = decoder.decode(said.object)
        except msgspec.DecodeError as error:
            raise self._strange(error) from error
        return Delta(said.type, found, found.metadata.resource_version)

    def _decode(self, body: bytes, decoder: msgspec.json.Decoder[T]) -> T:
        try:
            return decoder.decode(body)
        except msgspec.DecodeError as error:
            raise self._strange(error) from error

    def _strange(self, error: msgspec.DecodeError) -> ClusterUnreachable:
        return ClusterUnreachable(
            f"What answers for the cluster “{self.name}” does not speak as an API server does: {error}.",
            "Check the server's address in the kubeconfig, and what stands between it and here.",
        )
