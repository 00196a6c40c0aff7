"""From what a client sent to what an engine takes: foreign formats, templates, one reading of the spec.

Apart from the service because only those who submit or edit need it, and it brings every rule of a spec with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import structs

from jupyter_aiarts.engines.base import Asked, Engine
from jupyter_aiarts.errors import AiartsError, BadRequest, ClusterNotFound, InvalidSpec
from jupyter_aiarts.model.foreign import recognise
from jupyter_aiarts.model.merge import merge_patch
from jupyter_aiarts.model.reading import Reading, read_spec
from jupyter_aiarts.model.templates import apply_template, contradicted
from jupyter_aiarts.templates import TemplateStore

FolderOf = Callable[[str], Awaitable[str]]
"""From the name of an environment, or of its kernel, to its folder; raises an `AiartsError`."""


def read_submission(
    raw: Mapping[str, Any] | str, engines: Mapping[str, Engine], templates: TemplateStore
) -> tuple[Engine, Reading]:
    """The engine that is meant and the spec it gets; raises `InvalidSpec` with every problem at once."""
    mapped = recognise(raw)
    spec = mapped.spec
    if isinstance(spec.get("template"), str):
        spec = apply_template(templates.get(spec["template"]), spec)
    engine = engine_named(spec.get("cluster") or "local", engines)
    reading = read_spec(spec, offered_devices=engine.offers())
    return engine, structs.replace(reading, notes=[*mapped.notes, *reading.notes])


def engine_named(cluster: Any, engines: Mapping[str, Engine]) -> Engine:
    """The engine of this name, or the names there are."""
    engine = engines.get(cluster) if isinstance(cluster, str) else None
    if engine is None:
        raise ClusterNotFound(f"No cluster is called {str(cluster)[:80]!r} here.", _known(engines))
    return engine


def _known(engines: Mapping[str, Engine]) -> str:
    if list(engines) == ["local"]:
        return (
            "There is only local: clusters are in the configuration of a Jupyter server (AiartsApp.clusters), and "
            "known to it and to who asks it; where none runs, start one."
        )
    return f"There are: {', '.join(sorted(engines))}."


def read_edit(asked: Asked, patch: Mapping[str, Any], engine: Engine) -> Reading:
    """The spec that a job has under a JSON merge patch; secrets that the patch does not name are kept.

    The patch is applied to what its owner named, not to the defaults that were filled in: so more nodes bring the kind
    that goes with them, and a new command takes the place of the old start file.
    """
    for key, value in {"cluster": engine.name, "submission_id": asked.given.get("submission_id")}.items():
        if patch.get(key, value) != value:
            raise BadRequest(f"{key} of a job cannot be changed.", "Clone the job instead.")
    gone = contradicted(asked.given, patch)
    base = {key: value for key, value in asked.given.items() if key not in gone}
    return read_spec(merge_patch(base, patch), known_secrets=asked.secrets, offered_devices=engine.offers())


async def with_environment(reading: Reading, folder_of: FolderOf | None) -> Reading:
    """The spec whose `environment` is a folder, where it was a name; raises `InvalidSpec`."""
    named = reading.spec.environment
    if named is None or "/" in named or named.startswith("~") or folder_of is None:
        return reading
    try:
        folder = await folder_of(named)
    except AiartsError as error:
        message = f"{error} {error.hint} A folder is written with a slash: ./{named}"
        raise InvalidSpec([{"key": "environment", "message": message}]) from error
    return structs.replace(
        reading,
        spec=structs.replace(reading.spec, environment=folder),
        given={**reading.given, "environment": folder},
    )
