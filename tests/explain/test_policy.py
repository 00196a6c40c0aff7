"""Refusals: who says "forbidden", by how much, and the change that would satisfy it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.causes import refusal_cause
from jupyter_aiarts.engines.kubernetes.seen import Notice
from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.model.spec import JobSpec
from tests.explain.speaking import Json, check_hostile, check_linear, check_pieces, heard, spec, told_by

MADE = 'Error creating: pods "train-f36c2f" is forbidden: '
QUOTA = MADE + "exceeded quota: team-quota, requested: {}, used: {}, limited: {}"
SECURITY = MADE + 'violates PodSecurity "restricted:latest": '


def told(message: str, asks: JobSpec | None = None) -> tuple[str, str, dict[str, Any] | None, str]:
    """Through the engine, as the Job controller's warning comes."""
    notice = Notice(name="n", about="train", kind="Job", reason="FailedCreate", message=message, at="2")
    cause = refusal_cause([notice], "1")
    assert cause is not None
    said = heard(cause.code, *cause.evidence, asks=asks, **cause.values)
    found = root(cause, asks)
    return found.code, found.form, next((one.patch for one in said.actions if one.patch), None), said.why


@pytest.mark.parametrize("row", told_by("quota"))
def test_a_quota_is_summed_up_in_whatever_units(row: Json) -> None:
    asks = spec(**row["asks"]) if row["asks"] else None
    found = told(QUOTA.format(*row["numbers"]), asks)
    assert found[:3] == ("quota-exceeded", row["form"], row["patch"])
    assert row["part"] in found[3]


@pytest.mark.parametrize("row", told_by("limits"))
def test_a_limit_for_one_pod_offers_the_change_that_keeps_it(row: Json) -> None:
    assert told(MADE + row["said"])[:3] == ("policy-refused", row["form"], row["patch"])


@pytest.mark.parametrize("row", told_by("refusals"))
def test_forbidden_is_not_always_about_rights(row: Json) -> None:
    assert told(row["said"])[:2] == (row["code"], row["form"])


def test_another_user_is_offered_only_where_the_user_is_refused() -> None:
    assert told(SECURITY + "runAsNonRoot != true")[2] == {"run_as": "user"}
    assert told(SECURITY + 'hostPath volumes (volume "mount-0")')[2] is None


def test_a_right_that_is_missing_comes_with_the_line_for_the_admin() -> None:
    text = 'User "alice" cannot create resource "pods" in API group "" in the namespace "team-a"'
    said = heard("policy-refused", text)
    assert said.actions[0].command == (
        "kubectl create rolebinding aiarts-user-alice --role=aiarts-user --user=alice -n team-a"
    )


def test_cut_anywhere_a_quota_says_the_same_code_or_less() -> None:
    text = QUOTA.format("limits.memory=9Gi", "limits.memory=1424Mi", "limits.memory=10Gi")
    check_pieces("quota-exceeded", text, {"policy-refused", "unknown"})


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("quota-exceeded", "policy-refused", "unknown"))
    for text in ("exceeded quota: a, requested: a=1,", 'User "a" cannot ', "maximum a usage per ", "must specify a,"):
        check_linear("policy-refused", text)
