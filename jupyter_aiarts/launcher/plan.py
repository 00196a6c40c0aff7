"""plan.json: what the launchers of one job are to do. Read once, never changed.

Written by whoever places the job (the local supervisor, the Kubernetes manifest); read by every launcher.
"""

import json
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from .octets import to_bytes
from .problem import Problem, Refused

SCHEMA = 1
KINDS = ("python", "shell", "notebook", "exec", "command")
TABLES = {"v1.0": "v1", "lab": "lab", "cloud": "cloud"}
"""The form of each `rank_table`."""


class Start(NamedTuple):
    """What every rank runs: a file of some kind, or the user's own shell line."""

    kind: str
    path: Optional[str]
    line: Optional[str]
    python: str


class Inside(NamedTuple):
    """Where things are inside a pod; on one machine everything is in the node's folder."""

    pod_env: str
    """A mounted file, written in place."""
    run: str
    """The pod's own folder: variables of single ranks, temporary files."""
    programs: Optional[str] = None
    """A folder that comes first on the ranks' PATH."""
    root: str = ""
    """Nothing in a pod; tests put a pod's tree below a folder."""


class Ring(NamedTuple):
    """A controller of the cluster that numbers the cards itself: the file its rank table comes in, and its name."""

    file: str
    name: str


class Seating(NamedTuple):
    """What a controller's rank table says of this node: the name of its form's file, RANK_ID for each card."""

    file: str
    ids: List[str]


class Plan(NamedTuple):
    """The keys of plan.json, checked; those with a default may be left out, and are, on one machine."""

    job: str
    run: int
    attempt: int
    user: str
    queue: str
    device: str
    nodes: int
    cards: int
    processes: str
    framework: str
    start: Start
    args: List[str]
    paths: List[str]
    workdir: str
    main_path: str
    save_path: str
    environ: Dict[str, str]
    env: Dict[str, str]
    extra: Dict[str, str]
    secrets_file: Optional[str]
    devices: List[List[int]]
    grants: List[Dict[str, str]]
    master_addr: str
    master_port: int
    grace_seconds: float
    max_restarts: int
    max_seconds: Optional[float]
    used_seconds: float
    gang_timeout: float
    meeting: Optional[str]
    token: str
    log_limit_bytes: int
    bell: Optional[str]
    regroup: bool = False
    port: Optional[int] = None
    folder: Optional[str] = None
    code: Optional[str] = None
    hosts: Optional[List[str]] = None
    silence_seconds: float = 30.0
    """How long another launcher may be silent on the wire before it counts as out of reach."""
    reader_seconds: float = 4.0
    """How old a pod is before it ends though nobody has read its log: the kubelet and the watch take two seconds to
    tell of a new pod, so the reader of a short job may still be on the way."""
    readers: Optional[int] = None
    """The group that may read what is written on the log mount; none where its user alone may."""
    rank_table: str = "v1.0"
    """Which of the three rank tables RANK_TABLE_FILE names."""
    ring: Optional[Ring] = None
    ranks: int = 1
    """As how many cards a node without any counts: `aiarts run` starts several processes on any machine."""
    history: Optional[Dict[str, Any]] = None
    """What the pods that this one takes the place of have used up, as far as it is known."""
    environment: Optional[str] = None
    """The folder of the conda environment or venv that ranks run in."""
    own_network: bool = False
    """Whether the ranks of a node share a network with nobody else, as in a pod."""
    address: str = ""
    """Node 0's IP address, known only when ranks start; never in the file, like all that follows."""
    attempt_file: Optional[str] = None
    """Where more of the history may come to stand later."""
    inside: Optional[Inside] = None
    toolkit: Mapping[str, str] = {}
    """The variables of the Ascend toolkit that this node has."""
    tables: str = ""
    """The folder of the rank tables on this node."""
    seating: Optional[Seating] = None

    @property
    def is_ascend(self) -> bool:
        """Whether the job is for Huawei's cards, be it without one."""
        return self.device.startswith("huawei_npu_")

    @property
    def has_table(self) -> bool:
        """Whether its ranks find each other by a rank table."""
        return self.is_ascend and self.cards > 0

    @property
    def ranks_per_node(self) -> int:
        """How many processes one launcher starts; a CPU node counts as one card."""
        return max(self.cards, self.ranks) if self.processes == "card" else 1


_TEXT, _WHOLE, _NUMBER = (str,), (int,), (int, float)
_OPTIONAL_TEXT, _OPTIONAL_NUMBER = (str, type(None)), (int, float, type(None))
_TYPES: Dict[str, Tuple[type, ...]] = {
    "job": _TEXT, "run": _WHOLE, "attempt": _WHOLE, "user": _TEXT, "queue": _TEXT, "device": _TEXT,
    "nodes": _WHOLE, "cards": _WHOLE, "processes": _TEXT, "framework": _TEXT,
    "start": (dict,), "args": (list,), "paths": (list,),
    "workdir": _TEXT, "main_path": _TEXT, "save_path": _TEXT,
    "environ": (dict,), "env": (dict,), "extra": (dict,), "secrets_file": _OPTIONAL_TEXT,
    "devices": (list,), "grants": (list,), "master_addr": _TEXT, "master_port": _WHOLE,
    "grace_seconds": _NUMBER, "max_restarts": _WHOLE, "max_seconds": _OPTIONAL_NUMBER,
    "used_seconds": _NUMBER, "gang_timeout": _NUMBER, "meeting": _OPTIONAL_TEXT, "token": _TEXT,
    "log_limit_bytes": _WHOLE, "bell": _OPTIONAL_TEXT,
}  # fmt: skip
_OPTIONAL_TYPES: Dict[str, Tuple[type, ...]] = {
    "regroup": (bool,), "port": (int, type(None)), "folder": _OPTIONAL_TEXT, "code": _OPTIONAL_TEXT,
    "hosts": (list, type(None)), "silence_seconds": _NUMBER, "reader_seconds": _NUMBER,
    "readers": (int, type(None)), "history": (dict, type(None)), "rank_table": _TEXT, "ring": (dict, type(None)),
    "ranks": _WHOLE, "environment": _OPTIONAL_TEXT, "own_network": (bool,),
}  # fmt: skip


def load(path: str) -> Plan:
    """The plan in the file `path`; raises `Refused` that names the key and the value that is wrong."""
    return from_json(read(path))


def read(path: str) -> Any:
    """The JSON document in the file `path`; raises `Refused`."""
    try:
        with open(path, "rb") as file:
            return json.loads(file.read().decode("utf-8"))
    except OSError as error:
        raise _refused(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise _refused(f"{path} is not JSON: {error}") from error


def from_json(document: Any) -> Plan:
    """The plan a decoded document holds; raises `Refused`. Keys of a later version are left alone."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise _refused(f"the plan does not have schema {SCHEMA}")
    for key, types in _TYPES.items():
        _check(key, document, types)
    more = [key for key in _OPTIONAL_TYPES if key in document]
    for key in more:
        _check(key, document, _OPTIONAL_TYPES[key])
    made = {"start": _start(document["start"]), "ring": _ring(document.get("ring"))}
    plan = Plan(**{**{key: document[key] for key in [*_TYPES, *more]}, **made})
    _check_shape(plan)
    return plan


def told_later(path: Optional[str]) -> Any:
    """The history that attempt.json tells now; None where it tells none."""
    try:
        document = None if path is None else read(path)
    except Refused:
        return None  # it was there at the start: what it said then still counts
    return document.get("history") if isinstance(document, dict) else None


def secrets(path: Optional[str]) -> Dict[str, str]:
    """The secret variables; raises `Refused` that tells the file's name and never its content."""
    if path is None:
        return {}
    try:
        with open(to_bytes(path), "rb") as file:
            document = json.loads(file.read().decode("utf-8"))
    except OSError as error:
        raise _unreadable(path, error.strerror or "unreadable") from error
    except ValueError:
        raise _unreadable(path, "it is not JSON") from None
    if not _is_text_map(document):
        raise _unreadable(path, "it is not an object of texts")
    return dict(document)


def _start(document: Dict[str, Any]) -> Start:
    for key, types in (
        ("kind", _TEXT),
        ("path", _OPTIONAL_TEXT),
        ("line", _OPTIONAL_TEXT),
        ("python", _TEXT),
    ):
        _check(key, document, types, "start.")
    start = Start(document["kind"], document["path"], document["line"], document["python"])
    if start.kind not in KINDS:
        raise _refused(f"start.kind is {start.kind!r}, not one of {', '.join(KINDS)}")
    needed, value = ("line", start.line) if start.kind == "command" else ("path", start.path)
    if not value:
        raise _refused(f"start.{needed} is missing for a start of kind {start.kind!r}")
    return start


def _ring(document: Optional[Dict[str, Any]]) -> Optional[Ring]:
    if document is None:
        return None
    for key in ("file", "name"):
        _check(key, document, _TEXT, "ring.")
    return Ring(document["file"], document["name"])


def _check(key: str, document: Dict[str, Any], types: Tuple[type, ...], prefix: str = "") -> None:
    if key not in document:
        raise _refused(f"{prefix}{key} is missing")
    value = document[key]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        wanted = " or ".join(kind.__name__ for kind in types)
        raise _refused(f"{prefix}{key} is {value!r}, not {wanted}")


def _check_shape(plan: Plan) -> None:
    if plan.processes not in ("node", "card"):
        raise _refused(f"processes is {plan.processes!r}, not node or card")
    if plan.rank_table not in TABLES:
        raise _refused(f"rank_table is {plan.rank_table!r}, not one of {', '.join(TABLES)}")
    if plan.nodes < 1 or plan.cards < 0 or plan.ranks < 1:
        raise _refused(f"nodes is {plan.nodes}, cards is {plan.cards} and ranks is {plan.ranks}")
    if plan.nodes > 1 and not plan.meeting:
        raise _refused(f"meeting is missing for {plan.nodes} nodes")
    for key, per_node in (("devices", plan.devices), ("grants", plan.grants)):
        if len(per_node) != plan.nodes:
            raise _refused(f"{key} has {len(per_node)} entries for {plan.nodes} nodes")
    for ids in plan.devices:
        if len(ids) != plan.cards:
            raise _refused(f"devices is {plan.devices!r} for {plan.cards} cards per node")
    for key, texts in (("args", plan.args), ("paths", plan.paths)):
        if not all(isinstance(text, str) for text in texts):
            raise _refused(f"{key} holds something that is not text")
    for key, mapping in (("environ", plan.environ), ("env", plan.env), ("extra", plan.extra)):
        if not _is_text_map(mapping):
            raise _refused(f"{key} is not an object of texts")
    if plan.hosts is not None and (len(plan.hosts) != plan.nodes or not all(isinstance(h, str) for h in plan.hosts)):
        raise _refused(f"hosts is {plan.hosts!r} for {plan.nodes} nodes")
    if not all(_is_text_map(grant) for grant in plan.grants):
        raise _refused("grants is not a list of objects of texts")


def _is_text_map(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _refused(message: str) -> Refused:
    return Refused(Problem("plan-invalid", message, "this is a fault of the software that wrote the plan"))


def _unreadable(path: str, why: str) -> Refused:
    hint = "submit the job again so that its secret variables are written anew"
    return Refused(Problem("secrets-unreadable", f"cannot read the secret variables in {path}: {why}", hint))
