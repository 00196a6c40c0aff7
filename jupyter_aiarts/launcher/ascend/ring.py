"""A cluster's own controller (hccl-controller, Ascend Operator) fills the rank table: wait for it, check it, find
this node in it.

Node 0 alone reads it, from the ConfigMap that its pod has mounted, and passes it on: a kubelet may take a minute to
show a change, each its own, and all nodes must start by the same table.
"""

import json
from typing import List, Optional, Sequence

from ..plan import Ring
from ..problem import Problem, Refused
from .cards import Brought
from .checking import check
from .reading import Table, Unreadable
from .reading import parse as read_table
from .table import NAMES, Server

COMPLETED = "completed"
_MOST = 4 << 20


class NotYet(Exception):
    """There is no table that these nodes can start by, but there may be one; the sentence says what is waited for."""


def look(ring: Ring, everybody: Sequence[Brought]) -> bytes:
    """The controller's table for just these nodes; raises `NotYet`, and `Refused` for one that can never be used."""
    content = _content(ring)
    status = _status(content)
    if status != COMPLETED:
        raise NotYet(f"waiting for the ring controller to complete {ring.name}, which is {status or 'empty'}")
    findings = check(content, rings=False)  # which cards go together, whoever chose them knows
    if findings:
        first = findings[0]
        message = f"the ring controller's table {ring.name} cannot be used: {first.key or 'it'} {first.message}"
        raise Refused(Problem("rank-table-invalid", message, first.cure))
    parsed = parse(content)
    stranger = next((one for one in everybody if _entry(parsed, one) is None), None)
    if stranger is not None:
        raise NotYet(f"waiting for the ring controller to name {stranger.pod} ({stranger.server}) in {ring.name}")
    return content


def overdue(ring: Ring, waiting: str, seconds: float) -> Problem:
    """Everybody came, but no table."""
    hint = (
        f"see what it says: kubectl get configmap {ring.name} -o yaml; an admin looks after the controller, or takes "
        "ring_controller out of the device's profile, so that the launchers make the table"
    )
    return Problem("rank-table-invalid", f"no rank table after {seconds:g} s: {waiting}", hint)


def parse(content: bytes) -> Table:
    """The table; raises `Refused`."""
    try:
        return read_table(content)
    except Unreadable as error:
        raise Refused(error.problem._replace(code="rank-table-invalid")) from error


def file_name(parsed: Table) -> str:
    """What a file of this form is called."""
    return NAMES.get(parsed.form, NAMES["v1"])


def rank_ids(parsed: Table, mine: Brought) -> List[str]:
    """RANK_ID for each card of this node, lowest card first: its rank, or the pod's name in the form without ranks."""
    entry = _entry(parsed, mine)
    if entry is None:
        message = f"the ring controller's table does not name {mine.pod} ({mine.server}) with its cards"
        raise Refused(Problem("rank-table-invalid", message, "run the job again"))
    if parsed.form == "cloud":
        return [entry.pod_name] * len(entry.cards)
    return [str(card.rank) for card in sorted(entry.cards, key=lambda card: card.device_id)]


def _entry(parsed: Table, node: Brought) -> Optional[Server]:
    """The server that this node is; one with other cards is of a pod that was before it."""
    names = {node.server, *node.aliases}
    mine = [one for one in parsed.servers if (one.pod_name == node.pod if one.pod_name else one.server_id in names)]
    ids = sorted(card for card, _ in node.cards)
    for server in mine:
        theirs = sorted(card.device_id for card in server.cards)
        if theirs == ids or (not node.known and len(theirs) == len(ids)):
            return server
    return None


def _content(ring: Ring) -> bytes:
    try:
        with open(ring.file, "rb") as file:
            return file.read(_MOST)
    except OSError as error:
        raise NotYet(f"waiting for the ring controller's table {ring.name}: {error.strerror}") from error


def _status(content: bytes) -> str:
    try:
        document = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return COMPLETED if content.strip() else ""  # what is wrong with it is said by who checks it
    status = document.get("status") if isinstance(document, dict) else None
    return status if isinstance(status, str) else ""
