"""Names in a cluster: valid whatever a job or a person is called, and never the same for two of them."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes import names
from jupyter_aiarts.model.names import new_id

DNS_LABEL = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")  # a Service's name starts with a letter
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
HOSTILE = [
    "训练任务", "🚀🚀", "1st-run", "...", "-", "a" * 63, "A.B.C", "a_b", "/etc/passwd", "x; rm -rf /", "a\tb",
    "ÄÖÜ straße", "--x--", "0", "ﬁ", "null", "true", "x" * 128, "日本" * 30, "é" * 63,
]  # fmt: skip
BIGGEST_INDEX = 9_999


def as_label(name: str) -> bool:
    return bool(DNS_LABEL.fullmatch(name)) and len(name) <= names.LONGEST_LABEL


@pytest.mark.parametrize("source", HOSTILE)
def test_an_object_name_leaves_room_for_a_pods_index(source: str) -> None:
    name = names.object_name(source, "a123456789", 999_999)
    assert as_label(name) and as_label(f"{name}-{BIGGEST_INDEX}") and as_label(names.pull_secret_name(name))


@given(source=st.text(min_size=1, max_size=128), run=st.integers(1, 10**9))
def test_any_text_gives_a_valid_object_name(source: str, run: int) -> None:
    assert as_label(f"{names.object_name(source, 'zzzzzzzzzz', run)}-{BIGGEST_INDEX}")


def test_an_object_name_is_readable_and_tells_jobs_and_runs_apart() -> None:
    assert names.object_name("My Model v2", "abcdefghij", 3) == "my-model-v2-abcdefghij-3"
    assert names.object_name("训练", "abcdefghij", 1) == "job-abcdefghij-1"
    made = {names.object_name(name, job, run) for name in HOSTILE for job in ("a" * 10, "b" * 10) for run in (1, 11)}
    by_job = {tuple(name.rsplit("-", 2)[1:]) for name in made}
    assert by_job == {(job, run) for job in ("a" * 10, "b" * 10) for run in ("1", "11")}


@pytest.mark.parametrize("owner", [*HOSTILE, "system:serviceaccount:ns:name", "oidc:alice@example.org", ""])
def test_an_owner_becomes_a_label_that_is_valid_and_its_own(owner: str) -> None:
    label = names.owner_label(owner)
    assert LABEL_VALUE.fullmatch(label) and len(label) <= 63
    assert label != names.owner_label(owner + "x")


def test_owners_that_look_alike_have_different_labels() -> None:
    alike = ["alice", "Alice", "alice.", "alice@a.org", "alice@b.org", "a-lice", "ａｌｉｃｅ", "alice\n"]
    assert len({names.owner_label(owner) for owner in alike}) == len(alike)


@given(st.text(max_size=200))
def test_any_text_gives_a_valid_label_value(text: str) -> None:
    value = names.label_value(text)
    assert LABEL_VALUE.fullmatch(value) and len(value) <= 63


def test_a_text_that_can_be_a_label_stays_as_it_is() -> None:
    assert names.label_value("huawei_npu_arm64") == "huawei_npu_arm64"
    assert names.label_value("gpu.") != "gpu."


def test_nodes_find_each_other_by_the_services_name() -> None:
    assert names.host_of("train-abcdefghij-1", 3) == "train-abcdefghij-1-3.train-abcdefghij-1"


def test_drawn_ports_are_even_apart_and_the_same_each_time() -> None:
    drawn = [names.drawn_ports(new_id(), run) for run in range(1, 500)]
    for launcher, meeting, master in drawn:
        assert 20_000 <= launcher <= 29_998 and launcher % 2 == 0 and meeting == launcher + 1
        assert master >= 10_000 and master + 15 < 20_000
    assert len(set(drawn)) > 450
    assert names.drawn_ports("abcdefghij", 1) == names.drawn_ports("abcdefghij", 1)
    assert names.drawn_ports("abcdefghij", 1) != names.drawn_ports("abcdefghij", 2)


def test_labels_and_annotations_are_qualified_names() -> None:
    ours = [value for key, value in vars(names).items() if key.isupper() and str(value).startswith(names.PREFIX)]
    allowed = set(string.ascii_lowercase + "-")
    assert len(ours) > 10
    assert all(set(name.removeprefix(names.PREFIX)) <= allowed for name in ours if name != names.PREFIX)
