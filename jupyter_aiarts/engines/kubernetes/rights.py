"""What this user may do in a cluster, asked beforehand, and who that is.

A refusal is said before anything is tried, with what to ask the admin for. A yes is kept for a minute, so a busy page
costs nothing; a no for seconds, for whoever was just given a right tries again at once, and an API server that has
just started refuses everybody until it has read its roles.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from msgspec import Struct, field

from jupyter_aiarts.errors import NotAllowed

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings

KEPT = 60.0  # seconds that a yes, and a name, are kept
KEPT_NO = 3.0
_REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_ROLE = "aiarts-user"


class _Verdict(Struct):
    allowed: bool = False


class _Review(Struct):
    status: _Verdict = field(default_factory=_Verdict)


class _UserInfo(Struct):
    username: str = ""


class _Who(Struct, rename="camel"):
    user_info: _UserInfo = field(default_factory=_UserInfo)


class _Self(Struct):
    status: _Who = field(default_factory=_Who)


class Question(Struct, frozen=True):
    """Something one may be allowed to do."""

    verb: str
    resource: str
    namespace: str
    group: str = ""
    subresource: str = ""

    @property
    def what(self) -> str:
        """The thing in words that an admin puts into a role."""
        whole = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{whole}.{self.group}" if self.group else whole


class Rights:
    """The rights of the user that an `Api` speaks for."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[Question, tuple[float, bool]] = {}
        self._name: tuple[float, str] | None = None

    async def may(self, verb: str, resource: str, namespace: str, group: str = "", subresource: str = "") -> bool:
        """Whether this is allowed now."""
        question = Question(verb, resource, namespace, group, subresource)
        asked, allowed = self._known.get(question, (float("-inf"), False))
        if time.monotonic() - asked > (KEPT if allowed else KEPT_NO):
            allowed = await self._ask(question)
            self._known[question] = (time.monotonic(), allowed)
        return allowed

    async def require(self, verb: str, resource: str, namespace: str, group: str = "", subresource: str = "") -> None:
        """Raise `NotAllowed`, saying who may not do what where and what to ask for, unless it is allowed."""
        if await self.may(verb, resource, namespace, group, subresource):
            return
        what = Question(verb, resource, namespace, group, subresource).what
        raise NotAllowed(
            f"The user “{await self.whoami()}” may not {verb} {what} in the namespace “{namespace}” "
            f"of the cluster “{self._api.name}”.",
            f"Ask its admin for the role {_ROLE} in “{namespace}”, or at least for {verb} on {what}.",
        )

    async def whoami(self) -> str:
        """The name the cluster knows this user by."""
        if self._name is None or time.monotonic() - self._name[0] > KEPT:
            body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
            found = await self._api.create(_WHO, body, _Self)
            self._name = (time.monotonic(), found.status.user_info.username)
        return self._name[1]

    def forget(self) -> None:
        """Ask anew: something that should have been allowed was refused."""
        self._known.clear()
        self._name = None

    async def _ask(self, question: Question) -> bool:
        attributes = {key: value for key in Question.__struct_fields__ if (value := getattr(question, key))}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        return (await self._api.create(_REVIEW, body, _Review)).status.allowed


def hub_user(settings: ClusterSettings) -> str | None:
    """Whom jobs belong to where the admin wants the hub's users, and the hub says who this is."""
    return os.environ.get("JUPYTERHUB_USER") if settings.owner_from == "hub" else None
