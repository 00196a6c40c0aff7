"""What HCCL says in a log when it refuses a rank table, and which key that means.

EI0004 carries a reason in words, EI0014 (newer toolkits) a value, a variable and what was expected. The words differ
between versions, so each reason is known by the few that all of them share.
"""

from __future__ import annotations

import re
from typing import Dict, Iterable, List, NamedTuple, Tuple

from jupyter_aiarts.launcher.ascend.finding import Finding

MOST = 20
_LONGEST_LINE = 4000
_ASKED = re.compile(r"EI0004|EI0014|HCCL|errNo|rank|devId", re.IGNORECASE)
_VARIABLE = re.compile(
    r"Value (?P<value>.{0,200}?) for rank ?table variable (?P<key>\S{1,60}) is invalid\. "
    r"Expected value: (?P<expected>.{0,200}?)(?:\.(?=\s|$)|$)",
    re.IGNORECASE,
)
_REASON = re.compile(r"EI0004.{0,300}?Reason:? ?\[(?P<reason>[^\]]{1,300})\]", re.IGNORECASE)


class Heard(NamedTuple):
    """A line of a log that is about the rank table: its number, its code and what it means."""

    line: int
    code: str
    said: str
    finding: Finding


_ENOUGH = "start as many processes as the table has cards, or make a larger table"
# The words of a reason, then key, what is wrong, cure and our word for it. The first that fits wins.
_REASONS: Tuple[Tuple[str, Finding], ...] = (
    (
        r"exceeds the rank ?size",
        Finding("RANK_ID", "is larger than the last rank of the table", _ENOUGH, "rank-too-high"),
    ),
    (
        r"inconsistent with the local devId|but local devId",
        Finding(
            "device_id",
            "of this rank is not the card that the process opened",
            "write the card's physical id, or set DEVICE_ID to the card of this rank",
            "device-differs",
        ),
    ),
    (
        r"'?super_device_id'? must be",
        Finding("super_device_id", "is no number", "write digits in double quotes", "not-a-number"),
    ),
    (
        r"must start from 0 or it is used repeatedly|check rankList",
        Finding("rank_id", "does not count from 0 or stands twice", "count from 0 without gaps", "rank-gap"),
    ),
    (
        r"rank_?id must be an? digit|identify must be (an? )?digit",
        Finding(
            "RANK_ID",
            "is no number, and a table with rank_id wants one",
            "set RANK_ID to this process's rank, or use a cloud table for pod names",
            "rank-not-digits",
        ),
    ),
    (
        r"rank_?id in (the )?rank_?table is invalid",
        Finding("rank_id", "is no number", 'write digits in double quotes: "rank_id": "0"', "not-a-number"),
    ),
    (r"rank_?id is invalid", Finding("RANK_ID", "is not a rank of the table", _ENOUGH, "rank-too-high")),
    (
        r"'?server_count'? in (the )?rank_?table is invalid",
        Finding("server_count", "is not the number of servers", "count server_list", "count-differs"),
    ),
    (
        r"'?server_list'? in (the )?rank_?table is empty",
        Finding("server_list", "is empty", "list every server with its cards", "empty"),
    ),
    (
        r"'?super_pod_id'? in (the )?rank_?table is invalid or empty",
        Finding("super_pod_list[…].super_pod_id", "is missing or empty", "name every super pod", "empty"),
    ),
    (
        r"'?server_id'? in (the )?rank_?table '?super_pod_list'?",
        Finding(
            "super_pod_list[…].server_list[…].server_id",
            "is not in server_list",
            "write a server_id that server_list has",
            "unknown-server",
        ),
    ),
    (
        r"IP is used repeatedly|serverId is used repeatedly|\[\w+_(ip|id|name)\]:\[.{0,200}\] is already exist",
        Finding("device_ip", "or a server_id, pod_name or group_name stands twice", "give each its own", "ip-repeated"),
    ),
    (
        r"serverId in (the )?rank_?table is invalid",
        Finding("server_id", "is not what this toolkit takes", "write the server's IPv4 address", "empty"),
    ),
    (
        r"not a valid ip address|ips in (the )?rank_?table is invalid|IP address in the rank_?table is inconsistent",
        Finding(
            "device_ip",
            "is no IP address, or not the one the card has",
            "write what `hccn_tool -i <device_id> -ip -g` says",
            "not-an-ip",
        ),
    ),
    (
        r"'?device_ip'? is not set correctly",
        Finding(
            "device_ip",
            "is missing, and several servers (or HCCL_INTRA_ROCE_ENABLE=1) need it",
            "write what `hccn_tool -i <device_id> -ip -g` says",
            "ip-missing",
        ),
    ),
    (
        r"property value of Name\[(?P<key>\w{1,40})\] is not string",
        Finding("{key}", "is no string", "write its value in double quotes", "not-a-string"),
    ),
    (
        r"Invalid rank_?table format|load file\[.{0,200}\] to json fail",
        Finding("", "is no JSON", "take comments out and check commas and quotes", "not-json"),
    ),
    (
        r"path \S{1,300} is not a valid (\.json file|real path)",
        Finding(
            "RANK_TABLE_FILE",
            "names no file that ends in .json",
            "set it to the path of the table, with .json at its end only",
            "path-not-json",
        ),
    ),
    (
        r"Load rank_?table file\[.{0,200}\] timeout",
        Finding(
            "status", 'did not become "completed" within 30 minutes', "look why nobody filled it in", "not-completed"
        ),
    ),
    (
        r"device / server is invalid|devNum\[?\d*\]? ?(must be|out of range)",
        Finding("device_id", "lists a number of cards that no server trains on", "list 1, 2, 4 or 8", "card-count"),
    ),
    (
        r"device_id\[\d+\] more than \d+ is invalid",
        Finding("device_id", "is higher than any card's", "write the card's physical id", "device-too-high"),
    ),
)
_KNOWN = tuple((re.compile(words, re.IGNORECASE), finding) for words, finding in _REASONS)
_CURES: Dict[str, str] = {
    "rank_id": _ENOUGH,
    "devNum": "list 1, 2, 4 or 8 cards on one server, 8 on each of several",
    "IP": "write the address that `hccn_tool -i <device_id> -ip -g` says",
    "device_id": "write the card's physical id, or set DEVICE_ID to the card of this rank",
}
_KEYS = {"IP": "device_ip", "devNum": "device_id"}


def read(lines: Iterable[str]) -> List[Heard]:
    """What HCCL refused, each thing once, in the order of the log."""
    found: List[Heard] = []
    known = set()
    for number, line in enumerate(lines, 1):
        short = line[:_LONGEST_LINE]
        heard = _read_line(number, short) if _ASKED.search(short) else None
        if heard is not None and heard.finding not in known:
            known.add(heard.finding)
            found.append(heard)
            if len(found) >= MOST:
                break
    return found


def _read_line(number: int, line: str) -> "Heard | None":
    code = "EI0014" if "EI0014" in line else "EI0004" if "EI0004" in line else "HCCL"
    value = _VARIABLE.search(line)
    if value:
        return Heard(number, "EI0014", value.group().strip(), _from_variable(value.groupdict()))
    for words, finding in _KNOWN:
        match = words.search(line)
        if match:
            key = finding.key.format(**match.groupdict()) if match.groupdict() else finding.key
            return Heard(number, code, _said(line, match.group()), finding._replace(key=key))
    if code == "HCCL":
        return None
    reason = _REASON.search(line)
    message = f"is refused: {reason.group('reason')}" if reason else "is refused, and the line does not say why"
    return Heard(number, code, line.strip()[:200], Finding("", message, "check it with this doctor", "refused"))


def _from_variable(said: Dict[str, str]) -> Finding:
    key = _KEYS.get(said["key"], said["key"])
    message = f"is {said['value']}, and HCCL expects {said['expected']}"
    return Finding(key, message, _CURES.get(said["key"], f"write {said['expected']}"), "differs-from-machine")


def _said(line: str, match: str) -> str:
    reason = _REASON.search(line)
    return reason.group("reason") if reason else match
