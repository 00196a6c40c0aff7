"""From what a user wrote to a `JobSpec`: one pass that fills every default and reports every problem."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import Findings, check_fields, nearest, shown
from jupyter_aiarts.model.keys import as_object, known_keys, plain_spellings
from jupyter_aiarts.model.placement import BOARD, has_rings
from jupyter_aiarts.model.rules import broken_rules, unreadable_in
from jupyter_aiarts.model.secrecy import PullSecret, split_pull_secret, split_secrets
from jupyter_aiarts.model.spec import CPU, LOCAL, MAX_NAME, JobSpec
from jupyter_aiarts.model.wording import worded


class Reading(Struct, frozen=True, kw_only=True):
    """A spec that may be kept and shown, and beside it what may not."""

    spec: JobSpec
    given: dict[str, Any] = field(default_factory=dict)  # the keys that were named: what an edit edits
    secrets: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    pull_secret: PullSecret | None = None

    def __repr__(self) -> str:
        """Without the values of secrets, so that no log or traceback can show them."""
        return f"Reading(spec={self.spec!r}, secrets={sorted(self.secrets)}, notes={self.notes!r})"


def read_spec(
    raw: Mapping[str, Any],
    *,
    known_secrets: Collection[str] = (),
    offered_devices: Collection[str] | None = None,
) -> Reading:
    """The spec that `raw` means, with every default filled in. Every door's submission and edit comes here.

    `known_secrets` are the secret variables whose values are kept already: null stands for them.
    `offered_devices` are what the cluster has; None when nobody knows, then any name is accepted.
    Raises InvalidSpec with all problems at once, each with its key.
    """
    findings = Findings()
    given = plain_spellings(known_keys(as_object(raw), findings))
    pull_name, pull_secret = split_pull_secret(given.pop("image_pull_secret", None), findings)
    secret_env = given.pop("secret_env", {})
    if pull_name is not None:
        given["image_pull_secret"] = pull_name
    values = check_fields(given, JobSpec, findings)
    secrets, names, moved = split_secrets(values.get("env", {}), secret_env, known_secrets, findings)
    values["secret_env"] = names
    values["env"] = {name: text for name, text in values.get("env", {}).items() if name not in moved}
    named = msgspec.to_builtins(values)
    guessed = _fill(values, offered_devices, findings.touched())
    spec = JobSpec(**values)
    broken_rules(spec, secrets, findings)
    _check_offered(spec, offered_devices, findings)
    if findings.problems:
        raise InvalidSpec(findings.all())
    notes = [*guessed, *_notes(spec, moved, pull_secret)]
    return Reading(
        spec=spec,
        given={**named, "name": spec.name},  # an edit of the start file does not rename a job
        secrets=secrets,
        notes=notes,
        pull_secret=None if spec.cluster == LOCAL else pull_secret,
    )


def fingerprint(reading: Reading) -> str:
    """What tells one submission from another under the same submission_id; secrets count, unreadably."""
    digest = hashlib.sha256(msgspec.json.encode(reading.spec))
    if reading.secrets:  # slowly: others may see the fingerprint, and a short secret could be guessed from it
        values = msgspec.json.encode(sorted(reading.secrets.items()))
        digest.update(hashlib.scrypt(values, salt=digest.digest(), n=2**14, r=8, p=1))
    return digest.hexdigest()


def _fill(values: dict[str, Any], offered: Collection[str] | None, touched: set[str]) -> list[str]:
    """Put in the defaults that depend on other keys; what was chosen for the user is said in a note."""
    notes = []
    if "name" not in values:
        values["name"] = _default_name(values.get("script"))
    if "kind" not in values:
        values["kind"] = "distributed" if values.get("nodes", 1) > 1 else "regular"
    if "device" not in values and values.get("devices") and "device" not in touched:
        cards = [device for device in offered or () if device != CPU]
        if len(cards) == 1:
            values["device"] = cards[0]
            notes.append(f"No device was named, so the job takes {cards[0]}, the only kind of card there is.")
    device = values.get("device", CPU)
    if "devices" not in values and device != CPU:
        values["devices"] = BOARD if has_rings(device) and values["kind"] == "distributed" else 1
    return notes


def _default_name(script: str | None) -> str:
    """The start file's name without its ending, when that can be a name."""
    stem = PurePosixPath(script or "").stem[:MAX_NAME]
    return "job" if not stem.strip() or unreadable_in(stem) else stem


def _check_offered(spec: JobSpec, offered: Collection[str] | None, findings: Findings) -> None:
    if offered is None or spec.device == CPU or spec.device in offered or "device" in findings.touched():
        return
    near = nearest(spec.device, list(offered))
    known = {"cluster": spec.cluster, "device": shown(spec.device), "near": near}
    if near:
        findings.add("device", worded("{cluster} has no device {device}. Did you mean {near}?", **known))
        return
    offers = ", ".join(sorted({CPU, *offered}))
    findings.add("device", worded("{cluster} has no device {device}. It offers {offers}.", **known, offers=offers))


def _notes(spec: JobSpec, moved: list[str], pull_secret: PullSecret | None) -> Iterator[str]:
    """What the user should know about how the spec was understood."""
    for name in moved:
        yield (
            f"{name} looks secret and was moved from env to secret_env: "
            "the ranks get it, and nobody is shown its value."
        )
    for key in (key for key in spec.params if key.startswith("-")):
        yield f"The parameter {key} is passed as --{key}, because two dashes are added to every key."
    if spec.command is not None and spec.pass_paths:
        yield "pass_paths has no effect with command: use $DATA_PATH and $OUTPUT_PATH in the line."
    if spec.cluster == LOCAL:
        yield from _local_notes(spec, pull_secret)


def _local_notes(spec: JobSpec, pull_secret: PullSecret | None) -> Iterator[str]:
    """What this machine accepts without any effect."""
    if spec.image is not None:
        yield f"The image {spec.image} is ignored: jobs on this machine run without a container."
    if spec.image_pull_secret is not None or pull_secret is not None:
        yield "image_pull_secret is ignored: jobs on this machine pull no image."
    if spec.preemptible:
        yield "preemptible has no effect on this machine: no job takes another one's place here."
