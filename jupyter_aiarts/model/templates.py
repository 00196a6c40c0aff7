"""Templates: parts of a spec under a name, saved by users or shipped as presets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import Findings, check_fields
from jupyter_aiarts.model.keys import ALIASES, known_keys, plain_spellings
from jupyter_aiarts.model.names import TEMPLATE_NAME
from jupyter_aiarts.model.secrecy import looks_secret
from jupyter_aiarts.model.spec import JobSpec

_MERGED = ("env", "params")
_START = ("script", "args", "params")
_NEVER = ("secret_env", "submission_id", "template")
"""Not kept: secrets belong to a job, an id to one submission, and a template starts from no other."""


class Template(Struct, frozen=True, kw_only=True):
    """A part of a spec that a job can start from. A preset ships with the package and cannot be changed."""

    name: str
    spec: dict[str, Any]
    preset: bool = False
    description: str = ""


def new_template(name: str, raw: Mapping[str, Any], description: str = "") -> Template:
    """A template that may be saved; raises InvalidSpec for a bad name, a bad key or a bad value.

    It keeps no secrets: `secret_env`, a registry login and variables that look secret are left out.
    """
    findings = Findings()
    if not re.fullmatch(TEMPLATE_NAME, name):
        findings.add(
            "name",
            "A template's name has 1 to 63 letters, digits, dots, dashes and underscores, no leading dot.",
        )
    given = plain_spellings(known_keys(raw, findings))
    given = {key: value for key, value in given.items() if key not in _NEVER}
    if isinstance(given.get("image_pull_secret"), Mapping):
        del given["image_pull_secret"]
    check_fields(given, JobSpec, findings)
    if findings.count:
        raise InvalidSpec(findings.all(), hint="Change the named keys and save again.")
    if "env" in given:
        given["env"] = {key: value for key, value in given["env"].items() if not looks_secret(key)}
    return Template(name=name, spec=given, description=description[:1000])


def apply_template(template: Template, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The spec that `raw` means when it starts from `template`: explicit keys win.

    `env` and `params` merge name by name, the explicit value first; every other key is taken whole.
    Keys of the template that an explicit key contradicts go away with it: its start file before an explicit
    command and the reverse, its kind before explicit nodes and the reverse, its cards before another device.
    """
    explicit = {ALIASES.get(key, key): value for key, value in raw.items()}
    base = {key: value for key, value in template.spec.items() if key not in _NEVER}
    for key in contradicted(base, explicit):
        base.pop(key, None)
    merged = {**base, **explicit}
    for key in _MERGED:
        if isinstance(base.get(key), Mapping) and isinstance(explicit.get(key), Mapping):
            merged[key] = {**base[key], **explicit[key]}
    return {**merged, "template": template.name}


def contradicted(base: Mapping[str, Any], explicit: Mapping[str, Any]) -> list[str]:
    """The keys of `base` that make no sense beside the explicit ones; an edit goes by the same rule."""
    gone: list[str] = []
    if explicit.get("command") is not None:
        gone += _START
    if any(explicit.get(key) is not None for key in _START):
        gone.append("command")
    if "nodes" in explicit:
        gone.append("kind")
    if "kind" in explicit:
        gone.append("nodes")
    if "device" in explicit and explicit["device"] != base.get("device"):
        gone.append("devices")
    return [key for key in gone if key not in explicit]


def _preset(name: str, description: str, **spec: Any) -> Template:
    return Template(name=name, spec=spec, preset=True, description=description)


_GPU, _NPU = "nvidia_gpu_amd64", "huawei_npu_arm64"

PRESETS: dict[str, Template] = {
    one.name: one
    for one in (
        _preset(
            "cpu-quick",
            "One CPU, an hour at most: to see whether it starts.",
            device="cpu",
            cpu=1,
            max_hours=1,
        ),
        _preset("notebook", "A notebook from top to bottom on two CPUs.", device="cpu", cpu=2, memory_gb=8),
        _preset("gpu-1", "One GPU.", device=_GPU, devices=1),
        _preset(
            "gpu-2-ranks",
            "Two GPUs on one node, one process per card.",
            device=_GPU,
            devices=2,
            processes="card",
        ),
        _preset("npu-1", "One Ascend card.", device=_NPU, devices=1),
        _preset(
            "npu-2",
            "Two Ascend cards of one ring, one process per card.",
            device=_NPU,
            devices=2,
            processes="card",
        ),
        _preset("npu-8", "A whole Ascend board, one process per card.", device=_NPU, devices=8, processes="card"),
        _preset(
            "npu-2x8",
            "Two nodes with eight Ascend cards each, one process per card.",
            kind="distributed",
            nodes=2,
            device=_NPU,
            devices=8,
            processes="card",
        ),
    )
}
"""What ships, by name; a user's template of the same name comes first."""
