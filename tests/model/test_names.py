"""Ids, slugs and user names: always valid, whatever they are made from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.errors import JobNotFound
from jupyter_aiarts.model.names import (
    ID_PATTERN,
    SLUG_LENGTH,
    TEMPLATE_NAME,
    USER_NAME,
    check_id,
    id_for_submission,
    new_id,
    slug,
    user_name,
)


def test_new_ids_are_ids_and_differ() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(re.fullmatch(ID_PATTERN, one) for one in ids)


@given(st.text(), st.text(), st.text(), st.text())
def test_a_submission_always_gives_the_same_valid_id(cluster: str, namespace: str, owner: str, mine: str) -> None:
    made = id_for_submission(cluster, namespace, owner, mine)
    assert re.fullmatch(ID_PATTERN, made)
    assert made == id_for_submission(cluster, namespace, owner, mine)


def test_submissions_that_differ_anywhere_give_different_ids() -> None:
    parts = [
        ("a", "b", "c", "d"),
        ("ab", "", "c", "d"),
        ("a", "bc", "", "d"),
        ("a", "b", "d", "c"),
        ("", "", "", ""),
    ]
    assert len({id_for_submission(*one) for one in parts}) == len(parts)


def test_an_id_for_a_submission_is_pinned() -> None:
    """A change of the hash would submit every job a second time after an upgrade."""
    assert id_for_submission("local", "", "alice", "exp-1") == "qpo2r2ftvj"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "A123456789",
        "1234567890",
        "a12345678",
        "a1234567890",
        "../../etc/",
        "a12345678\n",
        "a1234é6789",
    ],
)
def test_what_is_no_id_is_no_job(text: str) -> None:
    with pytest.raises(JobNotFound, match="No job has the id"):
        check_id(text)


def test_an_id_passes_unchanged() -> None:
    assert check_id("a123456789") == "a123456789"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train", "train"),
        ("My Training #2", "my-training-2"),
        ("训练", "job"),
        ("", "job"),
        ("---", "job"),
        ("123", "j123"),
        ("Résumé", "resume"),
        ("a'; echo foo", "a-echo-foo"),
        ("x" * 63, "x" * SLUG_LENGTH),
        ("x" * 29 + "-y", "x" * 29),
        ("\u017ftraße", "strae"),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(st.text())
def test_a_slug_is_always_a_dns_label_that_starts_with_a_letter(name: str) -> None:
    assert re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", slug(name))
    assert len(slug(name)) <= SLUG_LENGTH


@pytest.mark.parametrize(
    ("text", "expected"),
    [("alice", "alice"), ("alice@example.com", "alice"), ("a.b-c_d", "a.b-c_d")],
)
def test_a_plain_user_name_stays(text: str, expected: str) -> None:
    assert user_name(text) == expected


@pytest.mark.parametrize("text", ["..", ".", ".ssh", "../../root", "王伟", "a b", "", "x" * 100, "a/b", "a\nb", "@x"])
def test_a_hostile_user_name_becomes_one_safe_part_of_a_path(text: str) -> None:
    made = user_name(text)
    assert re.fullmatch(USER_NAME, made)
    assert made not in (".", "..")


def test_people_whose_names_had_to_change_are_kept_apart() -> None:
    assert len({user_name(text) for text in ["王伟", "李娜", "a b", "a/b", "a-b"]}) == 5


@given(st.text(st.characters()))
def test_a_user_name_is_always_valid(text: str) -> None:
    assert re.fullmatch(USER_NAME, user_name(text))


@pytest.mark.parametrize("name", ["gpu-1", "模板", "a.b", "x" * 63])
def test_template_names(name: str) -> None:
    assert re.fullmatch(TEMPLATE_NAME, name)


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "x" * 64, "a b", "a\n", ".."])
def test_what_is_no_template_name(name: str) -> None:
    assert not re.fullmatch(TEMPLATE_NAME, name)
