"""From a run and its place to the launcher's plan: pure, so it is tested as a dict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from msgspec import Struct

from jupyter_aiarts.engines.local.records import JobFile, Placed, RunFile
from jupyter_aiarts.model.argv import path_arguments, render_arguments
from jupyter_aiarts.model.placement import has_rings
from jupyter_aiarts.model.spec import JobSpec

#: What a local rank inherits of its submitter's environment (spec section 3); prefixes end with an underscore.
INHERITED = ("PATH", "HOME", "USER", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")
INHERITED_PREFIXES = ("LC_", "CONDA_")

#: A CPU job sees no card, whichever runtime its libraries come with.
NO_CARDS = {"CUDA_VISIBLE_DEVICES": "", "ASCEND_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}


class Site(Struct, frozen=True, kw_only=True):
    """Where a run lives on this machine."""

    folder: Path  # the run's folder
    runtime: Path
    secrets: Path | None
    port: int
    token: str
    log_limit: int
    used_seconds: float = 0.0


def inherited(environ: dict[str, str]) -> dict[str, str]:
    """The part of a submitter's environment that ranks start from, and nothing else of it."""
    return {name: value for name, value in environ.items() if name in INHERITED or name.startswith(INHERITED_PREFIXES)}


def workdir_of(spec: JobSpec) -> Path:
    """The folder ranks start in; the engine fills `workdir` when a job is submitted."""
    return Path(spec.workdir or "/")


def script_of(spec: JobSpec) -> Path | None:
    """The start file, absolute; relative ones are beside `workdir`."""
    return None if spec.script is None else workdir_of(spec) / os.path.expanduser(spec.script)


def python_of(spec: JobSpec) -> str | None:
    """The Python of the environment that a job names."""
    return None if spec.environment is None else os.path.join(spec.environment, "bin", "python")


def start_of(spec: JobSpec, python: str) -> dict[str, Any]:
    """How the launcher begins: a Python file, a shell file, a notebook, any executable, or the user's own line."""
    path = script_of(spec)
    if path is None:
        return {"kind": "command", "path": None, "line": spec.command, "python": python}
    kind = {".py": "python", ".sh": "shell", ".ipynb": "notebook"}.get(path.suffix.lower(), "exec")
    return {"kind": kind, "path": str(path), "line": None, "python": python}


def grants_of(device: str, cards: tuple[int, ...]) -> dict[str, str]:
    """The variables that show a node its cards and no others."""
    if not cards:
        return dict(NO_CARDS)
    listed = ",".join(str(card) for card in cards)
    if device.startswith("nvidia"):
        return {**NO_CARDS, "CUDA_VISIBLE_DEVICES": listed, "NVIDIA_VISIBLE_DEVICES": listed}
    # The first is read by a container's runtime; the second by CANN in the process itself, which counts from 0 then.
    return {**NO_CARDS, "ASCEND_VISIBLE_DEVICES": listed, "ASCEND_RT_VISIBLE_DEVICES": listed}


def meeting_of(job_id: str, run: int, attempt: int, nodes: int, runtime: Path) -> str | None:
    """The socket where the launchers of one job meet; a single one has nobody to meet."""
    return str(runtime / f"{job_id}-{run}-{attempt}.sock") if nodes > 1 else None


def plan_of(job: JobFile, run: RunFile, placed: Placed, site: Site) -> dict[str, Any]:
    """plan.json for the launchers of one attempt."""
    spec = run.spec
    script = script_of(spec)
    return {
        "schema": 1,
        "job": job.id,
        "run": run.run,
        "attempt": placed.attempt,
        "user": job.owner,
        "queue": spec.queue or "default",
        "device": spec.device,
        "nodes": spec.nodes,
        "cards": spec.devices,
        "processes": spec.processes,
        "framework": spec.framework or "none",
        "start": start_of(spec, python_of(spec) or run.caller.python),
        "args": [] if spec.command is not None else render_arguments(spec),
        "paths": [] if spec.command is not None else path_arguments(spec),
        "workdir": str(workdir_of(spec)),
        "main_path": str(script.parent if script else workdir_of(spec)),
        "save_path": spec.output_path or str(site.folder / "output"),
        "environ": inherited(run.caller.environ),
        "env": dict(spec.env),
        "extra": _paths(spec),
        "secrets_file": str(site.secrets) if site.secrets else None,
        "devices": [list(cards) for cards in placed.devices],
        "grants": [grants_of(spec.device, cards) for cards in placed.devices],
        "master_addr": "127.0.0.1",
        "master_port": site.port,
        "grace_seconds": spec.grace_seconds,
        "max_restarts": spec.max_restarts,
        "max_seconds": spec.max_hours * 3600 if spec.max_hours else None,
        "used_seconds": site.used_seconds,
        "gang_timeout": 600,
        "meeting": meeting_of(job.id, run.run, placed.attempt, spec.nodes, site.runtime),
        "token": site.token,
        "log_limit_bytes": site.log_limit,
        "bell": str(site.runtime),
    } | _optional(spec)


def _optional(spec: JobSpec) -> dict[str, Any]:
    """Keys that few jobs have."""
    table = {"rank_table": spec.rank_table} if has_rings(spec.device) else {}
    return table | ({"environment": spec.environment} if spec.environment is not None else {})


def _paths(spec: JobSpec) -> dict[str, str]:
    paths = {"DATA_PATH": spec.data_path, "OUTPUT_PATH": spec.output_path}
    return {name: path for name, path in paths.items() if path}
