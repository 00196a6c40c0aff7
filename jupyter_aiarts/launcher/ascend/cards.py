"""Which cards a node really has, and under which names it is known: what its launcher brings to the meeting."""

import json
import os
import re
import socket
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..environment import pod_name
from ..plan import Inside, Plan
from . import addresses

CONFIGURATION = "ascend.kubectl.kubernetes.io/ascend-910-configuration"
"""The device plugin's word on a pod: its server, its cards and their addresses."""
LATE_SECONDS = 5.0
"""How long after a pod's start the device plugin may take to write it."""
_PLUGIN = "huawei.com/"
_REAL = "huawei.com/AscendReal"
HIGHEST = 63
"""No machine has more cards; a range in a variable is not to fill the memory."""
_NAMED = re.compile(r"(?:[A-Za-z]\w*-)?([0-9]{1,4})(?:-([0-9]{1,4}))?\Z")
_DEVICE = re.compile(r"davinci([0-9]{1,4})\Z")
_MOST = 1 << 20


class Brought(NamedTuple):
    """One node: its server's id and other names, its host, its pod, its cards with their addresses ("": unknown)."""

    server: str
    pod: str
    host: str
    cards: List[Tuple[int, str]]
    known: bool = True
    """Whether somebody says which cards these are; else they are counted from 0."""
    aliases: Sequence[str] = ()
    """What else a controller may call this server."""

    @property
    def missing(self) -> List[int]:
        """The cards whose address nobody knows."""
        return [card for card, ip in self.cards if not ip]

    def as_json(self) -> Dict[str, Any]:
        """As a hello carries it."""
        return {**self._asdict(), "cards": [list(card) for card in self.cards], "aliases": list(self.aliases)}


def from_json(told: Any) -> Brought:
    """What a hello carried; raises `ValueError` for anything else."""
    try:
        cards = [(int(card), str(ip)) for card, ip in told["cards"]]
        texts = [str(told[key]) for key in ("server", "pod", "host")]
        return Brought(texts[0], texts[1], texts[2], cards, bool(told["known"]), [str(one) for one in told["aliases"]])
    except (KeyError, TypeError) as error:
        raise ValueError("that is no list of cards") from error


def bring(plan: Plan, node: int, environ: Mapping[str, str]) -> Brought:
    """What this node has; looks at the pod's annotations, its environment, its devices, and asks `hccn_tool`."""
    name = pod_name(plan, node)
    heard = {**environ, **{key: plan.env[key] for key in (addresses.VARIABLE,) if key in plan.env}}
    if plan.inside is None:
        ids = list(plan.devices[node])
        return Brought(own_address(), name, socket.gethostname(), _addressed(ids, heard, "", "/etc/hccn.conf"))
    inside = plan.inside

    def look(notes: Mapping[str, str]) -> Tuple[Optional[List[int]], List[Tuple[int, str]]]:
        told = held_cards(plan.cards, environ, notes, inside.root + "/dev")
        ids = told or list(range(plan.cards))
        return told, _addressed(ids, heard, notes.get(CONFIGURATION, ""), inside.root + "/etc/hccn.conf")

    notes = annotations(inside)
    told, cards = look(notes)
    if not all(ip for _, ip in cards) and CONFIGURATION not in notes and any(key.startswith(_PLUGIN) for key in notes):
        notes = _later(inside)
        told, cards = look(notes)
    aliases = [_server_id(notes.get(CONFIGURATION, "")), environ.get("AIARTS_HOST_IP", "")]
    return Brought(
        environ.get("POD_IP") or own_address(), name, environ.get("HOST_NAME") or socket.gethostname(),
        cards, told is not None, [one for one in aliases if one],
    )  # fmt: skip


def annotations(inside: Inside) -> Dict[str, str]:
    """The pod's annotations as Kubernetes mounts them: `name="value"` lines, quoted; none where they are not."""
    try:
        with open(inside.root + "/aiarts/pod/annotations", encoding="utf-8", errors="replace") as file:
            lines = file.read(_MOST).splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, _, quoted = line.partition("=")
        try:
            found[name] = str(json.loads(quoted))
        except ValueError:
            continue  # a value with a byte that JSON does not know; none of those we look for has one
    return found


def held_cards(count: int, environ: Mapping[str, str], notes: Mapping[str, str], devices: str) -> Optional[List[int]]:
    """The physical ids of this pod's cards by the first source that names just as many as it asked for."""
    chosen = [value for name, value in notes.items() if name.startswith(_PLUGIN + "Ascend") and name != _REAL]
    texts = [
        environ.get("ASCEND_VISIBLE_DEVICES", ""), environ.get("VISIBLE_IDS", ""), notes.get(_REAL, ""), *chosen,
        ",".join(_configured(notes.get(CONFIGURATION, ""))),
    ]  # fmt: skip
    for ids in [*map(card_ids, texts), present(devices)]:
        if len(ids) == count:
            return sorted(ids)
    return None


def card_ids(text: str) -> List[int]:
    """The ids in `0,1`, `0-3` or `Ascend910-0,Ascend910-1`, each once, as written; nothing for anything else."""
    found: List[int] = []
    for word in text.replace("\\", "").split(","):
        match = _NAMED.match(word.strip())
        if match is None:
            return []
        first = int(match.group(1))
        last = int(match.group(2) or first)
        if not first <= last <= HIGHEST:
            return []
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def present(devices: str) -> List[int]:
    """The cards that have a device node in this folder; in a container, those that it was given."""
    try:
        matches = [_DEVICE.match(name) for name in os.listdir(devices)]
    except OSError:
        return []
    return sorted(card for card in (int(match.group(1)) for match in matches if match) if card <= HIGHEST)


def crosses_rings(ids: Sequence[int]) -> bool:
    """Whether two or four cards lie on both rings of a board of eight."""
    return len(ids) in (2, 4) and max(ids) < 8 and len({card // 4 for card in ids}) > 1


def own_address() -> str:
    """The address this machine sends from; nothing is sent to find it."""
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        probe = socket.socket(family, socket.SOCK_DGRAM)
        try:
            probe.connect((far, 9))
            return str(probe.getsockname()[0])
        except OSError:
            continue  # no way out by this family
        finally:
            probe.close()
    return "127.0.0.1"


def _addressed(ids: List[int], environ: Mapping[str, str], annotation: str, conf: str) -> List[Tuple[int, str]]:
    found = addresses.find(ids, environ, annotation, conf=conf)
    return [(card, found[card][0] if card in found else "") for card in ids]


def _later(inside: Inside) -> Dict[str, str]:
    """The annotations again, once the device plugin has written its own, or after a while."""
    end = time.monotonic() + LATE_SECONDS
    while True:
        notes = annotations(inside)
        if CONFIGURATION in notes or time.monotonic() > end:
            return notes
        time.sleep(0.1)


def _configuration(text: str) -> Dict[str, Any]:
    try:
        said = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        said = {}
    return said if isinstance(said, dict) else {}


def _server_id(text: str) -> str:
    said = _configuration(text).get("server_id")
    return said if isinstance(said, str) else ""


def _configured(text: str) -> List[str]:
    devices = _configuration(text).get("devices")
    listed = devices if isinstance(devices, list) else []
    return [str(one.get("device_id")) for one in listed if isinstance(one, dict)]
