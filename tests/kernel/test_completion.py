"""Completion: what fits, quickly, and never an error while somebody types."""

from __future__ import annotations

import threading
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
    completer = Completer(api.connect)
    completer.complete("logs ")
    for thread in threading.enumerate():
        if thread.name == "aiarts-completion":
            thread.join(60)  # whoever types is kept for a second only; what was fetched is offered at the next key
    offered = completer.complete("logs ")
    assert {job["id"], "resnet"} <= set(offered) and "two words" not in offered


def test_a_server_that_hangs_costs_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else asks it, and is waited for so long; by the clock a busy machine would be late."""
    release, asking, waited, join = threading.Event(), set(), [], threading.Thread.join

    def kept(one: threading.Thread, seconds: float | None = None) -> None:
        waited.append(seconds)
        join(one, seconds)

    monkeypatch.setattr(threading.Thread, "join", kept)

    def hang() -> NoReturn:
        asking.add(threading.current_thread())
        release.wait(30)
        raise Unreachable("late")

    assert Completer(hang).complete("logs ") == []
    assert waited == [LIMIT_SECONDS] == [1.0] and threading.current_thread() not in asking and asking
    release.set()
