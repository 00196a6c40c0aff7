"""A PAI-DLC params file (`key=value` per line) as a job spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import Findings, label, shown
from jupyter_aiarts.model.mapped import Mapped, left_out, refuse_unknown
from jupyter_aiarts.model.quantity import parse_gb

_WHAT = "a DLC params file"
_FRAMEWORKS = {"pytorchjob": "pytorch", "tfjob": "tensorflow", "xgboostjob": "none"}

# DLC's key: ours, for values that are taken as they are
_TEXTS = {"name": "name", "command": "command", "worker_image": "image", "workspace_id": "queue"}
_SIZES = {"worker_memory": "memory_gb", "worker_shared_memory": "shm_gb"}
_NUMBERS = ("worker_count", "workers", "worker_cpu", "worker_gpu", "priority", "job_max_running_time_minutes")

_LEFT_OUT = {
    "interactive": "jobs run without a terminal, and their logs can be followed",
    "worker_spec": "it names a machine of the public cloud; use worker_cpu, worker_memory and worker_gpu",
    "resource_id": "it names a resource group of the public cloud; use workspace_id for a queue",
    "data_sources": "storage is named in mounts here",
    "code_source": "code comes from a mount, or from the folder of the start file",
    "code_branch": "code comes from a mount, or from the folder of the start file",
    "code_commit": "code comes from a mount, or from the folder of the start file",
    "thirdparty_libs": "packages belong into the image or the environment",
    "vpc_id": "the cluster's own network is used",
    "switch_id": "the cluster's own network is used",
    "security_group_id": "the cluster's own network is used",
    "success_policy": "a job succeeds when all its ranks do",
    "tags": "jobs have no tags here",
    "oversold_type": "devices are never given out twice",
}
_KNOWN = {*_TEXTS, *_SIZES, *_NUMBERS, *_LEFT_OUT, "kind", "envs"}


def from_dlc(text: str) -> Mapped:
    """The spec that a params file (or job_file) means; raises InvalidSpec with every bad or unknown key."""
    findings = Findings()
    given = _lines(text, findings)
    refuse_unknown(given, _KNOWN, _WHAT, findings)
    numbers = {key: _number(key, given[key], findings) for key in _NUMBERS if key in given}
    spec: dict[str, Any] = {ours: given[key] for key, ours in _TEXTS.items() if given.get(key)}
    for key, ours in _SIZES.items():
        if key in given:
            spec[ours] = _size(key, given[key], findings)
    spec.update(_kind(given, findings), **_shape(numbers, findings))
    if "envs" in given:
        spec["env"] = _variables(given["envs"], findings)
    if findings.count:
        raise InvalidSpec(findings.all())
    return Mapped(spec=spec, notes=_notes(given))


def _lines(text: str, findings: Findings) -> dict[str, str]:
    """Keys and values; a value is the rest of its line. Blank lines and # comments say nothing."""
    given: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        key, equals, value = (part.strip() for part in line.partition("="))
        if (not key and not equals) or key.startswith("#"):
            continue
        if not key or not equals:
            findings.add(label(key), f"Line {number} of the params file is not key=value: {shown(line.strip())}.")
        elif key in given:
            findings.add(label(key), f"{label(key)} stands twice in the params file, again in line {number}.")
        else:
            given[key] = value
    return given


def _number(key: str, text: str, findings: Findings) -> float:
    try:
        number = float(text) if len(text) <= 20 else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        findings.add(key, f"{key} must be a number of 0 or more, and it is {shown(text)}.")
        return 0.0
    return int(number) if number == int(number) else number


def _size(key: str, text: str, findings: Findings) -> float | None:
    try:
        return parse_gb(text)
    except ValueError:
        findings.add(key, f"{key} must be a size in GB, and it is {shown(text)}.")
        return None


def _kind(given: Mapping[str, str], findings: Findings) -> dict[str, Any]:
    """DLC's kind names the framework; how many nodes there are says `worker_count`."""
    kind = given.get("kind", "").lower()
    if kind and kind not in _FRAMEWORKS:
        findings.add("kind", f"kind must be PyTorchJob, TFJob or XGBoostJob, and it is {shown(given['kind'])}.")
    return {"framework": _FRAMEWORKS[kind]} if kind in _FRAMEWORKS else {}


def _shape(numbers: Mapping[str, float], findings: Findings) -> dict[str, Any]:
    """Nodes, cards, CPUs, priority and time out of the numbers."""
    nodes = numbers.get("worker_count", numbers.get("workers", 1))
    if nodes < 1:
        findings.add("worker_count", "worker_count must be 1 or more: a job without workers runs nothing.")
    gpus = numbers.get("worker_gpu", 0)
    shape: dict[str, Any] = {"kind": "distributed" if nodes > 1 else "regular", "nodes": nodes}
    shape.update({"device": "nvidia_gpu_amd64", "devices": gpus} if gpus else {"device": "cpu"})
    if numbers.get("worker_cpu"):
        shape["cpu"] = numbers["worker_cpu"]
    if "priority" in numbers:
        shape["priority"] = numbers["priority"]
    if numbers.get("job_max_running_time_minutes"):  # 0 means no limit
        shape["max_hours"] = numbers["job_max_running_time_minutes"] / 60
    return shape


def _variables(text: str, findings: Findings) -> dict[str, str]:
    """`k1=v1,k2=v2`; a value may hold further `=`, and no comma."""
    env: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:  # the text is not printed: it may be the rest of a secret that held a comma
            findings.add("envs", "envs must be name=value pairs with commas between them; a value holds no comma.")
        else:
            env[name.strip()] = value
    return env


def _notes(given: Mapping[str, str]) -> list[str]:
    harmless = {"interactive": "false", "success_policy": "AllWorkers"}
    return [left_out(key, why) for key, why in _LEFT_OUT.items() if given.get(key) and given[key] != harmless.get(key)]
