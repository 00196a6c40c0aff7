"""What a cluster may answer instead of doing what was asked, as errors of this package.

::

    Refused           (AiartsError)         400  cluster-refused      any other 4xx: an invalid object, a webhook's no
    ├── Forbidden     (NotAllowed)          403  not-allowed          401 and 403
    ├── Missing       (NotFound)            404  not-found
    ├── Contradicted  (Conflict)            409  conflict             it is there already, or changed meanwhile
    ├── Expired       (Conflict)            409  conflict             410: the cluster has forgotten that place
    ├── Busy          (Unavailable)         503  unavailable          429, also after waiting
    └── Unwell        (ClusterUnreachable)  503  cluster-unreachable  5xx
    Silent            (ClusterUnreachable)  503  cluster-unreachable  it answered, and stopped in the middle

A server that did not answer at all is `ClusterUnreachable` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.errors import AiartsError, ClusterUnreachable, Conflict, NotAllowed, NotFound, Unavailable


class Status(Struct):
    """Kubernetes' own account of a refusal."""

    message: str = ""
    reason: str = ""
    code: int = 0
    details: Mapping[str, Any] | None = field(default_factory=dict)


class Refused(AiartsError):
    """The cluster answered, and the answer was no; `http` is its status, `reason` its word for it."""

    status, code = 400, "cluster-refused"

    def __init__(self, http: int, said: Status, hint: str = "", retry_after: float | None = None) -> None:
        self.http = http
        self.reason = said.reason
        self.message = said.message or f"The cluster answered with HTTP status {http}."
        self.details: Mapping[str, Any] = said.details or {}
        self.retry_after = retry_after
        super().__init__(self.message, hint)


class Forbidden(NotAllowed, Refused):
    """The credentials are not accepted, or do not allow this."""


class Missing(NotFound, Refused):
    """There is no such object, or no such kind of object."""


class Contradicted(Conflict, Refused):
    """An object of this name is there, or it is not as the request supposed."""


class Expired(Conflict, Refused):
    """The cluster no longer knows what changed since then; everything has to be read again."""


class Busy(Unavailable, Refused):
    """The cluster has too much to do."""


class Unwell(ClusterUnreachable, Refused):
    """The API server, or something it asked, failed."""


class Silent(ClusterUnreachable):
    """A connection on which nothing came any more, not even the answer to a ping."""


_KINDS: dict[int, type[Refused]] = {
    401: Forbidden,
    403: Forbidden,
    404: Missing,
    409: Contradicted,
    410: Expired,
    429: Busy,
}
_HINTS = {
    401: "The cluster does not accept these credentials (any more): renew them.",
    403: "Ask the admin of the cluster for the role aiarts-user in this namespace.",
    429: "Try again in a moment.",
}


_WEBHOOK = "failed calling webhook"
_WEBHOOK_HINT = (
    "A part of the cluster that has to agree to this, such as Kueue, does not answer. Nothing was changed: try again "
    "in a moment, and tell the admin of the cluster if it lasts."
)


def refusal(http: int, body: bytes, retry_after: float | None = None) -> Refused:
    """The error for an answer that is not a success."""
    kind, said = Unwell if http >= 500 else _KINDS.get(http, Refused), read_status(body)
    hint = _WEBHOOK_HINT if http >= 500 and _WEBHOOK in said.message else _HINTS.get(http, "")
    return kind(http, said, hint, retry_after)


def read_status(body: bytes) -> Status:
    """What an answer says of itself; a proxy's page in between is no Status, and its text is not repeated."""
    try:
        return msgspec.json.decode(body, type=Status)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Status()
