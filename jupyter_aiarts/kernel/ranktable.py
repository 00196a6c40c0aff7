"""`%aiarts ranktable`: a rank table for the cards that this kernel sees, so that training on several of them works
inside a notebook, without `/etc/hccn.conf`."""

from __future__ import annotations

import argparse
import os
import shlex
import socket
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.npus import Seen, seen
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said
from jupyter_aiarts.launcher import record
from jupyter_aiarts.launcher.ascend import addresses, checking, reading, table
from jupyter_aiarts.launcher.ascend.cards import card_ids

FOLDER = Path(".aiarts")


class Made(NamedTuple):
    """A table that was written, and what a process of it needs."""

    path: Path
    form: str
    source: str  # who said which cards there are
    ranks: List[Dict[str, Any]]
    missing: List[int]  # cards without an address
    warnings: List[str]

    def variables(self) -> Dict[str, str]:
        """What every rank gets; `RANK_ID` and `DEVICE_ID` are in `ranks`."""
        return {"RANK_TABLE_FILE": str(self.path), "RANK_SIZE": str(len(self.ranks))}

    def as_json(self) -> Dict[str, Any]:
        """For `--json`."""
        known = {"path": str(self.path), "form": self.form, "cards_from": self.source}
        lists = {"ranks": self.ranks, "warnings": self.warnings, "cure": addresses.cure(self.missing, 0)}
        return {**known, "variables": self.variables(), **lists}


class TableMade(Said):
    """The sentence of a made table, with its `path` and `variables` for the cells that follow."""

    def __init__(self, sentence: str, made: Made) -> None:
        super().__init__(sentence)
        self.path = made.path
        self.variables = made.variables()
        self.ranks = made.ranks


def ranktable(session: Session, given: argparse.Namespace) -> Outcome:
    """Make a table, or with `--from` write another one in a second form; warns about addresses, refuses impossible
    cards."""
    form = "v1" if given.form == "v1.0" else given.form  # as a job's spec calls it
    if given.source:
        made = _converted(given, form)
    else:
        made = make(os.environ, given.cards, form, given.output, given.server_id)
    text = _text(session, made)
    return Outcome(TableMade(text, made), made.as_json(), text)


def make(
    environ: Mapping[str, str],
    cards: Optional[str] = None,
    form: str = "v1",
    output: Optional[str] = None,
    server_id: Optional[str] = None,
    dev: str = "/dev",
) -> Made:
    """Write the table of one machine; raises `WrongUsage` when there is none to write."""
    here = seen(environ, dev)
    ids = _asked(cards, here)
    problem = checking.check_cards(ids, here.rings)
    if problem is not None:
        raise WrongUsage(f"A table of cards {_listed(ids)} {problem.message}.", _instead(ids))
    found = addresses.find(ids, environ)
    node = (server_id or machine(environ), [(card, found.get(card, ("", ""))[0]) for card in ids], _pod(environ))
    servers = table.seated([node])
    content = table.encode(table.render(servers, form))
    path = _written(content, form, output)
    counted = here.ids if set(ids) <= set(here.ids) else ids
    ranks = [
        {
            "RANK_ID": servers[0].pod_name if form == "cloud" else str(card.rank),
            "DEVICE_ID": str(counted.index(card.device_id)),
            "card": card.device_id,
            "ip": card.ip or None,
            "ip_from": found[card.device_id][1] if card.ip else None,
        }
        for card in servers[0].cards
    ]
    warnings = [] if here.ids else ["no card is seen here, so the cards you named were not compared with the machine's"]
    warnings += [finding.sentence() for finding in checking.check(content, rings=here.rings)]
    return Made(path, form, here.source if cards is None else "--cards", ranks, _without(ranks), warnings)


def _asked(cards: Optional[str], here: Seen) -> List[int]:
    if cards is None:
        if not here.ids:
            where = "; ".join(here.looked)
            raise WrongUsage(f"No Ascend card is seen here: {where}.", "Name the cards: aiarts ranktable --cards 0,1")
        return here.ids
    ids = card_ids(cards)
    if not ids:
        raise WrongUsage(f"{cards!r} names no cards.", "aiarts ranktable --cards 0,1 or --cards 0-3")
    absent = [card for card in ids if card not in here.ids]
    if here.ids and absent:
        hint = f"This kernel sees cards {_listed(here.ids)} ({here.source})."
        raise WrongUsage(f"Card {_listed(absent)} is not here.", hint)
    return ids


def _instead(ids: Sequence[int]) -> str:
    """Cards out of the same that would do: as many as fit into one ring."""
    rings = [sorted(card for card in set(ids) if card // checking.RING == ring) for ring in (0, 1)]
    largest = max(rings, key=len)
    count = max(number for number in (1, 2, checking.RING) if number <= len(largest))
    return f"For instance: aiarts ranktable --cards {','.join(map(str, largest[:count]))}"


def machine(environ: Mapping[str, str]) -> str:
    """The address that names this machine: where its default route leaves from; no packet is sent."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
    except OSError:
        return environ.get("POD_IP") or "127.0.0.1"


def _pod(environ: Mapping[str, str]) -> str:
    """The name that a cloud table knows this machine by."""
    return environ.get("POD_NAME") or environ.get("DLWS_JOB_ID") or socket.gethostname()


def _without(ranks: Sequence[Mapping[str, Any]]) -> List[int]:
    return [rank["card"] for rank in ranks if rank["ip"] is None]


def _converted(given: argparse.Namespace, form: str) -> Made:
    """Another table's servers in the form that was asked for."""
    from jupyter_aiarts.kernel.doctor_ranktable import content_of

    if given.cards or given.server_id:
        raise WrongUsage("--from takes cards and servers from its file.", "Leave --cards and --server-id out.")
    try:
        read = reading.parse(content_of(Path(given.source)))
    except reading.Unreadable as error:
        hint = f"aiarts doctor ranktable {shlex.quote(given.source)}"
        raise WrongUsage(f"{given.source}: {error}", hint) from None
    content = table.encode(table.render(read.servers, form))
    path = _written(content, form, given.output)
    ranks = [
        {
            "RANK_ID": (server.pod_name or server.server_id) if form == "cloud" else str(card.rank),
            "DEVICE_ID": str(card.device_id),
            "server_id": server.server_id,
            "card": card.device_id,
            "ip": card.ip or None,
            "ip_from": given.source if card.ip else None,
        }
        for server in read.servers
        for card in server.cards
    ]
    warnings = [finding.sentence() for finding in checking.check(content, rings=False)]
    if _places(reading.parse(content).servers) != _places(read.servers):
        warnings.append(
            "HCCL counts a cloud table's cards itself, by server_id as text: their ranks are others than before"
        )
    return Made(path, form, given.source, ranks, _without(ranks) if len(read.servers) == 1 else [], warnings)


def _places(servers: Sequence[table.Server]) -> Dict[Tuple[str, int], int]:
    """The rank of every card."""
    return {(server.server_id, card.device_id): card.rank for server in servers for card in server.cards}


def _written(content: bytes, form: str, output: Optional[str]) -> Path:
    """The file, whole or not at all; a folder gets the form's usual name in it."""
    path = Path(output).expanduser() if output else FOLDER / table.NAMES[form]
    path = Path(os.path.abspath(path / table.NAMES[form] if path.is_dir() else path))
    for finding in checking.check_path(str(path)):
        raise WrongUsage(
            f"HCCL would not take {path}: it wants .json at the end of a path and nowhere else.", finding.cure
        )
    try:
        if output is None:
            path.parent.mkdir(mode=0o700, exist_ok=True)
        record.write(str(path), content)
    except OSError as error:
        raise WrongUsage(f"The table cannot be written to {path}: {error.strerror}.", "Name a path: -o FILE") from None
    return path


def _text(session: Session, made: Made) -> str:
    cards = _listed([rank["card"] for rank in made.ranks])
    lines = [session.say("ranktable", cards=cards, source=made.source, path=made.path)]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in made.variables().items()]
    for rank in made.ranks:
        ip = f"{rank['ip']} ({rank['ip_from']})" if rank["ip"] else session.say("ranktable-no-ip")
        words = " ".join(f"{name}={shlex.quote(rank[name])}" for name in ("RANK_ID", "DEVICE_ID"))
        lines.append(f"  {words}    {_place(rank)}{ip}")
    lines += [session.say("ranktable-warning", warning=warning) for warning in made.warnings]
    if made.missing:
        lines.append(session.say("ranktable-missing", cards=_listed(made.missing)))
        lines += [f"  {line}" for line in addresses.cure(made.missing, 0)]
    return "\n".join(lines)


def _place(rank: Mapping[str, Any]) -> str:
    server: Tuple[str, ...] = (f"{rank['server_id']} ",) if "server_id" in rank else ()
    return f"{''.join(server)}card {rank['card']}, "


def _listed(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))
