"""Where a card's address is written down: the pod's annotation, `NPU_IPS`, `hccn_tool`, `/etc/hccn.conf`.

Every source may be absent, late or wrong; what is no address is no answer, and the next source is asked.
"""

import json
import os
import re
import socket
import stat
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import asking

ANNOTATION = "annotation"
VARIABLE = "NPU_IPS"
TOOL = "hccn_tool"
CONF = "hccn.conf"

_USUAL_TOOL = "/usr/local/Ascend/driver/tools/hccn_tool"
_LIMIT = 1 << 20  # no source has a megabyte to say
_CARD = re.compile(r"[0-9]{1,4}\Z")
_TOLD = re.compile(r"^[ \t]*ipaddr[ \t]*:[ \t]*(\S+)[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r"^[ \t]*address_([0-9]{1,4})[ \t]*=[ \t]*(\S+)[ \t]*(?:#.*)?$", re.MULTILINE)

Found = Dict[int, str]


def find(
    device_ids: Sequence[int],
    environ: Mapping[str, str],
    annotation: str = "",
    tool: Optional[str] = None,
    conf: str = "/etc/hccn.conf",
    seconds: float = 5.0,
) -> Dict[int, Tuple[str, str]]:
    """`{card: (address, source)}` for the cards that some source knows, each from the first that does.

    `tool` names hccn_tool (None: look for it on PATH and where the driver puts it); all its runs together get
    `seconds`.
    """
    sources: Tuple[Tuple[str, Callable[[List[int]], Found]], ...] = (
        (ANNOTATION, lambda missing: from_annotation(annotation)),
        (VARIABLE, lambda missing: from_variable(environ.get(VARIABLE, ""))),
        (TOOL, lambda missing: from_tool(missing, tool or find_tool(environ), environ, seconds)),
        (CONF, lambda missing: from_conf(_content(conf))),
    )
    found: Dict[int, Tuple[str, str]] = {}
    for name, ask in sources:
        missing = [card for card in dict.fromkeys(device_ids) if card not in found]
        if missing:
            told = ask(missing)
            found.update({card: (told[card], name) for card in missing if card in told})
    return found


def cure(missing_ids: Iterable[int], node: int) -> List[str]:
    """The lines that give these cards of the `node`-th node (from 0) an address, to be run as root on its host.

    Cards that share a position on every board share a subnet: 192.168.{10,20,30,40}, for node 0 hosts 11 and 12, for
    node 1 hosts 13 and 14 … After 60 nodes the next four subnets begin, 192.168.{11,21,31,41}.
    """
    return [
        f"hccn_tool -i {card} -ip -s address {_address(card, node)} netmask 255.255.255.0"
        for card in sorted(set(missing_ids))
    ]


def _address(card: int, node: int) -> str:
    block, place = divmod(node, 60)
    second_board = 120 if card % 16 >= 8 else 0  # the cards 8 to 15 of larger machines
    return f"192.168.{(card % 4 + 1) * 10 + block}.{11 + second_board + 2 * place + card % 8 // 4}"


def is_address(text: str) -> bool:
    """Whether a card can be reached under this: an IPv4 or IPv6 address, or several with commas between."""
    return all(packed(one) is not None and not _is_nowhere(one) for one in text.split(","))


def packed(text: str) -> Optional[bytes]:
    """The bytes of one IPv4 or IPv6 address, the same for every way to write it; None for any other text."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return socket.inet_pton(family, text)
        except (OSError, ValueError):  # ValueError: a NUL byte, or no ASCII
            continue
    return None


def _is_nowhere(text: str) -> bool:
    # A device plugin writes 127.0.0.1 for a virtual card, "loop" or -1 for one without a port.
    return text.startswith(("127.", "0.")) or text in ("::", "::1")


def from_annotation(text: str) -> Found:
    """Out of `ascend.kubectl.kubernetes.io/ascend-910-configuration`: what the device plugin says of this pod."""
    try:
        said = json.loads(text, parse_int=str) if text and len(text) <= _LIMIT else None
    except (ValueError, RecursionError):
        return {}
    devices = said.get("devices") if isinstance(said, dict) else None
    return _sound(_pair(one) for one in (devices if isinstance(devices, list) else ()))


def _pair(device: Any) -> Tuple[str, str]:
    known = device if isinstance(device, dict) else {}
    return str(known.get("device_id", "")), str(known.get("device_ip", ""))


def from_variable(text: str) -> Found:
    """Out of `NPU_IPS=0:192.168.10.11,1:192.168.20.11`; old pod.env files leave backslashes in it."""
    words = [word for word in text.replace("\\", "").strip(" '\"").split(",") if ":" in word]
    return _sound((card, ip) for card, _, ip in (word.partition(":") for word in words))


def from_conf(text: str) -> Found:
    """Out of hccn.conf's `address_<card>=<address>` lines; every other key is somebody else's."""
    return _sound(_LINE.findall(text))


def from_tool(cards: Sequence[int], tool: Optional[str], environ: Mapping[str, str], seconds: float) -> Found:
    """What `hccn_tool -i <card> -ip -g` prints, for all cards at once; what is not said in time is not said."""
    if tool is None:
        return {}
    answers = asking.ask([[tool, "-i", str(card), "-ip", "-g"] for card in cards], environ, seconds)
    told = ((str(card), _TOLD.search(answer)) for card, answer in zip(cards, answers))
    return _sound((card, match.group(1)) for card, match in told if match)


def find_tool(environ: Mapping[str, str]) -> Optional[str]:
    """Where hccn_tool is; None where it is not."""
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    for path in [os.path.join(folder, "hccn_tool") for folder in folders] + [_USUAL_TOOL]:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _sound(pairs: Iterable[Tuple[str, str]]) -> Found:
    """Only what names a card and gives it an address; of two answers for a card the later one."""
    stripped = ((card.strip(), ip.strip()) for card, ip in pairs)
    return {int(card): ip for card, ip in stripped if _CARD.match(card) and is_address(ip)}


def _content(path: str) -> str:
    """The text of a plain file; nothing for what is absent, unreadable or no file (a pipe would never end)."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        content = os.read(file, _LIMIT) if stat.S_ISREG(os.fstat(file).st_mode) else b""
    except OSError:
        content = b""
    finally:
        os.close(file)
    return content.decode("utf-8", "replace").lstrip("\ufeff").replace("\r", "\n")
