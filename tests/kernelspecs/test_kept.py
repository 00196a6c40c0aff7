"""What a look keeps for the next one hides no change: rows, kernelspecs, folders of environments."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

from jupyter_aiarts import kernelbook
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
from jupyter_aiarts.kernelspecs import install

from .conftest import make_conda

AGES = itertools.count(1_000_000_000)


def aged(*folders: Path) -> None:
    """Every folder has been as it is for long, so that all is kept that may be; never twice at the same time."""
    moment = next(AGES)
    for top in folders:
        for folder, _, _ in os.walk(top):
            os.utime(folder, (moment, moment))


def names(rows: list[object]) -> list[str]:
    return [row.name for row in rows]  # type: ignore[attr-defined]


async def test_what_comes_and_goes_is_seen_at_the_next_look(book: KernelBook, home: Path, tmp_path: Path) -> None:
    other = KernelBook(KernelSettings(directory=str(tmp_path / "shared")), environ={})
    envs = home / "miniconda3/envs"
    for number in range(3):
        aged(home, tmp_path)
        await book.all()
        make_conda(envs / f"env-{number}")
        assert f"env-{number}" in names(await book.all())
        one = await other.register(f"env-{number}", "global")
        assert [row.spec for row in await book.all() if row.name == one.name] == [one.spec]
        aged(home, tmp_path)
        await book.all()
        await other.unregister(one.name)
        assert [row.spec for row in await book.all() if row.name == one.name] == [None]
    aged(home, tmp_path)
    await book.all()
    (envs / "env-0").rename(home / "away")
    (envs / "link").symlink_to(home / "away")
    assert {"env-1", "env-2", "away"} <= {*names(await book.all())}
    aged(home, tmp_path)
    await book.all()
    (envs / "link").unlink()
    assert "away" not in names(await book.all())


async def test_every_language_has_its_own_words(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/bare", ("python-3.11.4-h1",))
    for lang, title in (("en", "It has no ipykernel"), ("zh", "缺少 ipykernel"), ("en", "It has no ipykernel")):
        assert [row.problems[0].title for row in await book.all(lang) if row.name == "bare"] == [title]


async def test_what_changes_in_its_place_is_seen_after_a_moment(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    one = await book.register("train", "global")
    aged(home, tmp_path)
    await book.all()
    (env / "bin/python").unlink()
    kernel = tmp_path / "shared" / str(one.spec) / "kernel.json"
    said = json.loads(kernel.read_text())
    said["metadata"]["jupyter_aiarts"]["version"] = "0.0.1"
    kernel.write_text(json.dumps(said))
    monkeypatch.setattr(kernelbook.time, "monotonic", lambda now=kernelbook.time.monotonic: now() + 10)
    assert max(kernelbook.MOMENT, install.SECONDS) < 10
    [row] = [row for row in await book.all() if row.name == "train"]
    assert [problem.code for problem in row.problems] == ["python-gone", "kernel-outdated"]


async def test_while_nothing_changes_neither_kernels_nor_folders_of_environments_are_read_again(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        make_conda(home / f"miniconda3/envs/env-{number}")
        await book.register(f"env-{number}", "global")
    aged(home, tmp_path)
    monkeypatch.setattr(kernelbook.time, "monotonic", lambda: 1000.0)  # all in one moment, however slow this machine is
    await book.all()
    asked: list[str] = []
    stat, scan = os.stat, os.scandir
    monkeypatch.setattr("os.stat", lambda path, **more: asked.append(str(path)) or stat(path, **more))
    monkeypatch.setattr("os.scandir", lambda path: asked.append(str(path)) or scan(path))
    await book.all()
    assert not [path for path in asked if path.endswith("kernel.json")]
    assert len([path for path in asked if "/envs/env-" in path]) == 2 * 20
