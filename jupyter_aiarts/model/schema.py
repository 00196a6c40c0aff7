"""JSON Schema of the models: `openapi.json` and the TypeScript types come from it."""

from __future__ import annotations

from typing import Any

import msgspec

from jupyter_aiarts.model.job import DryRun, Event, Explanation, Job, ListedJob, LogLine
from jupyter_aiarts.model.keys import ALIASES
from jupyter_aiarts.model.secrecy import PullSecret
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.templates import Template

_REFERENCE = "#/components/schemas/{name}"
_SHOWN = (JobSpec, Job, ListedJob, Explanation, LogLine, Event, DryRun, Template)


def component_schemas() -> dict[str, Any]:
    """Every shape that the API answers, by name, and `JobRequest`, the spec as a client may send it."""
    _, components = msgspec.json.schema_components([*_SHOWN, PullSecret], ref_template=_REFERENCE)
    return {**components, "JobRequest": _request(components["JobSpec"], "#/components/schemas/PullSecret")}


def job_spec_schema() -> dict[str, Any]:
    """The spec as a client may send it, complete in itself: what forms and editors validate with."""
    _, parts = msgspec.json.schema_components([JobSpec, PullSecret], ref_template="#/$defs/{name}")
    request = _request(parts.pop("JobSpec"), "#/$defs/PullSecret")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **request, "$defs": parts}


def _request(spec: dict[str, Any], pull_secret: str) -> dict[str, Any]:
    """The shown spec, widened by what only a request may hold: secret values, a registry login, aliases."""
    properties = dict(spec["properties"])
    texts = {"description": "Names and values; null keeps the value of a job that is edited."}
    properties["secret_env"] = {
        "type": "object",
        "additionalProperties": {"type": ["string", "null"]},
        **texts,
    }
    secret = properties["image_pull_secret"]
    properties["image_pull_secret"] = {**secret, "anyOf": [*secret["anyOf"], {"$ref": pull_secret}]}
    for alias, key in ALIASES.items():
        properties[alias] = {
            **properties[key],
            "description": f"Another name of `{key}`.",
            "deprecated": True,
        }
    return {
        **spec,
        "title": "JobRequest",
        "description": "A job as a client asks for it.",
        "properties": properties,
    }
