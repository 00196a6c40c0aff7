"""An image's name is judged before a registry is asked, with the name that was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.imagename import fault, is_reference, is_tagged

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    "name",
    [
        "ubuntu",
        "ubuntu:22.04",
        "library/ubuntu",
        "registry.local/aiarts-test:1",
        "localhost:5000/a/b__c/d-e.f:Tag_1.x",
        "HARBOR.Lab:8443/team/x:V1",
        "[fd00::5]:5000/x",
        f"a/b@{DIGEST}",
        f"a/b:1@{DIGEST}",
        "a/b---c",
    ],
)
def test_names_that_runtimes_take_are_left_alone(name: str) -> None:
    assert fault(name) is None and is_reference(name)


@pytest.mark.parametrize(
    ("name", "meant", "said"),
    [
        ("https://harbor.lab/team/x:1", "harbor.lab/team/x:1", "scheme"),
        ("docker://x:1", "x:1", "scheme"),
        ("Team/Train:V1", "team/train:V1", "capital"),
        ("harbor.Lab/Team/x:V1", "harbor.Lab/team/x:V1", "capital"),
        ("Ubuntu", "ubuntu", "capital"),
        ("ubuntu：22.04", "ubuntu:22.04", "full-width"),
        ("ｕbuntu", "ubuntu", "full-width"),
        ("ubuntu\u200b:1", "ubuntu:1", "invisible"),
        ("ubuntu:1\n", "ubuntu:1", "line breaks"),
        (" ubuntu : 1", "ubuntu:1", "spaces"),
        ("team\\x:1", "team/x:1", "backslashes"),
        ("team//x:1", "team/x:1", "empty"),
        ("x:", "x", "no tag"),
        ("HTTPS://harbor.lab//Team/x：1 ", "harbor.lab/team/x:1", "scheme"),
        ("镜像:1", None, "no name"),
        ("x:-1", None, "no name"),
        ("x@sha256:12", None, "no name"),
        ("$IMAGE", None, "no name"),
        ("-x", None, "no name"),
    ],
)
def test_what_is_wrong_is_said_with_what_was_meant(name: str, meant: str | None, said: str) -> None:
    found = fault(name)
    assert found is not None and found[1] == meant and said in found[0]


def test_a_name_without_a_tag_is_no_version() -> None:
    assert is_tagged("x:1") and is_tagged(f"x@{DIGEST}") and is_tagged("h:5/x:1")
    assert not is_tagged("x") and not is_tagged("h:5000/x")


@given(st.text(max_size=80))
def test_what_was_meant_is_always_a_name(text: str) -> None:
    found = fault(text)
    assert found is None or found[1] is None or is_reference(found[1])


def test_long_hostile_names_are_judged_quickly() -> None:
    import time

    began = time.perf_counter()
    for text in ("a" * 100_000, "a-" * 50_000, "a." * 50_000 + "!", "a/" * 50_000, ":" * 100_000, "_" * 100_000):
        fault(text)
        fault(text[:511] + "!")
    assert time.perf_counter() - began < 2
