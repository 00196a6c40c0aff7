"""What all objects have in common: metadata, our labels and annotations in it, and the pages of a list."""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.model.names import ID_PATTERN
from jupyter_aiarts.model.times import parse, text_of

T = TypeVar("T")

_NAME = re.compile(rf"-({ID_PATTERN})-([1-9]\d*)(?:-\d+-[a-z0-9]+)?\Z")


class OwnerReference(Struct, gc=False):
    """Whom an object belongs to."""

    kind: str = ""
    name: str = ""


class Labels(Struct, gc=False):
    """Our labels, and those of Kubernetes and Kueue that matter here."""

    job: str = field(default="", name=names.JOB)
    run: str = field(default="", name=names.RUN)
    creating: str | None = field(default=None, name=names.CREATING)
    queue: str | None = field(default=None, name=names.QUEUE)
    index: str | None = field(default=None, name=names.INDEX)


class Annotations(Struct, gc=False):
    """Our annotations of a Job."""

    owner: str = field(default="", name=names.EXACT_OWNER)
    intent: str = field(default="run", name=names.INTENT)
    short: str = field(default="{}", name=names.SHORT)
    hash: str = field(default="", name=names.HASH)
    notes: str = field(default="[]", name=names.NOTES)
    attempt: str = field(default="1", name=names.ATTEMPT)
    attempts: str | None = field(default=None, name=names.ATTEMPTS)
    used: str = field(default="0", name=names.USED)
    gives_way: str = field(default="", name=names.GIVES_WAY)
    spent: str | None = field(default=None, name=names.SPENT)
    summary: str | None = field(default=None, name=names.SUMMARY)


class Meta(Struct, gc=False, rename="camel"):
    """Every object's metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: Labels = field(default_factory=Labels)
    annotations: Annotations = field(default_factory=Annotations)
    owner_references: tuple[OwnerReference, ...] = ()


class ListMeta(Struct, gc=False, rename="camel"):
    """Where a list stands: its version, and where its next page begins."""

    resource_version: str = ""
    continue_: str = field(default="", name="continue")


class Listed(Struct, Generic[T]):
    """One page of a list."""

    metadata: ListMeta
    items: list[T]


def number(text: str) -> int:
    """A whole number from a label; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def run_named(name: str) -> tuple[str, int] | None:
    """The job id and run that an object's name was made from; events carry no labels to tell it by."""
    found = _NAME.search(name)
    return (found[1], int(found[2])) if found else None


def in_full(time: str | None) -> str | None:
    """A time of Kubernetes, which mostly counts seconds, as this package writes times."""
    if time is None or len(time) == 27:
        return time
    return f"{time[:-1]}.000000Z" if len(time) == 20 and time.endswith("Z") else text_of(parse(time))
