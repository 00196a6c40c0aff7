"""One node's part in the rank table: what it is equipped with, what it brings, and the files it writes."""

import os
from typing import Any, Dict, List, Optional

from ..octets import to_bytes, to_text
from ..plan import Plan
from ..problem import Problem, Refused, from_oserror
from . import toolkit
from .cards import Brought, bring, crosses_rings
from .gathering import learn

_TABLE_MISSING = Problem("rank-table-invalid", "node 0 sent no rank table", "run the job again")


class Part:
    """Made once per launcher. `notes` are sentences for whoever looks at the job."""

    def __init__(self, plan: Plan, node: int, folder: str) -> None:
        self._node = node
        self._folder = folder
        self.notes: List[str] = []
        self._brought: Optional[Brought] = bring(plan, node, os.environ) if plan.has_table else None

    @property
    def hello(self) -> Optional[Dict[str, Any]]:
        """What node 0 is to know of this node's cards; None for a job without any."""
        return None if self._brought is None else self._brought.as_json()

    def equip(self, plan: Plan) -> Plan:
        """The plan with the toolkit of this node, its real cards, and the folder of its tables; raises `Refused`."""
        plan = plan._replace(toolkit=toolkit.variables(plan.inside.root if plan.inside is not None else ""))
        if self._brought is None:
            return plan
        ids = [card for card, _ in self._brought.cards]
        self._doubt(self._brought, ids)
        devices = [ids if node == self._node else list(others) for node, others in enumerate(plan.devices)]
        return plan._replace(devices=devices, tables=self._choose(plan))

    def learn(self, plan: Plan, told: Any) -> Plan:
        """The plan with the table that came with the order to start; its files are written. Raises `Refused`."""
        if self._brought is None:
            return plan
        if told is None:
            raise Refused(_TABLE_MISSING)
        learned = learn(told, self._brought)
        try:
            for name, content in sorted(learned.files.items()):
                _replace(f"{plan.tables}/{name}", content, self._node)
        except OSError as error:
            raise Refused(from_oserror(error, "write the rank table")) from error
        return plan._replace(seating=learned.seating)

    def _doubt(self, brought: Brought, ids: List[int]) -> None:
        listed = ", ".join(map(str, ids))
        if not brought.known:
            self.notes.append(f"nothing says which cards {brought.pod} holds: the rank table counts them, {listed}")
        elif crosses_rings(ids):
            where = f"cards {listed} of node {self._node} lie on both rings of their board, 0-3 and 4-7"
            self.notes.append(f"{where}: HCCL does not connect {len(ids)} cards across them")

    def _choose(self, plan: Plan) -> str:
        """Where the older platform had them, if this pod may write there."""
        if plan.inside is None:
            return to_text(os.fsencode(os.path.dirname(self._folder)))
        wanted = f"{plan.inside.root}/home/{plan.user}/.npu/{plan.job}"
        try:
            _claim(wanted)
        except OSError as error:
            self.notes.append(f"the rank tables are in {plan.inside.run}, since {wanted} says: {error.strerror}")
            return plan.inside.run
        return wanted


def _claim(folder: str) -> None:
    """Make the folder and try it; whose home it is in, theirs are the folders we make. Raises `OSError`."""
    made = []
    path = os.fsdecode(to_bytes(folder))
    while not os.path.isdir(path):
        made.append(path)
        path = os.path.dirname(path)
    owner = os.stat(path)
    for one in reversed(made):
        os.makedirs(one, 0o755, exist_ok=True)  # another pod of the job may be as far with the same home
        if os.geteuid() == 0 and owner.st_uid != 0:
            os.chown(one, owner.st_uid, owner.st_gid)
    trial = os.path.join(os.fsdecode(to_bytes(folder)), f".try.{os.uname().nodename}.{os.getpid()}")
    os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))
    os.unlink(trial)


def _replace(path: str, content: bytes, node: int) -> None:
    """Write a file that is whole or absent, and readable for everybody who trains.

    Pods may share a home, and their launchers a process number: the name beside is this node's own. A file that is
    right already is left alone.
    """
    target = to_bytes(path)
    if _read(target) == content:
        return
    beside = to_bytes(f"{path}.{node}.{os.getpid()}.tmp")
    try:
        _fill(beside, content)
        os.rename(beside, target)
    except OSError:
        _forget(beside)
        raise


def _fill(path: bytes, content: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
    finally:
        os.close(file)


def _forget(path: bytes) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # it was never made


def _read(path: bytes) -> Optional[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
