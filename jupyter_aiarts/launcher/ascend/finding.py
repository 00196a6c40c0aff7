"""What is wrong with a rank table, each thing under the key that has to change."""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..substitution import nearest

MOST = 50  # a reader who has corrected these looks again
LONGEST_NAME = 63  # HCCL: names are shorter than 64
NUMBER = re.compile(r"[0-9]{1,9}\Z")  # what HCCL takes for one: digits, and not more than it can count

_SHOWN = 60

Object = Dict[str, Any]


class Finding(NamedTuple):
    """One mistake: the key's place in the file, what is wrong there, what to do, and a word that stays the same."""

    key: str
    message: str
    cure: str
    code: str

    def sentence(self) -> str:
        """All of it for a person."""
        return f"{self.key or 'the table'} {self.message}: {self.cure}"


class Enough(Exception):
    """`MOST` mistakes are known; more would not help anybody."""


class Seat(NamedTuple):
    """One card as a table lists it, with what could not be read left None; `key` is its place in the file."""

    key: str
    rank_key: str
    server_id: Optional[str]
    device: Optional[int]
    ip: str
    rank: Optional[int]
    pod: str = ""


class Notes:
    """Reads fields the way HCCL does and notes each one that HCCL would refuse."""

    def __init__(self) -> None:
        self.findings: List[Finding] = []

    def add(self, key: str, message: str, cure: str, code: str) -> None:
        """Note a mistake; raises `Enough` when there are too many to read."""
        self.findings.append(Finding(key, message, cure, code))
        if len(self.findings) >= MOST:
            raise Enough

    def text(self, at: str, holder: Object, key: str) -> Optional[str]:
        """The string under `key`; None when it is absent or no string. A number is noted and read all the same."""
        value = holder.get(key)
        if type(value) is str:
            return value
        if key not in holder:
            self.absent(at, holder, key)
            return None
        said = str(value) if type(value) in (int, float) else None
        cure = f'write "{key}": "{said}"' if said else "write a text in double quotes"
        self.add(place(at, key), f"is {shown(value)}, and HCCL reads strings only", cure, "not-a-string")
        return said

    def name(self, at: str, holder: Object, key: str) -> Optional[str]:
        """A string that names something, so neither empty nor long."""
        value = self.text(at, holder, key)
        if value == "":
            self.add(place(at, key), "is empty", "write the name that it stands for", "empty")
            return None
        if value is not None and len(value.encode("utf-8", "replace")) > LONGEST_NAME:
            message = f"has {len(value)} characters, and HCCL takes at most {LONGEST_NAME}"
            self.add(place(at, key), message, "shorten it", "too-long")
        return value

    def number(self, at: str, holder: Object, key: str) -> Optional[int]:
        """A whole number from 0, written as a string."""
        value = holder.get(key)
        if type(value) is not str:
            value = self.text(at, holder, key)
        if value is None or NUMBER.match(value):
            return None if value is None else int(value)
        cure = f'write digits, for instance "{key}": "0"'
        self.add(place(at, key), f"is {shown(value)}, which is no whole number from 0", cure, "not-a-number")
        return None

    def count(self, at: str, holder: Object, key: str, real: int, what: str) -> None:
        """A number that has to be the number of things there are."""
        value = self.number(at, holder, key)
        if value is not None and value != real:
            cure = f'write "{key}": "{real}"'
            self.add(place(at, key), f'is "{value}", but the file has {real} {what}', cure, "count-differs")

    def once(
        self, at: str, key: str, value: Optional[str], first_of: Dict[str, str], cure: str = "give every entry its own"
    ) -> None:
        """A name that no other entry may have; `first_of` is where each one was first."""
        first = first_of.setdefault(value, at) if value is not None else at
        if first != at:
            message = f"is {shown(value)}, which is already the {key} of {first}"
            self.add(place(at, key), message, cure, "repeated")

    def objects(self, at: str, holder: Object, key: str) -> List[Tuple[str, Object]]:
        """The members of a list that has to have some, each with its place; what is no object is noted and left out."""
        value = holder.get(key)
        if key not in holder:
            self.absent(at, holder, key)
        elif not isinstance(value, list):
            self.add(place(at, key), f"is {shown(value)}, not a list", "write [ … ] around its entries", "not-a-list")
        elif not value:
            self.add(place(at, key), "is an empty list", "write at least one entry", "empty")
        if not isinstance(value, list):
            return []
        head = place(at, key)
        found = []
        for number, one in enumerate(value):
            spot = f"{head}[{number}]"
            if isinstance(one, dict):
                found.append((spot, one))
            else:
                self.add(spot, f"is {shown(one)}, not an object", 'write { "key": "value" … }', "not-an-object")
        return found

    def absent(self, at: str, holder: Object, key: str) -> None:
        """Note that `key` is missing, and the misspelt key that it probably is."""
        near = nearest(key, [str(name) for name in holder if name != key][:100])
        cure = f"rename {shown(near)} to {key}" if _is_misspelt(key, near) else f'add "{key}"'
        self.add(place(at, key), "is missing", cure, "missing")


def place(at: str, key: str) -> str:
    """The place of a key: `server_list[0].server_id`."""
    return f"{at}.{key}" if at else key


def length(value: Any) -> int:
    """How many entries a list has; none for what is no list."""
    return len(value) if isinstance(value, list) else 0


def shown(value: Any) -> str:
    """A value of the file in a sentence: short, on one line, nothing that a terminal obeys."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = ascii(value) if isinstance(value, str) else f"the number {value}"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _is_misspelt(key: str, near: str) -> bool:
    """`rankid` for `rank_id`, not `device_id` for `device_ip`."""
    return bool(near) and near.lower().replace("_", "").replace("-", "") == key.replace("_", "")
