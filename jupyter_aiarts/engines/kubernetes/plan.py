"""plan.json for the launchers in pods: the same keys as on this machine, with what is true in a cluster."""

from __future__ import annotations

import posixpath
from typing import Any

from jupyter_aiarts.engines.kubernetes.code import variables
from jupyter_aiarts.engines.kubernetes.names import (
    CODE_FOLDER,
    RING_FILE,
    RING_FOLDER,
    SECRET_FOLDER,
    SECRETS_FILE,
    host_of,
    ring_name,
)
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.security import log_readers
from jupyter_aiarts.engines.kubernetes.volumes import run_folder
from jupyter_aiarts.model.argv import path_arguments, render_arguments
from jupyter_aiarts.model.names import user_name
from jupyter_aiarts.model.spec import JobSpec

PYTHON = "python3"
_KINDS = {".py": "python", ".sh": "shell", ".ipynb": "notebook"}


def plan_of(order: Order) -> dict[str, Any]:
    """What all launchers of a run are to do. Their environment, cards, token and attempt they find in their pod."""
    spec, folder = order.spec, run_folder(order)
    plan = {
        "schema": 1,
        "job": order.job_id,
        "run": order.run,
        "attempt": order.attempt,
        "user": order.person.user or user_name(order.person.owner),
        "queue": spec.queue or "default",
        "device": spec.device,
        "nodes": spec.nodes,
        "cards": spec.devices,
        "processes": spec.processes,
        "framework": spec.framework or "none",
        "start": _start(order),
        "args": [] if spec.command is not None else render_arguments(spec),
        "paths": [] if spec.command is not None else path_arguments(spec),
        "workdir": order.shipment.workdir_in_pod,
        "main_path": posixpath.dirname(order.shipment.script_in_pod or "") or order.shipment.workdir_in_pod,
        "save_path": spec.output_path or f"{folder}/output",
        "environ": {},
        "env": variables(spec, order.shipment),
        "extra": _paths(spec),
        "secrets_file": f"{SECRET_FOLDER}/{SECRETS_FILE}" if spec.secret_env else None,
        "devices": [list(range(spec.devices)) for _ in range(spec.nodes)],
        "grants": [{} for _ in range(spec.nodes)],
        "master_addr": host_of(order.name, 0) if spec.nodes > 1 else "127.0.0.1",
        "master_port": order.ports.master,
        "grace_seconds": spec.grace_seconds,
        "max_restarts": spec.max_restarts,
        "max_seconds": spec.max_hours * 3600 if spec.max_hours else None,
        "used_seconds": order.used_seconds,
        "gang_timeout": order.settings.gang_timeout,
        "meeting": f"{host_of(order.name, 0)}:{order.ports.meeting}" if spec.nodes > 1 else None,
        "token": "",
        "log_limit_bytes": int(order.settings.log_limit_gb * (1 << 30)),
        "bell": None,
        "regroup": True,
        "port": order.ports.launcher,
        "folder": folder,
        "own_network": not order.profile.host_network,
    }
    return plan | _hosts(order) | _code(order) | _readers(order) | _rank_table(order) | _environment(order)


def _start(order: Order) -> dict[str, Any]:
    path = order.shipment.script_in_pod
    around = order.shipment.environment
    python = PYTHON if around is None else posixpath.join(around, "bin", "python")
    if path is None:
        return {"kind": "command", "path": None, "line": order.spec.command, "python": python}
    kind = _KINDS.get(posixpath.splitext(path)[1].lower(), "exec")
    return {"kind": kind, "path": path, "line": None, "python": python}


def _environment(order: Order) -> dict[str, Any]:
    around = order.shipment.environment
    return {} if around is None else {"environment": around}


def _paths(spec: JobSpec) -> dict[str, str]:
    paths = {"DATA_PATH": spec.data_path, "OUTPUT_PATH": spec.output_path}
    return {name: path for name, path in paths.items() if path}


def _hosts(order: Order) -> dict[str, Any]:
    """Every node's address, for TF_CONFIG alone: of thousands of nodes it is a long list."""
    if order.spec.framework != "tensorflow" or order.spec.nodes == 1:
        return {}
    return {"hosts": [host_of(order.name, index) for index in range(order.spec.nodes)]}


def _readers(order: Order) -> dict[str, Any]:
    readers = log_readers(order)
    return {} if readers is None else {"readers": readers}


def _rank_table(order: Order) -> dict[str, Any]:
    if not order.has_table:
        return {}
    named = {"rank_table": order.spec.rank_table}
    if order.profile.ring_controller is None:
        return named
    return {**named, "ring": {"file": f"{RING_FOLDER}/{RING_FILE}", "name": ring_name(order.name)}}


def _code(order: Order) -> dict[str, Any]:
    return {} if order.shipment.zip is None else {"code": CODE_FOLDER}
