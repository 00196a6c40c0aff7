"""Containers that a node's runtime could not make or start."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.causes import pod_cause
from jupyter_aiarts.engines.kubernetes.seen import Pod, Trouble
from jupyter_aiarts.explain.rules import root
from tests.explain.speaking import Json, check_hostile, check_linear, form, heard, told_by

ENDED, WAITING = told_by("container-ended"), told_by("container-waiting")


def told(**trouble: Any) -> tuple[str, str, dict[str, Any]]:
    phase = "Failed" if "container" in trouble else "Pending"
    message = trouble.pop("message", None)
    pod = Pod(name="p", index=0, phase=phase, node="node-a", message=message, trouble=Trouble(**trouble))
    cause = pod_cause(pod, (), "registry.example/train:1")
    assert cause is not None
    found = root(cause)
    heard(cause.code, *cause.evidence, **cause.values)
    return found.code, found.form, dict(found.values)


@pytest.mark.parametrize("row", ENDED)
def test_what_could_not_be_started_is_named(row: Json) -> None:
    found = told(container="StartError", message=row["said"])
    assert found[:2] == (row["code"], row["form"]) and row["values"].items() <= found[2].items()


@pytest.mark.parametrize("row", WAITING)
def test_what_could_not_be_made_is_named(row: Json) -> None:
    found = told(waiting=row["reason"], waiting_message=row["said"])
    assert found[:2] == (row["code"], row["form"])


def test_another_user_is_offered_where_the_user_is_the_reason() -> None:
    denied = heard("image-user-permission", ENDED[2]["said"], image="a:1")
    assert denied.actions[0].patch == {"run_as": "user"}
    missing = heard("unknown", ENDED[0]["said"], image="a:1")
    assert not any(one.patch for one in missing.actions)


def test_a_network_that_a_node_lacks_is_the_nodes_fault() -> None:
    said = 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0": x'
    assert form("unknown", said) == ("node-unhealthy", "network-missing")


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("unknown", "image-user-permission", "mount-missing"))
    for text in ('exec: "a', "mkdir /a", "mount /a ", 'exec: "a": '):
        check_linear("unknown", text)
