"""The variables of a job: what every rank finds in its environment, and what pod.env holds.

Pure: from a plan, a node index and a card index to names and values; nothing is looked up anywhere.
"""

import json
from typing import Dict, List, Mapping, NamedTuple, Optional

from .plan import TABLES, Plan

RANK_VARIABLES = frozenset([
    "RANK_SIZE", "RANK_ID", "DEVICE_ID", "DEVICE_NUM", "RANK", "WORLD_SIZE", "LOCAL_RANK",
    "LOCAL_WORLD_SIZE", "NODE_RANK", "NPROC_PER_NODE", "MASTER_ADDR", "MASTER_PORT", "RANK_TABLE_FILE",
    "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE", "PET_MASTER_ADDR", "PET_MASTER_PORT",
    "TF_CONFIG", "MS_WORKER_NUM", "MS_LOCAL_WORKER", "MS_SCHED_HOST", "MS_SCHED_PORT", "MS_NODE_RANK",
])  # fmt: skip
"""Names a user may not set: each process gets its own, or must not have them at all."""

GRANT_VARIABLES = frozenset(["NVIDIA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"])
"""Names a user may not set: they decide which cards a process sees."""

FOLDER_LISTS = frozenset(["PATH", "LD_LIBRARY_PATH", "PYTHONPATH"])
"""Names whose values are lists of folders: the toolkit's are added to those that are there."""


class Seat(NamedTuple):
    """One process of the job: which node, which card of it, and its number among all processes."""

    node: int
    card: int
    rank: int
    devices: List[int]


def seats(plan: Plan, node: int) -> List[Seat]:
    """The processes that `node`'s launcher starts."""
    if plan.processes == "node":
        return [Seat(node, 0, node, list(plan.devices[node]))]
    width = plan.ranks_per_node
    return [Seat(node, card, node * width + card, plan.devices[node][card : card + 1]) for card in range(width)]


class Places(NamedTuple):
    """Where the launcher put this rank's own files."""

    pod_env: str
    tmp: str


def exported(plan: Plan, seat: Seat, places: Places) -> Dict[str, str]:
    """What pod.env holds for this rank: the node's, the user's and the rank's variables; no secrets."""
    ours = {**toolkit_variables(plan), **node_variables(plan, seat.node, places)}
    free = _first_on_path(plan, {**plan.extra, **ours, **plan.env})
    return {**_without(free, reserved_names()), **rank_variables(plan, seat), **plan.grants[seat.node]}


def process_environment(plan: Plan, seat: Seat, places: Places, secret: Mapping[str, str]) -> Dict[str, str]:
    """The whole environment of this rank's process.

    Later wins: a default, the base, what pod.env holds, the secrets. Reserved names come from us only.
    """
    base = {"PYTHONUNBUFFERED": "1", **plan.environ}
    held = exported(plan, seat, places)
    allowed = _without(_first_on_path(plan, {**base, **held, **secret}), reserved_names())
    return {**allowed, **{name: value for name, value in held.items() if name in reserved_names()}}


def reserved_names() -> "frozenset[str]":
    """All names that only the platform may set."""
    return RANK_VARIABLES | GRANT_VARIABLES


def node_variables(plan: Plan, node: int, places: Places) -> Dict[str, str]:
    """The variables every process of every kind of job has, named as on the older platform."""
    home = plan.env.get("HOME", plan.environ.get("HOME", "/"))
    return {
        "DLWS_JOB_ID": plan.job,
        "DLWS_USER_NAME": plan.user,
        "DLWS_VC_NAME": plan.queue or "default",
        "DLWS_ROLE_NAME": "master" if plan.nodes == 1 else "worker",
        "DLWS_ROLE_IDX": str(node),
        "DLWS_NUM_WORKER": str(plan.nodes),
        "DLWS_NUM_GPU_PER_WORKER": str(plan.cards),
        "DLWS_GPU_TYPE": plan.device,
        "MAIN_PATH": plan.main_path,
        "SAVE_PATH": plan.save_path,
        "TMP_PATH": places.tmp,
        "TENSORBOARD_LOG_DIR": f"{home.rstrip('/')}/tensorboard/{plan.job}/logs",
        "AIARTS_POD_ENV": places.pod_env,
    }


def toolkit_variables(plan: Plan) -> Dict[str, str]:
    """Ascend's own variables. Lists of folders are added to what the image or the submitter has; anything else that
    is set already stays as it is."""
    return {name: _beside(name, value, plan.environ.get(name)) for name, value in plan.toolkit.items()}


def _beside(name: str, value: str, present: Optional[str]) -> str:
    if not present or name not in FOLDER_LISTS:
        return value if present is None else present
    there = present.split(":")
    more = [folder for folder in value.split(":") if folder and folder not in there]
    # A program that the image has is not replaced by the toolkit's; a library of the toolkit must be its own.
    return ":".join(there + more if name == "PATH" else more + there)


def pod_name(plan: Plan, node: int) -> str:
    """What the cloud form of a rank table calls this node: its pod, or the name the older platform gave it."""
    named = plan.environ.get("POD_NAME") if plan.inside is not None else None
    return named or (plan.job if plan.nodes == 1 else f"{plan.job}-worker-{node}")


def rank_variables(plan: Plan, seat: Seat) -> Dict[str, str]:
    """The variables that differ from process to process, or that frameworks meet by."""
    per_node = max(plan.cards, plan.ranks)
    world = plan.nodes * per_node
    first = seat.node * per_node
    by_card = plan.processes == "card"
    table: Dict[str, Optional[object]] = {
        "RANK_SIZE": world,
        "RANK_ID": first + seat.card,
        "DEVICE_ID": seat.card if plan.cards else None,
        "DEVICE_NUM": per_node,
        "RANK": first + seat.card if by_card else seat.node,
        "WORLD_SIZE": world if by_card else plan.nodes,
        "LOCAL_RANK": seat.card if by_card else None,
        "LOCAL_WORLD_SIZE": per_node,
        "NODE_RANK": seat.node,
        "NPROC_PER_NODE": per_node,
        "MASTER_ADDR": plan.master_addr,
        "MASTER_PORT": plan.master_port,
    }
    if not by_card:
        table.update(_torchrun(plan, seat.node, per_node))
    table.update(_framework(plan, seat, per_node))
    if plan.has_table:
        table.update(_rank_table(plan, seat))
    return {name: str(value) for name, value in table.items() if value is not None}


def _rank_table(plan: Plan, seat: Seat) -> Dict[str, object]:
    """The table's file; and RANK_ID where the table, and not the seat, says what it is."""
    from .ascend.table import NAMES  # other jobs have nothing to do with it

    if plan.seating is not None:
        return {"RANK_TABLE_FILE": f"{plan.tables}/{plan.seating.file}", "RANK_ID": plan.seating.ids[seat.card]}
    named = {"RANK_TABLE_FILE": f"{plan.tables}/{NAMES[TABLES[plan.rank_table]]}"}
    # HCCL looks for itself by the name of the pod in the cloud form, which has no ranks.
    return {**named, "RANK_ID": pod_name(plan, seat.node)} if plan.rank_table == "cloud" else dict(named)


def _torchrun(plan: Plan, node: int, per_node: int) -> Dict[str, object]:
    """What `torchrun script.py` without options reads; torchrun itself numbers the processes."""
    return {
        "PET_NNODES": plan.nodes,
        "PET_NODE_RANK": node,
        "PET_NPROC_PER_NODE": per_node,
        "PET_MASTER_ADDR": plan.master_addr,
        "PET_MASTER_PORT": plan.master_port,
    }


def _framework(plan: Plan, seat: Seat, per_node: int) -> Dict[str, object]:
    if plan.framework == "tensorflow":
        return {"TF_CONFIG": _tf_config(plan, seat)}
    if plan.framework == "mindspore":
        return {
            "MS_WORKER_NUM": plan.nodes * per_node,
            "MS_LOCAL_WORKER": per_node,
            "MS_SCHED_HOST": plan.address or plan.master_addr,
            "MS_SCHED_PORT": plan.master_port,
            "MS_NODE_RANK": seat.node,
        }
    return {}


def _tf_config(plan: Plan, seat: Seat) -> str:
    """Workers that share an address have a port each, counted up from the job's."""
    width = plan.ranks_per_node
    workers = [_tf_worker(plan, index // width, index % width) for index in range(plan.nodes * width)]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": seat.rank}})


def _tf_worker(plan: Plan, node: int, place: int) -> str:
    if plan.hosts is not None:
        return f"{plan.hosts[node]}:{plan.master_port + place}"
    return f"{plan.master_addr}:{plan.master_port + node * plan.ranks_per_node + place}"


def _first_on_path(plan: Plan, variables: Dict[str, str]) -> Dict[str, str]:
    """`variables` with the pod's own programs found before any of the same name, wherever a PATH is set."""
    programs = plan.inside.programs if plan.inside is not None else None
    path = variables.get("PATH")
    if programs is None or path is None or path.split(":")[0] == programs:
        return variables
    return {**variables, "PATH": f"{programs}:{path}"}


def _without(variables: Mapping[str, str], names: "frozenset[str]") -> Dict[str, str]:
    return {name: value for name, value in variables.items() if name not in names}
