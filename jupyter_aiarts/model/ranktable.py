"""The rank table of a run as it travels: the file as it is, its cards as rows, and what the doctor says of it."""

# Annotations are values: see spec.py.

from msgspec import Struct


class TableCard(Struct, frozen=True, kw_only=True):
    """One card of a rank table; `pod` is empty in forms that do not name one."""

    rank: int
    server: str
    device: int
    ip: str
    pod: str = ""


class TableCheck(Struct, frozen=True, kw_only=True):
    """One thing that the doctor looked at, in a sentence."""

    ok: bool
    message: str


class TableFinding(Struct, frozen=True, kw_only=True):
    """What HCCL would refuse: the key that has to change, what is wrong with it, and what to do."""

    key: str
    message: str
    cure: str
    code: str


class RankTable(Struct, frozen=True, kw_only=True):
    """The table that RANK_TABLE_FILE names in a run; `cards` is empty where the text is no table that can be read."""

    text: str
    cards: tuple[TableCard, ...]
    ok: bool
    checks: tuple[TableCheck, ...]
    findings: tuple[TableFinding, ...] = ()
