"""What was asked for comes back out of the cluster unchanged, secrets included, and a damaged record says so."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from jupyter_aiarts.engines.kubernetes import kept, manifest
from jupyter_aiarts.errors import JobUnreadable
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.making import SHIPPED, make_order
from tests.engines.kubernetes.test_code import shipped, write
from tests.engines.kubernetes.variants import LOGIN, variants


@pytest.mark.parametrize("name", list(variants()))
def test_every_spec_comes_back_unchanged(name: str) -> None:
    order = variants()[name]
    made = manifest.objects(order)
    found = kept.read_back(made.config, made.secret, made.pull_secret)
    assert found == order.reading
    assert kept.token_of(made.secret) == order.token


def test_without_its_secrets_a_spec_still_shows_their_names() -> None:
    order = make_order(raw={"secret_env": {"HF_TOKEN": "x"}, "image_pull_secret": LOGIN})
    found = kept.read_back(manifest.objects(order).config)
    assert found.spec == order.spec and found.secrets == {} and found.pull_secret is None


def test_the_next_run_makes_a_pull_secret_of_its_own_from_the_same_login() -> None:
    first = make_order(raw={"image_pull_secret": LOGIN})
    made = manifest.objects(first)
    again = structs.replace(first, reading=kept.read_back(made.config, made.secret, made.pull_secret), run=2)
    second = manifest.objects(again)
    assert second.pull_secret is not None and made.pull_secret is not None
    assert second.pull_secret["metadata"]["name"] == "train-abcdefghij-2-pull"
    assert second.pull_secret["data"] == made.pull_secret["data"]


def test_an_edit_keeps_the_login_unless_it_names_another_secret() -> None:
    made = manifest.objects(make_order(raw={"image_pull_secret": LOGIN}))
    given = json.loads(made.config["data"]["spec.json"])["given"]
    edited = kept.with_login(read_spec({**given, "priority": 7}), made.pull_secret)
    assert edited.pull_secret is not None and edited.pull_secret.password == LOGIN["password"]
    assert edited.spec.image_pull_secret is None
    other = kept.with_login(read_spec({**given, "image_pull_secret": "mine"}), made.pull_secret)
    assert (other.pull_secret, other.spec.image_pull_secret) == (None, "mine")


def test_the_code_of_a_run_comes_back(tmp_path: Path) -> None:
    write(tmp_path, train="import a\n", a="")
    order = make_order(shipment=shipped(tmp_path))
    assert kept.same_code(manifest.objects(order).config) == order.shipment


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"spec.json": "{"},
        {"spec.json": '{"schema":1,"spec":{"nodes":"two"}}'},
        {"spec.json": '{"schema":2,"spec":{}}'},
        {"spec.json": "[]"},
    ],
)
def test_a_record_that_cannot_be_read_says_so(data: dict[str, str]) -> None:
    with pytest.raises(JobUnreadable):
        kept.read_back({"data": data})


@pytest.mark.parametrize("change", [{"plan.json": "{}"}, {"plan.json": "null"}, {"plan.json": "x"}])
def test_code_that_cannot_be_read_says_so(change: dict[str, str]) -> None:
    config = manifest.objects(make_order(shipment=SHIPPED)).config
    with pytest.raises(JobUnreadable):
        kept.same_code({**config, "data": {**config["data"], **change}})
    with pytest.raises(JobUnreadable):  # the code itself
        kept.same_code({**config, "binaryData": {"code.zip": base64.b64encode(b"no zip").decode()}})


@pytest.mark.parametrize("secret", [{}, {"data": None}, {"data": {"secret_env.json": "%%%", "token": "%"}}])
def test_a_secret_of_somebody_else_holds_nothing_of_ours(secret: dict[str, Any]) -> None:
    assert kept.secret_values(secret) == {} and kept.token_of(secret) == ""
    assert kept.registry_login(secret) is None
