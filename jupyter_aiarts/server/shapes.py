"""The shapes that travel, by the names the table of routes uses; imported only to describe the API."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType, json

from jupyter_aiarts.explain.codes import Meaning
from jupyter_aiarts.model.cluster import ClusterPage
from jupyter_aiarts.model.environment import KernelRequest, KernelSize, Registered, ShownKernel
from jupyter_aiarts.model.fix import Fix, FixRequest
from jupyter_aiarts.model.places import PathMap
from jupyter_aiarts.model.queue import ShownQueue
from jupyter_aiarts.model.ranktable import RankTable
from jupyter_aiarts.model.schema import component_schemas
from jupyter_aiarts.model.turn import ShownTurn
from jupyter_aiarts.model.usage import Filling, JobUsage, UsagePage


class Problem(Struct):
    """One fault of a spec."""

    key: str
    message: str


class Error(Struct):
    """The body of every answer that is not a success."""

    code: str
    message: str
    hint: str
    problems: list[Problem] | UnsetType = UNSET


class UnwellNode(Struct):
    """A node that is not well, and in what: not-ready, disk-pressure, unhealthy-cards …"""

    node: str
    problems: list[str]


class Cluster(Struct):
    """An engine, since when its picture is old (null: it is not), and what is wrong with its entry, if anything.

    `unwell` is there where the server guards the nodes (`webhook_nodes`) and may see them.
    """

    name: str
    stale_since: str | None
    owner: str | None = None  # whose jobs are this user's, where others' are seen too
    problem: str | None = None
    unwell: list[UnwellNode] | None = None


class Versions(Struct):
    """What is installed; `labextension` is null where the sidebar was not built."""

    server: str
    labextension: str | None
    jupyter_server: str


class Health(Struct):
    """The state of this installation."""

    version: str
    clusters: list[Cluster]
    jobs: int
    active: int
    versions: Versions


class NewTemplate(Struct, forbid_unknown_fields=True):
    """A template as it is saved."""

    spec: dict[str, Any]
    description: str = ""


PLAIN: dict[str, dict[str, Any]] = {
    "Variables": {
        "type": "object",
        "additionalProperties": {"type": ["string", "null"]},
        "description": "A rank's variables; the values of secret ones are null.",
    },
    "Patch": {"type": "object", "description": "A JSON merge patch (RFC 7396) of the job's spec."},
    "Document": {"type": "object", "description": "An OpenAPI 3.1 document."},
}


def schemas() -> dict[str, Any]:
    """The JSON Schema of every shape by its name, with references below `#/components/schemas/`."""
    shown = (
        Error,
        Health,
        NewTemplate,
        ClusterPage,
        ShownQueue,
        ShownTurn,
        PathMap,
        UsagePage,
        JobUsage,
        RankTable,
        Filling,
        ShownKernel,
        Registered,
        KernelSize,
        KernelRequest,
    )
    doing = (Fix, FixRequest, Meaning)
    _, ours = json.schema_components((*shown, *doing), ref_template="#/components/schemas/{name}")
    return {**component_schemas(), **ours, **PLAIN}
