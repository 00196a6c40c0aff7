"""Rank tables as they are found: any bytes in, a table or one sentence out.

HCCL decides by two keys which form it reads: `version` for the new template, and without it `deploy_mode` for `lab`,
else `cloud`. So do we.
"""

import json
import re
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Tuple

from ..problem import Problem
from . import template1, template2
from .finding import Enough, Finding, Notes, Object, Seat, place, shown
from .table import Card, Server

LIMIT = 4 << 20  # bytes: 512 servers with 16 cards need less than half
_MOST_OBJECTS = 100_000
_MOST_VALUES = 500_000
_COMMENT = re.compile(r"[ \t\r\n]*(//|/\*|#)")
_VERSIONS = {"1.0": "v1", "1.2": "v1.2"}


class Table(NamedTuple):
    """What a file says: `form` is `v1`, `v1.2`, `lab` or `cloud`; without cards while `status` is not `completed`."""

    form: str
    status: str
    servers: List[Server]


class Unreadable(Exception):
    """The bytes are no rank table that can be used; `finding` says where and why, `problem` for summaries."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.sentence())
        self.finding = finding
        self.problem = Problem("rank-table-invalid", f"{finding.key or 'the table'} {finding.message}", finding.cure)


class _Doubled(Dict[str, Any]):
    """An object in which a key is written twice: readers disagree about which one counts."""

    key = ""


class Loaded(NamedTuple):
    """The object in a file, and whether a key of it, or of an object in it, is written twice."""

    document: Object
    has_doubled: bool


def parse(content: bytes) -> Table:
    """The table, however untidy: a number where HCCL wants a string is read, what is missing raises `Unreadable`.

    Whether HCCL takes it is `checking.check`'s question. A cloud table has the ranks that HCCL gives its cards.
    """
    document = load(content).document
    form = form_of(document)
    notes = Notes()
    status = document["status"] if isinstance(document.get("status"), str) else ""
    if status != "completed" and "server_list" not in document and "group_list" not in document:
        return Table(form, status, [])
    try:
        seats = walk(document, form, notes)
    except Enough:
        raise Unreadable(notes.findings[0]) from None
    whole = seats and all(_is_whole(seat) for seat in seats)
    if not whole or (form == "cloud" and not all(seat.pod for seat in seats)):
        raise Unreadable(_first_serious(notes.findings))
    return Table(form, status, _servers(seats, form))


def walk(document: Object, form: str, notes: Notes) -> List[Seat]:
    """Every card of a document of this form; what HCCL would refuse is noted."""
    if form in ("lab", "cloud"):
        seats = template2.walk(document, form, notes)
        return template2.ranked(seats) if form == "cloud" else seats
    return template1.walk(document, form, notes)


def form_of(document: Object) -> str:
    """Which reader HCCL takes for it; raises `Unreadable` for a version that is not known here."""
    if "version" not in document:
        if "server_list" in document and "group_list" not in document:
            _fail("version", "is missing, so HCCL looks for group_list", 'add "version": "1.0"', "missing")
        return "lab" if "deploy_mode" in document else "cloud"
    version = document["version"]
    form = _VERSIONS.get(version if isinstance(version, str) else str(version))
    if form is not None:
        return form
    if str(version) in ("2.0", "2"):
        message = 'is "2.0", the form of Atlas 350, 850 and 950 boards, which is not checked here'
        _fail("version", message, "trust the operator that wrote it", "version-not-checked")
    cure = 'write "version": "1.0" if it has server_list, take the key out if it has group_list'
    _fail("version", f"is {shown(version)}, which HCCL does not know", cure, "unknown-version")


def load(content: bytes) -> Loaded:
    """The JSON object in these bytes; raises `Unreadable`."""
    doubled_ones: List[_Doubled] = []
    document = _decoded(text_of(content), doubled_ones)
    if not isinstance(document, dict):
        _fail("", f"is {shown(document)}, not an object", 'begin it with { "status": … }', "not-an-object")
    return Loaded(document, bool(doubled_ones))


def text_of(content: bytes) -> str:
    """The text in these bytes, which may be JSON; raises `Unreadable`. Junk is answered quickly, whatever its size."""
    if len(content) > LIMIT:
        size = f"has more than {LIMIT >> 20} MB, and no rank table is that large"
        _fail("", size, "name the rank table's own file", "too-large")
    if content.count(b"{") > _MOST_OBJECTS or content.count(b",") > _MOST_VALUES:
        _fail("", "holds more than any cluster has cards", "name the rank table's own file", "too-large")
    if content.startswith(b"\xef\xbb\xbf"):
        _fail("", "begins with a byte order mark", "save it as UTF-8 without BOM", "byte-order-mark")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        _fail("", f"is not UTF-8 text (byte {error.start})", "save it as UTF-8", "not-utf8")
    if not text.strip():
        _fail("", "is empty", "make it again with `aiarts ranktable`", "empty-file")
    return text


def doubled(loaded: Loaded) -> List[Tuple[str, str]]:
    """`(place, key)` of every key that stands twice in its object."""
    found = []
    left: List[Tuple[str, Any]] = [("", loaded.document)] if loaded.has_doubled else []
    while left:
        at, value = left.pop()
        if isinstance(value, _Doubled):
            found.append((place(at, value.key), value.key))
        if isinstance(value, dict):
            left += [(place(at, str(key)), one) for key, one in value.items()]
        elif isinstance(value, list):
            left += [(f"{at}[{number}]", one) for number, one in enumerate(value)]
    return sorted(found)


def _decoded(text: str, doubled_ones: List[_Doubled]) -> Any:
    def made(pairs: List[Tuple[str, Any]]) -> Object:
        one = dict(pairs)
        if len(one) != len(pairs):
            one = _twice(one, pairs)
            doubled_ones.append(one)
        return one

    try:
        return json.loads(text, object_pairs_hook=made, parse_constant=no_constant, parse_int=whole_number)
    except json.JSONDecodeError as error:
        where = f"is no JSON at line {error.lineno}, column {error.colno}"
        if _COMMENT.match(text, error.pos) or _COMMENT.match(text, max(error.pos - 1, 0)):
            _fail("", f"{where}, where a comment stands", "take comments out: JSON has none", "comment")
        _fail("", f"{where} ({error.msg})", "correct it there", "not-json")
    except ValueError as error:  # NaN, Infinity
        _fail("", f"holds {error}, which is no JSON", "write a text in double quotes", "not-json")
    except RecursionError:
        _fail("", "is nested too deeply for a rank table", "make it again with `aiarts ranktable`", "too-deep")


def _twice(one: Object, pairs: List[Tuple[str, Any]]) -> _Doubled:
    marked = _Doubled(one)
    left = set(one)
    for key, _ in pairs:
        if key not in left:
            marked.key = key
            break
        left.remove(key)
    return marked


def no_constant(word: str) -> NoReturn:
    """NaN and the infinities are no JSON, though Python reads them."""
    raise ValueError(word)


def whole_number(digits: str) -> Any:
    """What JSON's digits are worth; old Pythons need minutes for an integer of a million of them."""
    return int(digits) if len(digits) < 20 else float(digits[:300])


def _is_whole(seat: Seat) -> bool:
    return None not in (seat.server_id, seat.device, seat.rank)


def _first_serious(findings: List[Finding]) -> Finding:
    """What made a table unreadable: of all that was noted, the first thing that left a hole."""
    serious = [one for one in findings if one.code not in ("not-a-string", "count-differs", "repeated", "too-long")]
    return (serious or findings or [Finding("", "lists no card", "make it again with `aiarts ranktable`", "empty")])[0]


def _servers(seats: List[Seat], form: str) -> List[Server]:
    """Seats by server (in a cloud table by pod), in the order of their first ranks."""
    groups: Dict[Tuple[str, str], List[Card]] = {}
    for seat in seats:
        card = Card(_known(seat.device), seat.ip, _known(seat.rank))
        groups.setdefault((str(seat.server_id), seat.pod if form == "cloud" else ""), []).append(card)
    servers = [
        Server(server_id, tuple(sorted(cards, key=lambda card: card.rank)), pod)
        for (server_id, pod), cards in groups.items()
    ]
    return sorted(servers, key=lambda server: server.cards[0].rank)


def _known(value: Optional[int]) -> int:
    assert value is not None
    return value


def _fail(key: str, message: str, cure: str, code: str) -> NoReturn:
    raise Unreadable(Finding(key, message, cure, code))
