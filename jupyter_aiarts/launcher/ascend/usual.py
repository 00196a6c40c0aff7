"""Tables in which plainly nothing is wrong: version 1.0, several servers with eight cards each, an IPv4 address for
every card. That is nearly every large table, and what `checking` would look up card by card, sets tell at once.

Only a yes counts: whatever is the least bit different is `checking`'s to judge, and to find the words for.
"""

import json
import socket
from functools import partial
from operator import itemgetter
from typing import Any, Dict, List

from .finding import LONGEST_NAME
from .reading import no_constant, whole_number

MOST_SERVERS = 512

_HEAD = {"status": "completed", "version": "1.0"}
_BOARD = set("01234567")
_CARD = itemgetter("device_id", "device_ip", "rank_id")
_ipv4 = partial(socket.inet_pton, socket.AF_INET)


def is_sound(text: str) -> bool:
    """Whether this is such a table, and HCCL takes it as it is."""
    try:
        document = json.loads(text, parse_constant=no_constant, parse_int=whole_number)
        return _is_usual(document) and text.count(":") == _keys(document["server_list"])
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return False  # something is not what it should be; what, is to be said by others


def _is_usual(document: Dict[str, Any]) -> bool:
    servers = document["server_list"]
    if type(servers) is not list or not 1 < len(servers) <= MOST_SERVERS:
        return False
    return document == {**_HEAD, "server_count": str(len(servers)), "server_list": servers} and _are_servers(servers)


def _are_servers(servers: List[Dict[str, Any]]) -> bool:
    """Each named once, and shortly; all their cards as they should be."""
    names = [server["server_id"] for server in servers]
    short = all(0 < len(name.encode("utf-8", "replace")) <= LONGEST_NAME for name in names)
    usual = all(len(server) == 3 and "host_nic_ip" in server for server in servers)
    boards = [server["device"] for server in servers]
    return short and usual and len(set(names)) == len(names) and set(map(type, boards)) == {list} and _are_cards(boards)


def _are_cards(boards: List[List[Dict[str, Any]]]) -> bool:
    """Eight on every board, and all over the table each rank and each address once."""
    cards, ips, ranks = zip(*[_CARD(device) for board in boards for device in board])
    eight = len(_BOARD)
    if set(map(len, boards)) != {eight}:
        return False
    if any(_BOARD.symmetric_difference(cards[at : at + eight]) for at in range(0, len(cards), eight)):
        return False
    return set(ranks) == set(map(str, range(len(ranks)))) and len(set(map(_ipv4, ips))) == len(ips)


def _keys(servers: List[Dict[str, Any]]) -> int:
    """How many keys such a table has. Each takes a colon: with as many of those, none is written twice, and nothing
    else is in there."""
    return len(_HEAD) + 2 + 3 * len(servers) + 3 * sum(len(server["device"]) for server in servers)
