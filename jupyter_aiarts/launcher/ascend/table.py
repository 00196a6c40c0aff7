"""Rank tables as they are written: who has which rank, on which card, at which address. Pure.

Three forms for three readers, all scalars strings: `v1` (version 1.0, every framework), `lab` (MindSpore's
`hccl_ms.json`, one instance per card) and `cloud` (TensorFlow's `hccl_tf.json`, one instance per pod).
"""

import json
from operator import attrgetter
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

FORMS = ("v1", "lab", "cloud")
NAMES = {"v1": "hccl.json", "lab": "hccl_ms.json", "cloud": "hccl_tf.json"}
_NICS = 8  # what the lab form says of every board; HCCL does not read it for the cards' own ports

_rank = attrgetter("rank")
_SPREAD = ("server_list", "instance_list", "device")  # lists whose first entry, too, has a line of its own
# One call for all of it, which is in C. No string of JSON holds a bare tab or newline, so these are the layout's own,
# and `encode` can tell them from any text. ASCII: readable whatever the reader's locale.
_ENCODE = json.JSONEncoder(separators=(",\n", ":\t")).encode

Document = Dict[str, Any]


class Card(NamedTuple):
    """One card of a server: its physical id, its address (`""` where nobody knows it) and its rank."""

    device_id: int
    ip: str
    rank: int


class Server(NamedTuple):
    """One node of a job; two nodes on one machine share a `server_id`."""

    server_id: str
    cards: Tuple[Card, ...]
    pod_name: str = ""


def seated(nodes: Sequence[Tuple[str, Sequence[Tuple[int, str]], str]]) -> List[Server]:
    """Servers from `(server_id, [(device_id, ip) …], pod_name)`, with ranks from 0 in node order, then card order."""
    servers = []
    rank = 0
    for server_id, cards, pod_name in nodes:
        seats = [Card(card, ip, number) for number, (card, ip) in enumerate(cards, rank)]
        servers.append(Server(server_id, tuple(seats), pod_name))
        rank += len(cards)
    return servers


def render(servers: Sequence[Server], form: str) -> Document:
    """The document of one of `FORMS`: the same servers give the same document, whatever order they came in."""
    ordered = sorted((server for server in servers if server.cards), key=_first_rank)
    return _RENDERERS[form](ordered)


def encode(document: Document) -> bytes:
    """The file's content: JSON in the document's own order, a line for each server and each card."""
    text = _ENCODE(document)
    for key in _SPREAD:
        text = text.replace(f'"{key}":\t[{{', f'"{key}": [\n {{')
    return (text.replace(',\n"', ', "').replace(",\n{", ",\n {").replace(":\t", ": ") + "\n").encode("ascii")


def _first_rank(server: Server) -> int:
    return int(min(map(_rank, server.cards)))


def _ranked(server: Server) -> List[Card]:
    return sorted(server.cards, key=_rank)


def _v1(servers: Sequence[Server]) -> Document:
    machines = _machines(servers)
    return {
        "status": "completed",
        "version": "1.0",
        "server_count": str(len(machines)),
        "server_list": [
            {"server_id": server_id, "host_nic_ip": "reserve", "device": _v1_cards(cards)}
            for server_id, cards in machines.items()
        ],
    }


def _machines(servers: Sequence[Server]) -> Dict[str, List[Card]]:
    """Cards by `server_id`, which HCCL wants once: nodes on one machine become one entry, its cards by rank."""
    machines: Dict[str, List[Card]] = {}
    for server in servers:
        machines.setdefault(server.server_id, []).extend(server.cards)
    for cards in machines.values():
        cards.sort(key=_rank)
    return machines


def _v1_cards(cards: Sequence[Card]) -> List[Document]:
    # A missing address is left out: in a table of one server HCCL does without, and "" would say less clearly why.
    return [
        {"device_id": str(card), "device_ip": ip, "rank_id": str(rank)}
        if ip
        else {"device_id": str(card), "rank_id": str(rank)}
        for card, ip, rank in cards
    ]


def _lab(servers: Sequence[Server]) -> Document:
    instances = [_lab_instance(server.server_id, card) for server in servers for card in server.cards]
    instances.sort(key=lambda one: int(one["rank_id"]))
    group = {
        "group_name": "test",
        "device_num": str(len(instances)),
        "server_num": str(len({server.server_id for server in servers})),
        "instance_count": str(len(instances)),
        "instance_list": instances,
    }
    return {
        "board_id": "0x0020",
        "chip_info": "910",
        "deploy_mode": "lab",
        "group_count": "1",
        "status": "completed",
        "para_plane_nic_location": "device",
        "para_plane_nic_num": str(_NICS),
        "para_plane_nic_name": [f"eth{number}" for number in range(_NICS)],
        "group_list": [group],
    }


def _lab_instance(server_id: str, card: Card) -> Document:
    device = {"device_id": str(card.device_id), "device_ip": card.ip}
    return {"devices": [device], "rank_id": str(card.rank), "server_id": server_id}


def _cloud(servers: Sequence[Server]) -> Document:
    instances = [_cloud_instance(server) for server in servers]
    group = {
        "group_name": "test",
        "instance_count": str(len(instances)),
        "device_count": str(sum(len(server.cards) for server in servers)),
        "instance_list": instances,
    }
    return {"group_count": "1", "status": "completed", "group_list": [group]}


def _cloud_instance(server: Server) -> Document:
    devices = [{"device_id": str(card.device_id), "device_ip": card.ip} for card in _ranked(server)]
    return {"pod_name": server.pod_name or server.server_id, "server_id": server.server_id, "devices": devices}


_RENDERERS = {"v1": _v1, "lab": _lab, "cloud": _cloud}
