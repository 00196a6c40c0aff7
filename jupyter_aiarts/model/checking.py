"""Checking plain data against an annotated type, with every problem at once.

`msgspec.convert` stops at the first problem; a user with five typing errors wants to hear of five.
This walks the same annotations (`spec.py`) and writes sentences that name the key and print the value.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from msgspec import NODEFAULT, Struct, inspect

from jupyter_aiarts.model.wording import worded

_S = TypeVar("_S", bound=Struct)

MAX_PROBLEMS = 100
"""More than a person reads, less than a hostile spec could make us write."""

MAX_STRING = 131_071
"""Linux refuses an argument or a NAME=value longer than this (MAX_ARG_STRLEN, less the closing NUL)."""

_MISSING = object()
"""What a walk gives back for a value that had a problem."""


_SORTS: dict[type[inspect.Type], Any] = {
    inspect.StrType: str,
    inspect.BoolType: bool,
    inspect.NoneType: type(None),
    inspect.ListType: (list, tuple),
    inspect.VarTupleType: (list, tuple),
    inspect.DictType: Mapping,
    inspect.StructType: Mapping,
}

_WORDS: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.DictType: "an object of names and values",
    inspect.StructType: "an object",
}


class Form(NamedTuple):
    """What an annotation says of a text beyond its length: in words, and as a pattern."""

    words: str = ""
    pattern: str | None = None

    def within(self, kind: inspect.Metadata) -> Form:
        """The form inside an annotation, which may say more."""
        said, schema = kind.extra or {}, kind.extra_json_schema or {}
        return Form(said.get("form", self.words), schema.get("pattern", self.pattern))


FREE = Form()


class Findings:
    """The problems found so far; `reading.read_spec` raises them together."""

    def __init__(self) -> None:
        self.problems: list[dict[str, str]] = []
        self._left_out = 0
        self._touched: set[str] = set()

    def add(self, key: str, message: str) -> None:
        """Note one problem; beyond `MAX_PROBLEMS` they are only counted."""
        self._touched.add(re.split(r"[.\[]", key, maxsplit=1)[0])
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append({"key": key, "message": message})
        else:
            self._left_out += 1

    @property
    def count(self) -> int:
        """How many problems there are, those that are only counted included."""
        return len(self.problems) + self._left_out

    def touched(self) -> set[str]:
        """The top-level keys that have a problem, so that no rule builds on them."""
        return set(self._touched)

    def all(self) -> list[dict[str, str]]:
        """Every problem, and one that says how many more there were."""
        if not self._left_out:
            return self.problems
        return [
            *self.problems,
            {"key": "", "message": worded("There are {count} more problems like these.", count=self._left_out)},
        ]


def check_fields(
    values: Mapping[str, Any], struct: type[Struct], findings: Findings, prefix: str = ""
) -> dict[str, Any]:
    """The checked values of those fields of `struct` that `values` has; a bad one is left out and noted.

    Whether a key is known, or a required one is missing, is for the caller to say.
    """
    checked = {
        one.name: _walk(values[one.name], one.type, prefix + one.name, findings)
        for one in _fields(struct)
        if one.name in values
    }
    return {name: value for name, value in checked.items() if value is not _MISSING}


@cache
def _fields(struct: type[Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def nearest(word: str, words: list[str]) -> str:
    """The word that was probably meant, or nothing."""
    lower = word.lower().replace("-", "_")[:80]
    return next(iter(difflib.get_close_matches(lower, words, n=1, cutoff=0.6)), "")


def label(name: object) -> str:
    """A key that came from outside, short and printable enough to stand in a problem's key."""
    text = name if isinstance(name, str) else shown(name)
    cut = text if len(text) <= 80 else text[:79] + "…"
    return cut if cut.isprintable() else json.dumps(cut)


def shown(value: Any) -> str:
    """A value as a sentence shows it: as JSON, cut when long, counted when it is a list or an object."""
    if isinstance(value, str):
        cut = json.dumps(value[:60], ensure_ascii=not value[:60].isprintable())
        return cut if len(value) <= 60 else worded("{text} … ({count} characters)", text=cut, count=f"{len(value):,}")
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(value) if abs(value) < 10**20 or isinstance(value, float) else "a very long number"
    if isinstance(value, Mapping):
        return _counted(len(value), "an object of 1 key", "an object of {count} keys")
    if isinstance(value, (list, tuple)):
        return _counted(len(value), "a list of 1 item", "a list of {count} items")
    return worded("a value of type {type}", type=type(value).__name__)


def text_fault(text: str) -> str:
    """Why no process can be given this text, as the rest of a sentence, or nothing."""
    if "\0" in text:
        return "holds a NUL character, which neither an argument nor a variable nor a path can carry"
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate), which cannot be written as UTF-8"
    return too_long(length)


def too_long(length: int) -> str:
    """What is wrong with a string of this many bytes, as the rest of a sentence, or nothing."""
    if length <= MAX_STRING:
        return ""
    return worded(
        "is {length} bytes long, and Linux starts no process with an argument or a variable of more than "
        "{most} bytes, a variable's name included; put it into a file and pass the file's path",
        length=f"{length:,}",
        most=f"{MAX_STRING:,}",
    )


def name_fault(name: object) -> str:
    """What is wrong with a name that is no text, as YAML allows, as the rest of a sentence, or nothing."""
    return "" if isinstance(name, str) else worded("must be text, and it is {value}", value=shown(name))


def _counted(number: int, one: str, many: str) -> str:
    return one if number == 1 else worded(many, count=f"{number:,}")


def _walk(value: Any, kind: inspect.Type, key: str, findings: Findings, form: Form = FREE) -> Any:
    """The value as `kind` wants it, or `_MISSING` after noting why not."""
    if isinstance(kind, inspect.UnionType):
        kind = _member(value, kind)
    if isinstance(kind, inspect.Metadata):
        return _walk(value, kind.type, key, findings, form.within(kind))
    if not _accepts(kind, value):
        wanted = expected(kind, form.words)
        sentence = worded("{key} must be {wanted}, and it is {value}.", key=key, wanted=wanted, value=shown(value))
        cure = _unquote(kind, value)
        findings.add(key, worded("{sentence} {cure}", sentence=sentence, cure=cure) if cure else sentence)
        return _MISSING
    if isinstance(kind, (inspect.ListType, inspect.VarTupleType)):
        return _walk_list(value, kind, key, findings)
    if isinstance(kind, inspect.DictType):
        return _walk_dict(value, kind, key, findings)
    if isinstance(kind, inspect.StructType):
        return _walk_struct(value, kind, key, findings)
    fault = _fault(value, kind, form)
    if fault:
        findings.add(key, worded("{key} {fault}.", key=key, fault=fault))
        return _MISSING
    return _plain(value, kind)


def _walk_list(value: Any, kind: inspect.ListType | inspect.VarTupleType, key: str, findings: Findings) -> Any:
    if _too_many(value, kind, key, findings):
        return _MISSING
    items = [_walk(item, kind.item_type, f"{key}[{n}]", findings) for n, item in enumerate(value)]
    good = [item for item in items if item is not _MISSING]
    return good if isinstance(kind, inspect.ListType) else tuple(good)


def _walk_dict(value: Any, kind: inspect.DictType, key: str, findings: Findings) -> Any:
    if _too_many(value, kind, key, findings):
        return _MISSING
    good: dict[str, Any] = {}
    for name, item in value.items():
        place = f"{key}.{label(name)}"
        fault = name_fault(name) or _fault(name, kind.key_type, FREE)
        if fault:
            findings.add(place, worded("A name in {key} {fault}.", key=key, fault=fault))
            continue
        checked = _walk(item, kind.value_type, place, findings)
        if checked is not _MISSING:
            good[name] = checked
    return good


def _walk_struct(value: Any, kind: inspect.StructType, key: str, findings: Findings) -> Any:
    made = check_struct(value, kind.cls, key, findings)
    return _MISSING if made is None else made


def check_struct(value: Mapping[Any, Any], struct: type[_S], key: str, findings: Findings) -> _S | None:
    """What `value` holds as a `struct`, or None after noting every problem; `key` is where it stands."""
    names = [one.name for one in _fields(struct)]
    before = findings.count
    for name in value:
        if name not in names:
            near = nearest(name, names) if isinstance(name, str) else ""
            findings.add(f"{key}.{label(name)}", strange_key(key, label(name), near, names))
    for one in _fields(struct):
        if one.name not in value and one.default is NODEFAULT and one.default_factory is NODEFAULT:
            findings.add(f"{key}.{one.name}", worded("{key} is missing.", key=f"{key}.{one.name}"))
    checked = check_fields(value, struct, findings, f"{key}.")
    return None if findings.count > before else struct(**checked)


def strange_key(key: str, name: str, near: str, names: Sequence[str]) -> str:
    """What is said of a key that `key` does not have."""
    if near:
        return worded("{key} has no key {name}. Did you mean {near}?", key=key, name=name, near=near)
    return worded("{key} has no key {name}; it has {names}.", key=key, name=name, names=", ".join(names))


def _too_many(
    value: Any, kind: inspect.ListType | inspect.VarTupleType | inspect.DictType, key: str, findings: Findings
) -> bool:
    """Whether it has more items than allowed; noted instead of walking through millions of them."""
    if kind.max_length is None or len(value) <= kind.max_length:
        return False
    message = "{key} may have at most {most} entries, and it has {have}."
    findings.add(key, worded(message, key=key, most=f"{kind.max_length:,}", have=f"{len(value):,}"))
    return True


def _accepts(kind: inspect.Type, value: Any) -> bool:
    """Whether the value is of the right sort, whatever its limits."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(kind, inspect.IntType):
        return number and (isinstance(value, int) or value.is_integer())
    if isinstance(kind, inspect.FloatType):
        return number
    if isinstance(kind, inspect.LiteralType):
        return isinstance(value, str)
    if isinstance(kind, inspect.Metadata):
        return _accepts(kind.type, value)
    if isinstance(kind, inspect.UnionType):
        return False  # `_member` found none that does
    return isinstance(value, _SORTS[type(kind)])


def _member(value: Any, union: inspect.UnionType) -> inspect.Type:
    """The member of a union that the value belongs to; the union, which accepts nothing, when none is."""
    fitting = [one for one in union.types if _accepts(one, value)]
    if isinstance(value, float):  # 2.0 belongs to the floats where there are both
        fitting.sort(key=lambda one: isinstance(one, inspect.IntType))
    return fitting[0] if fitting else union


def _plain(value: Any, kind: inspect.Type) -> Any:
    """The value in the type the Struct declares: 2.0 where a whole number is wanted becomes 2."""
    if isinstance(kind, inspect.IntType):
        return int(value)
    return float(value) if isinstance(kind, inspect.FloatType) else value


def _fault(value: Any, kind: inspect.Type, form: Form) -> str:
    """What is wrong with a value of the right sort, as the rest of a sentence, or nothing."""
    if isinstance(kind, inspect.StrType):
        return _text_fault(value, kind, form)
    if isinstance(kind, inspect.LiteralType) and value not in kind.values:
        return _instead(expected(kind), value)
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and not _within(value, kind):
        return _instead(expected(kind), value)
    return ""


def _instead(wanted: str, value: Any) -> str:
    return worded("must be {wanted}, and it is {value}", wanted=wanted, value=shown(value))


def _text_fault(text: str, kind: inspect.StrType, form: Form) -> str:
    if kind.min_length is not None and len(text) < kind.min_length:
        return "is empty; leave the key out, or give it a value"
    if kind.max_length is not None and len(text) > kind.max_length:
        most, have = f"{kind.max_length:,}", f"{len(text):,}"
        return worded("may have at most {most} characters, and it has {have}", most=most, have=have)
    if text_fault(text):
        return text_fault(text)
    # fullmatch, because `$` alone would let a newline at the end pass
    pattern = form.pattern or kind.pattern
    if pattern and not re.fullmatch(pattern, text):
        return _instead(form.words, text)
    return ""


def _within(value: float, kind: inspect.IntType | inspect.FloatType) -> bool:
    """Whether a number is finite, fits 64 bits and keeps the limits of its type."""
    if abs(value) >= 2**63 if isinstance(value, int) else not math.isfinite(value):
        return False
    low = (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)
    return low and (kind.le is None or value <= kind.le)


def expected(kind: inspect.Type, form: str = "") -> str:
    """What a type wants, in words."""
    if isinstance(kind, inspect.IntType):
        return _limits(kind, "a whole number from {low} to {high}", "a whole number above {low} and up to {high}")
    if isinstance(kind, inspect.FloatType):
        return _limits(kind, "a number from {low} to {high}", "a number above {low} and up to {high}")
    if isinstance(kind, inspect.LiteralType):
        *most, last = sorted(str(value) for value in kind.values)
        return worded("{most} or {last}", most=", ".join(most), last=last)
    if isinstance(kind, inspect.Metadata):
        return expected(kind.type, (kind.extra or {}).get("form", form))
    if isinstance(kind, inspect.UnionType):
        *most, last = (expected(one) for one in kind.types if not isinstance(one, inspect.NoneType))
        return form or (worded("{most} or {last}", most=" or ".join(most), last=last) if most else last)
    return form if form and isinstance(kind, inspect.StrType) else _WORDS[type(kind)]


def _limits(kind: inspect.IntType | inspect.FloatType, within: str, above: str) -> str:
    if kind.ge is not None and kind.le is not None:
        return worded(within, low=f"{kind.ge:,}", high=f"{kind.le:,}")
    if kind.gt is not None and kind.le is not None:
        return worded(above, low=f"{kind.gt:,}", high=f"{kind.le:,}")
    return "a whole number of at most 64 bits" if isinstance(kind, inspect.IntType) else "a number that is finite"


def _unquote(kind: inspect.Type, value: Any) -> str:
    """The cure for a number or a truth value that was written in quotes."""
    wanted = isinstance(kind, (inspect.IntType, inspect.FloatType, inspect.BoolType))
    if wanted and isinstance(value, str) and re.fullmatch(r"[\d.]{1,20}|true|false", value):
        return "Write it without quotes."
    return ""
