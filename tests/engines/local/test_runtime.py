"""Processes of one state folder hear each other, whatever their surroundings; and nobody else is heard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_aiarts.engines.local.folder import StateFolder
from jupyter_aiarts.engines.local.runtime import Bell, ring, runtime_folder
from jupyter_aiarts.errors import StateUnusable


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return StateFolder.open(tmp_path / "state").root


def test_two_processes_with_other_surroundings_agree_on_one_folder(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "one"))
    first = runtime_folder(state)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "two"))
    assert runtime_folder(state) == first


def test_a_runtime_folder_that_vanished_is_made_again(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    runtime_folder(state).rmdir()
    assert runtime_folder(state).is_dir()


def test_a_folder_that_others_could_use_is_refused(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    planted = tmp_path / f"aiarts-{os.geteuid()}"
    planted.mkdir()
    planted.chmod(0o755)
    with pytest.raises(StateUnusable):
        runtime_folder(state)


def test_everybody_hears_the_bell_and_dead_listeners_are_cleared(tmp_path: Path) -> None:
    first, second, dead = Bell(tmp_path), Bell(tmp_path), Bell(tmp_path)
    dead.socket.close()
    ring(tmp_path, "abcdefghij")
    assert (first.drain(), second.drain(), dead.path.exists()) == ({"abcdefghij"}, {"abcdefghij"}, False)
    first.close()
    second.close()


def test_ringing_never_waits_for_a_listener_that_does_not_read(tmp_path: Path) -> None:
    deaf = Bell(tmp_path)
    for _ in range(5000):
        ring(tmp_path, "abcdefghij")
    assert deaf.drain() == {"abcdefghij"}
    deaf.close()


def test_ringing_in_an_empty_or_missing_folder_is_nothing(tmp_path: Path) -> None:
    ring(tmp_path, "abcdefghij")
    ring(tmp_path / "missing", "abcdefghij")
    assert list(tmp_path.iterdir()) == []
