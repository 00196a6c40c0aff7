"""The audit log: who did what when, bounded, in order, readable by its owner alone."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.audit import AuditLog
from jupyter_aiarts.server.app import AiartsApp

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
LOG = logging.getLogger("test")


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_says_who_what_which_and_how_it_ended(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "new" / "audit.log", LOG)
    audit.note("alice", "stop", "a123456789", 200)
    audit.close()
    (entry,) = entries(audit.path)
    assert entry.pop("t").endswith("Z")
    assert entry == {"user": "alice", "action": "stop", "subject": "a123456789", "status": 200}


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.log", LOG)
    audit.note("alice", "stop", None, 200)
    audit.close()
    assert stat.S_IMODE(audit.path.stat().st_mode) == 0o600


def test_a_full_file_makes_room_and_only_one_older_one_stays(tmp_path: Path) -> None:
    audit = AuditLog(tmp_path / "audit.log", LOG, limit=1000)
    for number in range(100):
        audit.note("alice", "stop", f"a{number:09}", 200)
    audit.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.log", "audit.log.1"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
    kept = entries(tmp_path / "audit.log.1") + entries(tmp_path / "audit.log")
    subjects = [entry["subject"] for entry in kept]
    assert subjects == [f"a{number:09}" for number in range(100 - len(kept), 100)]


def test_two_servers_share_one_file_and_lose_no_line(tmp_path: Path) -> None:
    logs = [AuditLog(tmp_path / "audit.log", LOG, limit=100_000) for _ in range(2)]
    for number in range(200):
        logs[number % 2].note("alice", "stop", f"a{number:09}", 200)
    for log in logs:
        log.close()
    found = {entry["subject"] for entry in entries(tmp_path / "audit.log")}
    assert len(found) == 200


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "audit.log").symlink_to(tmp_path / "elsewhere")
    audit = AuditLog(tmp_path / "audit.log", LOG)
    audit.note("alice", "stop", None, 200)
    audit.close()
    assert not (tmp_path / "elsewhere").exists()
    assert "cannot be written" in caplog.text


async def test_every_deed_is_noted_done_or_refused_and_reading_is_not(
    ask: Ask, app: AiartsApp, submitted: Submit, state_dir: Path
) -> None:
    job = await submitted(secret_env={"API_TOKEN": "hunter2-value"})
    await ask(f"jobs/{job['id']}")
    await ask("jobs", "POST", {"no_such_key": 1})
    await ask("jobs/..%2f..%2fetc", "DELETE")
    await ask(f"jobs/{job['id']}", "DELETE")
    await app.stop_extension()
    found = [(entry["action"], entry["subject"], entry["status"]) for entry in entries(state_dir / "audit.log")]
    assert found == [
        ("submit", job["id"], 201),
        ("submit", None, 400),
        ("delete", None, 404),
        ("delete", job["id"], 204),
    ]
    assert "hunter2-value" not in (state_dir / "audit.log").read_text()


class TestOff:
    """`AiartsApp.audit_log = False`"""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["AiartsApp"]["audit_log"] = False
        return jp_server_config

    async def test_nothing_is_written(self, ask: Ask, app: AiartsApp, state_dir: Path) -> None:
        await ask("jobs", "POST", {"no_such_key": 1})
        await app.stop_extension()
        assert not (state_dir / "audit.log").exists()
