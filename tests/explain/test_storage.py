"""Volumes that cannot be mounted: what is missing, by its name, and which of several warnings tells it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.causes import pod_cause
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod, Trouble
from jupyter_aiarts.explain.rules import root
from tests.explain.speaking import Json, check_hostile, check_linear, heard, told_by

WAITED = (
    "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data kube-api-access-rhbw9]: "
    "timed out waiting for the condition"
)
BOUND = "2026-11-16T05:00:00Z"

SAID = told_by("storage")


def notice(message: str, at: int, reason: str = "FailedMount") -> Notice:
    when = f"2026-11-16T05:{at // 60:02}:{at % 60:02}.000000Z"
    return Notice(name=f"n{at}", about="p", kind="Pod", reason=reason, message=message, at=when)


def told(*notices: Notice, **trouble: Any) -> tuple[str, str, dict[str, Any]] | None:
    waits = {"waiting": "ContainerCreating", **trouble}
    pod = Pod(name="p", index=0, phase="Pending", node="node-a", created=BOUND, trouble=Trouble(**waits))
    cause = pod_cause(pod, notices, "image")
    if cause is None:
        return None
    found = root(cause)
    heard(cause.code, *cause.evidence, **cause.values)
    return found.code, found.form, dict(found.values)


@pytest.mark.parametrize("row", SAID)
def test_what_is_missing_is_named(row: Json) -> None:
    found = told(notice(row["said"], 200))
    assert found is not None
    assert found[:2] == (row["code"], row["form"]) and row["values"].items() <= found[2].items()


def test_a_warning_with_a_reason_tells_though_a_later_one_only_waited() -> None:
    warnings = [notice(SAID[4]["said"], 100), notice(WAITED, 220), notice(WAITED.replace("[data]", "[data x]"), 340)]
    for shuffled in itertools.permutations(warnings):
        found = told(*shuffled)
        assert found is not None and found[1] == "nfs-unreachable"


def test_the_newest_reason_counts() -> None:
    found = told(notice(SAID[0]["said"], 300), notice(SAID[4]["said"], 100))
    assert found is not None and found[1] == "object-missing"


def test_a_warning_from_before_the_volumes_were_there_explains_nothing() -> None:
    """A pod whose node fetches the image has its volumes, however loud it was before."""
    pulling = notice('Pulling image "registry.example/train:1"', 240, "Pulling")
    assert told(notice(SAID[0]["said"], 100), pulling) is None
    found = told(notice(SAID[0]["said"], 300), pulling)
    assert found is not None and found[0] == "mount-missing"


def test_only_the_volumes_that_are_not_mounted_are_named() -> None:
    assert "kube-api-access" not in heard("unknown", WAITED).why


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("mount-missing", "mount-denied", "unknown"))
    for text in ("Mounting arguments: a", "unmounted volumes=[a ", "hostPath type check failed: /", 'secret "'):
        check_linear("mount-missing", text)
