"""From the objects of a run back to what was asked: what reruns, edits and `show` read out of the cluster."""

from __future__ import annotations

import base64
import binascii
import zipfile
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.engines.kubernetes.code import Shipment, reuse
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.reading import Reading
from jupyter_aiarts.model.secrecy import PullSecret
from jupyter_aiarts.model.spec import JobSpec

SCHEMA = 1


class _Caller(Struct, frozen=True):
    owner: str = ""


class _SpecFile(Struct, frozen=True):
    schema: int
    spec: JobSpec
    given: dict[str, Any] = {}
    notes: list[str] = []
    caller: _Caller = _Caller()


def read_spec_file(text: str | bytes) -> Reading:
    """What `spec.json` of a ConfigMap holds, without secrets; raises `JobUnreadable`."""
    try:
        found = msgspec.json.decode(text, type=_SpecFile)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise JobUnreadable(f"The spec kept in the cluster cannot be read: {error}.", "Submit the job anew.") from error
    if found.schema != SCHEMA:
        raise JobUnreadable(
            f"The spec kept in the cluster has schema {found.schema}, and this version reads {SCHEMA}.",
            "Use the version that submitted the job, or submit it anew.",
        )
    return Reading(spec=found.spec, given=found.given, notes=found.notes)


def read_back(
    config: Mapping[str, Any], secret: Mapping[str, Any] | None = None, pull_secret: Mapping[str, Any] | None = None
) -> Reading:
    """What was asked for in the run that these objects belong to, its secrets included.

    A pull secret of our own becomes the login that it was made from, so that the next run makes one of its own.
    """
    reading = read_spec_file((config.get("data") or {}).get(names.SPEC_FILE, ""))
    reading = structs.replace(reading, secrets=secret_values(secret or {}))
    return with_login(reading, pull_secret)


def with_login(reading: Reading, pull_secret: Mapping[str, Any] | None) -> Reading:
    """The reading with the login that `pull_secret` holds, when that is the secret which its spec names."""
    name = reading.spec.image_pull_secret
    if pull_secret is None or name is None or pull_secret["metadata"]["name"] != name:
        return reading
    login = registry_login(pull_secret)
    if login is None:
        return reading
    given = {key: value for key, value in reading.given.items() if key != "image_pull_secret"}
    spec = structs.replace(reading.spec, image_pull_secret=None)
    return structs.replace(reading, spec=spec, given=given, pull_secret=login)


def secret_values(secret: Mapping[str, Any]) -> dict[str, str]:
    """The values of the secret variables that a run's Secret holds."""
    return _decoded(secret, names.SECRETS_FILE, dict[str, str]) or {}


def token_of(secret: Mapping[str, Any]) -> str:
    """The launchers' token that a run's Secret holds; empty when it holds none."""
    return (_content(secret, names.TOKEN_FILE) or b"").decode("ascii", "replace")


def registry_login(secret: Mapping[str, Any]) -> PullSecret | None:
    """The login that a pull secret of ours was made from; None when it is somebody else's."""
    found = _decoded(secret, ".dockerconfigjson", dict[str, dict[str, dict[str, str]]])
    for registry, auth in (found or {}).get("auths", {}).items():
        if auth.keys() >= {"username", "password"}:
            return PullSecret(registry=registry, username=auth["username"], password=auth["password"])
    return None


def same_code(config: Mapping[str, Any]) -> Shipment:
    """The code of the run that this ConfigMap belongs to, to be used as it is; raises `JobUnreadable`."""
    texts, content = config.get("data") or {}, (config.get("binaryData") or {}).get(names.CODE_ZIP)
    asked = read_spec_file(texts.get(names.SPEC_FILE, "")).spec
    try:
        plan = msgspec.json.decode(texts.get(names.PLAN_FILE, ""))
        return reuse(asked, plan, None if content is None else base64.b64decode(content))
    except (msgspec.MsgspecError, KeyError, TypeError, binascii.Error, zipfile.BadZipFile) as error:
        raise JobUnreadable("The code kept in the cluster cannot be read.", "Submit the job anew.") from error


def _decoded(secret: Mapping[str, Any], name: str, kind: Any) -> Any:
    content = _content(secret, name)
    try:
        return None if content is None else msgspec.json.decode(content, type=kind)
    except msgspec.MsgspecError:
        return None


def _content(secret: Mapping[str, Any], name: str) -> bytes | None:
    try:
        return base64.b64decode((secret.get("data") or {})[name], validate=True)
    except (KeyError, binascii.Error):
        return None
