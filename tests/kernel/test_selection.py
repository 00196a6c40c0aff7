"""Acting on many jobs: exactly those that were listed, nobody by mistake, and one refusal keeps no other from it."""

from __future__ import annotations

import argparse
import json
import socket
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.cli import main
from jupyter_aiarts.kernel import api, grammar
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.selection import age, idle_seconds, seconds_in_phase

Run = Callable[..., tuple[int, str, str]]
FOREVER = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def aiarts(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command in this process: its exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def three(client: Client, nothing_around: Path) -> Iterator[dict[str, str]]:
    """Two jobs that run, one that has failed: ids by name; nothing of them runs after the test."""
    (nothing_around / "forever.py").write_text(FOREVER)
    (nothing_around / "fails.py").write_text("raise SystemExit(3)")
    made = {}
    for name, script in (("one", "forever.py"), ("two", "forever.py"), ("bad", "fails.py")):
        spec = {"script": script, "name": name, "cpu": 0.1, "grace_seconds": 1, "priority": 5}
        made[name] = client.submit(spec).job["id"]
    list(client.follow(made["bad"]))
    for name in ("one", "two"):
        assert any(line["text"] == "up" for line in client.follow(made[name]))
    yield made
    again = api.connect()  # the command has closed the one before
    for job in again.jobs():
        again.delete(job["id"])
    while again.jobs():
        time.sleep(0.05)


def phases(aiarts: Run) -> dict[str, str]:
    return {job["name"]: job["phase"] for job in json.loads(aiarts("jobs", "--json")[1])}


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1.5h", 5400), ("7d", 604800), ("2w", 1209600)]
)
def test_ages_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert age(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1 d", "1y", "1d2h", "9" * 50 + "s", "١d", "nan", "1e9s"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="90s"):
        age(text)


def test_how_long_counts_from_the_end_else_the_start_else_the_making() -> None:
    def ago(hours: int) -> str:
        return (datetime.now(timezone.utc) - timedelta(hours=hours)).isoformat().replace("+00:00", "Z")

    for job, hours in (
        ({"created": ago(9), "started": ago(5), "ended": ago(2)}, 2),
        ({"created": ago(9), "started": ago(5), "ended": None}, 5),
        ({"created": ago(9)}, 9),
    ):
        assert round(seconds_in_phase(job) / 3600, 2) == hours


@pytest.mark.timeout(120)
def test_a_dry_run_lists_exactly_what_happens_then(aiarts: Run, three: dict[str, str]) -> None:
    code, out, _ = aiarts("stop", "--all-users", "--user", aiarts_owner(aiarts), "--dry-run", "--json")
    plan = json.loads(out)
    assert code == 0
    assert set(plan["stop"]) == {three["one"], three["two"]}
    assert plan["left"] == [three["bad"]]
    assert phases(aiarts)["bad"] == "failed" and "stopped" not in phases(aiarts).values()
    shown = aiarts("stop", "--user", aiarts_owner(aiarts), "--dry-run")[1]
    assert shown.count("is stopped, and kept") == 2 and shown.count("is left alone") == 1
    code, out, _ = aiarts("stop", "--user", aiarts_owner(aiarts), "--yes", "--json")
    assert code == 0
    assert {job["id"] for job in json.loads(out)} == set(plan["stop"])


def aiarts_owner(aiarts: Run) -> str:
    owner: str = json.loads(aiarts("jobs", "--json")[1])[0]["owner"]
    return owner


@pytest.mark.timeout(120)
def test_filters_leave_only_what_they_say(aiarts: Run, three: dict[str, str]) -> None:
    def listed(*words: str) -> set[str]:
        return {job["name"] for job in json.loads(aiarts("jobs", *words, "--json")[1])}

    assert listed("--phase", "failed") == {"bad"}
    assert listed("--user", "nobody-else") == set()
    assert listed("--queue", "none") == set()
    assert listed("--cluster", "local") == {"one", "two", "bad"}
    assert listed("--cluster", "elsewhere") == set()
    assert listed("--node", socket.gethostname()) == {"one", "two", "bad"}
    assert listed("--node", "another") == set()
    assert listed("--older-than", "1d") == set()
    assert listed("--older-than", "0s") == {"one", "two", "bad"}
    assert listed("-q", three["two"][:6]) == {"two"}


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "words",
    [
        ("stop",),  # nobody meant everybody
        ("stop", "--all-users"),
        ("delete",),
        ("stop", "one", "--phase", "running"),
        ("delete", "one", "--all-users"),
        ("stop", "--phase", "running"),  # nobody can be asked
        ("delete", "--phase", "failed"),
        ("stop", "--older-than", "soon"),
    ],
)
def test_what_could_hit_the_wrong_ones_is_refused_and_changes_nothing(
    aiarts: Run, three: dict[str, str], words: tuple[str, ...]
) -> None:
    before = phases(aiarts).keys()
    code, _, err = aiarts(*words)
    assert code == 2, err
    assert err
    assert phases(aiarts).keys() == before and "stopped" not in phases(aiarts).values()


@pytest.mark.timeout(120)
def test_a_refusal_of_one_job_is_said_and_the_others_are_done(
    aiarts: Run, three: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is gone when its turn comes, as when somebody else was quicker."""
    really = Client.act

    def gone_meanwhile(client: Client, job: str, move: str) -> dict[str, Any]:
        if job == three["one"]:
            client.delete(job)
            for _ in client.follow(job):
                pass
        return really(client, job, move)

    monkeypatch.setattr(Client, "act", gone_meanwhile)
    code, out, err = aiarts("pause", "--phase", "running", "--yes")
    assert (code, err) == (1, "")
    assert f"({three['two']})" in out and f"{three['one']}: " in out


@pytest.mark.timeout(120)
def test_many_are_deleted_after_one_answer(aiarts: Run, three: dict[str, str]) -> None:
    code, out, _ = aiarts("delete", "--phase", "failed", "--yes", "--json")
    assert (code, json.loads(out)) == (0, {"deleted": [three["bad"]]})
    assert "bad" not in phases(aiarts)


@pytest.mark.timeout(120)
def test_totals_count_what_is_held_and_say_how_far_back_they_reach(aiarts: Run, three: dict[str, str]) -> None:
    owner = aiarts_owner(aiarts)
    code, out, _ = aiarts("jobs", "--totals", "--json")
    (row,) = json.loads(out)["totals"]
    assert (code, row["user"], row["jobs"], row["running"] + row["waiting"]) == (0, owner, 3, 2)
    assert row["card_hours"] == 0 and row["hours"] >= 0
    assert "as far as jobs and their runs are still known" in aiarts("jobs", "--totals", "queue")[1]


def test_idle_jobs_are_those_whose_cards_have_done_nothing_for_long_enough() -> None:
    def job(minutes: float | None) -> dict[str, Any]:
        since = datetime.now(timezone.utc) - timedelta(minutes=minutes or 0)
        return {} if minutes is None else {"idle_since": since.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}

    assert [idle_seconds(job(minutes)) > 600 for minutes in (None, 5, 11)] == [False, False, True]
    given = grammar.parse(["stop", "--idle"]).options
    assert (given.idle, grammar.parse(["jobs", "--idle", "2h"]).options.idle) == (600.0, 7200.0)
    assert grammar.parse(["jobs"]).options.idle is None


def test_nobody_is_idle_where_nothing_is_known(aiarts: Run, three: dict[str, str]) -> None:
    assert json.loads(aiarts("jobs", "--idle", "0s", "--json")[1]) == []
    aiarts("stop", "--idle", "0s", "--yes")
    assert phases(aiarts) == {"one": "running", "two": "running", "bad": "failed"}
