"""An AIArts PostJob body as a job spec."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.checking import Findings, shown
from jupyter_aiarts.model.mapped import Mapped, left_out, refuse_unknown
from jupyter_aiarts.model.spec import CPU

MARKS = frozenset(["jobName", "vcName", "jobtrainingtype", "resourcegpu", "gpuType", "jobType", "numpsworker"])
"""Keys that no job spec has; two of them, or jobName alone, make a PostJob body."""

_WHAT = "a PostJob body"
_JOB_TYPES = ("training", "artsTraining", "artsEvaluation")
_KINDS = {"RegularJob": "regular", "PSDistJob": "distributed"}

# The highest jobPriority of each of our nine; 100, the old default, is 5, and users went up to 200.
_PRIORITIES = (24, 49, 74, 99, 100, 150, 200, 600, 1000)

_TEXTS = {
    "jobName": "name",
    "vcName": "queue",
    "image": "image",
    "outputPath": "output_path",
    "datasetPath": "data_path",
}

_LEFT_OUT = {
    "userName": "a job belongs to the user who is logged in",
    "workPath": "it was relative to a folder of the old platform; use workdir or mounts",
    "dataPath": "it was relative to a folder of the old platform; use data_path or mounts",
    "jobPath": "every run has a folder of its own",
    "hostNetwork": "the admin's device profile decides about the host's network",
    "hostIPC": "the admin's device profile decides about what is shared with the host",
    "containerUserId": "use run_as to choose who the processes run as",
    "nodeSelector": "the admin's device profile decides about nodes",
    "desc": "jobs have no description here",
    "team": "jobs have no team here",
    "jobGroup": "jobs have no groups here",
    "track": "tracking is up to the start file",
    "jobId": "every job gets an id of its own; use submission_id to submit only once",
}
_SILENT = {"userId", "familyToken", "isParent", "enableworkpath", "enabledatapath", "enablejobpath"}
_HYPER = {f"hyperparameter{part}" for part in ("name", "startvalue", "endvalue", "step")}
_KNOWN = {
    *MARKS, *_TEXTS, *_LEFT_OUT, *_SILENT, *_HYPER, "numps", "cmd", "masterCmd", "workerCmd", "mountpoints",
    "env", "envs", "preemptionAllowed", "isPrivileged", "interactivePorts", "interactivePort",
    "frameworkType", "codePath", "startupFile", "scriptParams", "plugins", "jobPriority",
}  # fmt: skip


def from_postjob(body: Mapping[str, Any]) -> Mapped:
    """The spec that a PostJob body means; raises InvalidSpec with every bad, unknown or refused key."""
    findings, notes = Findings(), list[str]()
    given = {key: value for key, value in body.items() if value not in (None, "", [], {})}
    refuse_unknown(given, _KNOWN, _WHAT, findings)
    _refuse(given, findings)
    spec: dict[str, Any] = {ours: given[key] for key, ours in _TEXTS.items() if key in given}
    spec.update(
        **_shape(given, findings, notes),
        **_start(given, findings, notes),
        **_framework(given, notes),
        **_switches(given, findings),
        **_storage(given, findings),
        **_pull_secret(given, findings),
    )
    if findings.count:
        raise InvalidSpec(findings.all())
    return Mapped(spec=spec, notes=[*notes, *_left_out(given)])


def _refuse(given: Mapping[str, Any], findings: Findings) -> None:
    """What the old platform did and this one does not do, with the reason."""
    if _truth(given.get("isPrivileged", False)) is not False:
        findings.add(
            "isPrivileged",
            "Privileged containers are never started: they would own the node. Remove isPrivileged; "
            "what cards and networks need is in the admin's device profile.",
        )
    if given.get("jobType", "training") not in _JOB_TYPES:
        findings.add("jobType", f"jobType must be one of {', '.join(_JOB_TYPES)}, and it is {shown(given['jobType'])}.")
    for key in sorted(_HYPER & given.keys()):
        findings.add(key, f"{key} would start several pods with different values. Submit one job for each value.")
    for key in ("interactivePorts", "interactivePort"):
        if _truth(given.get(key, False)) is not False:
            findings.add(key, f"Ports cannot be opened in a job yet. Remove {key}.")


def _shape(given: Mapping[str, Any], findings: Findings, notes: list[str]) -> dict[str, Any]:
    """Kind, nodes, device and cards."""
    kind = given.get("jobtrainingtype", "RegularJob")
    cards = _whole("resourcegpu", given.get("resourcegpu", 0), findings)
    if not isinstance(kind, str) or kind not in _KINDS:
        findings.add("jobtrainingtype", f"jobtrainingtype must be RegularJob or PSDistJob, and it is {shown(kind)}.")
        return {}
    if cards and "gpuType" not in given:
        findings.add("gpuType", f"resourcegpu asks for {cards} cards, and gpuType does not say of which kind.")
    nodes = _nodes(given, findings, notes) if kind == "PSDistJob" else 1
    shape = {"kind": "distributed" if nodes > 1 else "regular", "nodes": nodes}
    return {**shape, "device": given.get("gpuType", CPU), "devices": cards}


def _nodes(given: Mapping[str, Any], findings: Findings, notes: list[str]) -> int:
    """The number of workers. `numps` is 1; AIArts' own client sent the two numbers swapped."""
    numps = _whole("numps", given.get("numps", 1), findings)
    workers = _whole("numpsworker", given.get("numpsworker", 1), findings)
    if numps > 1 and workers > 1:
        findings.add("numps", f"numps must be 1, and it is {numps}: jobs have no parameter servers of their own.")
    if numps > 1 and workers <= 1:
        notes.append(f"numps and numpsworker came swapped, as AIArts sends them: the job has {numps} nodes.")
        return numps
    if workers <= 1:
        notes.append("The PSDistJob has one worker, so it is a regular job.")
    return max(workers, 1)


def _start(given: Mapping[str, Any], findings: Findings, notes: list[str]) -> dict[str, Any]:
    """`cmd` is what the old platform ran; without it the start file, with parameters and paths passed."""
    command = given.get("cmd") or _one_command(given, findings)
    if command:
        if "startupFile" in given:
            notes.append(left_out("startupFile", "cmd is what the old platform ran, and it is taken as it is"))
        return {"command": command, **_folder(given)}
    if "startupFile" not in given:
        return _folder(given)
    params = given.get("scriptParams", {})
    if not isinstance(params, Mapping):
        findings.add("scriptParams", f"scriptParams must be an object of names and values, and it is {shown(params)}.")
        params = {}
    if "sudo" in params:
        notes.append(left_out("scriptParams.sudo", "a job runs as the user that run_as names"))
    kept = {key: value for key, value in params.items() if key != "sudo"}
    return {"script": given["startupFile"], "params": kept, "pass_paths": True, **_folder(given)}


def _folder(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"workdir": given["codePath"]} if "codePath" in given else {}


def _one_command(given: Mapping[str, Any], findings: Findings) -> Any:
    """The command of a distributed job that gave one to each role."""
    commands = [given[key] for key in ("workerCmd", "masterCmd") if key in given]
    if len(commands) == 2 and commands[0] != commands[1]:
        findings.add("masterCmd", "All nodes run one command. Use $DLWS_ROLE_IDX in it to let node 0 do more.")
    return commands[0] if commands else None


def _framework(given: Mapping[str, Any], notes: list[str]) -> dict[str, str]:
    written = str(given.get("frameworkType", "")).lower()
    found = [name for name in ("pytorch", "tensorflow", "mindspore") if written.startswith(name)]
    if written and not found:
        notes.append(left_out("frameworkType", f"{shown(written)} is not known here, so it is guessed"))
    return {"framework": found[0]} if found else {}


def _switches(given: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Preemption and priority."""
    switches: dict[str, Any] = {}
    if "preemptionAllowed" in given:
        switches["preemptible"] = _truth(given["preemptionAllowed"])
        if switches["preemptible"] is None:
            message = f"preemptionAllowed must be true or false, and it is {shown(given['preemptionAllowed'])}."
            findings.add("preemptionAllowed", message)
    if "jobPriority" in given:
        written = _whole("jobPriority", given["jobPriority"], findings)
        switches["priority"] = min(bisect_left(_PRIORITIES, written) + 1, 9)
    return switches


def _storage(given: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """Variables (`env` replaces `envs`) and mounts, both lists of objects there."""
    key = "env" if "env" in given else "envs"
    env = {one.get("name"): one.get("value", "") for one in _objects(key, given, findings)}
    mounts = [_mount(one) for one in _objects("mountpoints", given, findings) if one.get("enabled", True) is not False]
    return {**({"env": env} if env else {}), **({"mounts": mounts} if mounts else {})}


def _mount(point: Mapping[str, Any]) -> dict[str, Any]:
    claim = "/".join(str(point[key]).strip("/") for key in ("pvcName", "subPath") if point.get(key))
    source = claim if point.get("pvcName") else point.get("hostPath", "")
    return {
        "source": source,
        "target": point.get("containerPath", ""),
        "read_only": bool(point.get("readOnly", False)),
    }


def _pull_secret(given: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """The one registry login; its values are never printed."""
    plugins = given.get("plugins", {})
    if not isinstance(plugins, Mapping):
        findings.add("plugins", "plugins must be an object.")
        return {}
    for key in plugins:
        if key != "imagePull" and plugins[key]:
            findings.add(f"plugins.{key}", f"The plugin {key} does not exist here. Use mounts for storage.")
    logins = _objects("imagePull", plugins, findings)
    if len(logins) > 1:
        findings.add("plugins.imagePull", "A job pulls one image, so it takes one registry login.")
    return {"image_pull_secret": dict(logins[0])} if logins else {}


def _objects(key: str, given: Mapping[str, Any], findings: Findings) -> list[Mapping[str, Any]]:
    """The list of objects under a key; anything else is noted."""
    items = given.get(key) or []
    if not isinstance(items, list) or not all(isinstance(one, Mapping) for one in items):
        findings.add(key, f"{key} must be a list of objects.")
        return []
    return items


def _whole(key: str, value: Any, findings: Findings) -> int:
    """A whole number, also one in quotes, as the old platform took it."""
    text = str(value).strip()
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or len(text) > 9:
        findings.add(key, f"{key} must be a whole number, and it is {shown(value)}.")
        return 0
    return int(text)


def _truth(value: Any) -> bool | None:
    """True or false in any spelling that the old platform took; None when it is neither."""
    return {"true": True, "1": True, "false": False, "0": False, "": False}.get(str(value).strip().lower())


def _left_out(given: Mapping[str, Any]) -> list[str]:
    """Sentences about keys without a counterpart, unless they say nothing: false, 0, the folder itself."""
    return [left_out(key, why) for key, why in _LEFT_OUT.items() if given.get(key, 0) not in (0, "0", "./", ".")]
