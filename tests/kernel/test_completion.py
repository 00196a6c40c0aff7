"""Completion: what fits, quickly, and never an error while somebody types."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

from jupyter_aiarts.kernel import api, grammar
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.completion import LIMIT_SECONDS, Completer
from jupyter_aiarts.kernel.errors import Unreachable


def nobody() -> NoReturn:
    raise Unreachable("away")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("su", ["submit"]),
        ("re", ["release", "rerun", "resume"]),
        ("jobs --ph", ["--phase"]),
        ("jobs --phase ru", ["running"]),
        ("submit --dev", ["--device", "--devices"]),
        ("submit --device hu", ["huawei_npu_amd64", "huawei_npu_arm64"]),
        ("submit --processes ", ["card", "node"]),
        ("submit --name ", []),
        ("templates s", ["save", "show"]),
        ("submit a.py -- --dev", []),
        ("--ver", ["--version"]),
        ("show x", []),
    ],
)
def test_words_options_and_values_are_completed_without_any_server(line: str, found: list[str]) -> None:
    assert Completer(nobody).complete(line) == found


def test_an_empty_line_offers_every_verb() -> None:
    assert Completer(nobody).complete("") == sorted(grammar.BY_NAME)


def test_jobs_are_offered_by_id_and_name(script: Callable[..., str], client: Client) -> None:
    job = client.submit({"script": script("pass"), "name": "resnet"}).job
    client.submit({"script": script("pass"), "name": "two words"})
    offered = Completer(api.connect).complete("logs ")
    assert {job["id"], "resnet"} <= set(offered) and "two words" not in offered


def test_a_server_that_hangs_costs_a_second_at_most() -> None:
    release = threading.Event()

    def hang() -> NoReturn:
        release.wait(30)
        raise Unreachable("late")

    begin = time.monotonic()
    assert Completer(hang).complete("logs ") == []
    assert time.monotonic() - begin < LIMIT_SECONDS + 0.5
    release.set()
