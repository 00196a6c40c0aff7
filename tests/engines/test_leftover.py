"""What can be removed of a deleted job's folder is removed; what cannot is told, with whose it is and what to do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jupyter_aiarts.engines.leftover import Leftover, clear
from tests.engines.somebody import NOBODY, as_somebody, needs_root


@pytest.fixture
def storage() -> Iterator[Path]:
    """Storage that everybody can write to, like /tmp; pytest's own folders let nobody else in."""
    with TemporaryDirectory(prefix="aiarts-left-") as made:
        Path(made).chmod(0o1777)
        yield Path(made)


def write(path: Path, text: str = "text", owner: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.chown(path, owner, owner)
    return path


def give(folder: Path, owner: int, mode: int = 0o755) -> None:
    os.chown(folder, owner, owner)
    folder.chmod(mode)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_folder_of_ones_own_is_gone_with_all_that_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "job/run-1/node-0").mkdir(parents=True)
    (tmp_path / "job/run-1/node-0/status.json").write_text("{}")
    assert clear(tmp_path / "job") is None
    assert list(tmp_path.iterdir()) == []
    assert clear(tmp_path / "job") is None
    assert clear(tmp_path / "no/such/job") is None


@needs_root
def test_of_two_users_files_ones_own_go_and_the_others_are_told(storage: Path) -> None:
    job = storage / "job"
    write(job / "run-1/stdout.log", "root wrote this")
    write(job / "run-1/status.json", "{}")
    write(job / "run-2/mine.log", owner=NOBODY)
    give(job / "run-2", NOBODY)
    left = as_somebody(lambda: clear(job))
    assert names(job) == {"run-1/stdout.log", "run-1/status.json"}
    assert left is not None and (left.files, left.bytes, left.owners) == (2, 17, ("root (uid 0)",))
    said = left.said()
    for part in (f"2 files (17 bytes) of the deleted job stayed in {job}", "runs as nobody (uid 65534)"):
        assert part in said
    assert "belongs to root (uid 0)" in said and "admin" in said and "run_as: user" in said
    assert str(job) in left.said("zh") and "管理员" in left.said("zh")


@needs_root
def test_a_file_of_somebody_else_in_a_folder_like_tmp_is_theirs(storage: Path) -> None:
    """The folder lets everybody write, and yet each removes their own alone."""
    job = storage / "job"
    write(job / "theirs", owner=4321)
    write(job / "mine", owner=NOBODY)
    job.chmod(0o1777)
    left = as_somebody(lambda: clear(job))
    assert names(job) == {"theirs"}
    assert left is not None and (left.files, left.owners) == (1, ("uid 4321",))


@needs_root
def test_an_empty_folder_that_stays_is_nobodys_concern(storage: Path) -> None:
    """On a shared mount the kubelet makes the job's folder, as root."""
    job = storage / "job"
    write(job / "run-1/stdout.log", owner=NOBODY)
    give(job / "run-1", NOBODY, 0o700)
    job.chmod(0o1777)
    left = as_somebody(lambda: clear(job))
    assert list(job.iterdir()) == []
    assert left is not None and left.is_empty


@needs_root
def test_a_folder_that_cannot_even_be_looked_into_is_told_without_a_count(storage: Path) -> None:
    job = storage / "job"
    write(job / "run-1/stdout.log")
    (job / "run-1").chmod(0o700)
    left = as_somebody(lambda: clear(job))
    assert left is not None and not left.is_all and not left.is_empty
    assert left.said().startswith(f"What the deleted job wrote stayed in {job}: this server runs as nobody")


@needs_root
def test_folders_that_their_owner_locked_go_all_the_same(storage: Path) -> None:
    job = storage / "job"
    for mode in (0o000, 0o500, 0o300):
        write(job / f"{mode:o}/checkpoint", owner=NOBODY)
        give(job / f"{mode:o}", NOBODY, mode)
    give(job, NOBODY)
    give(storage, NOBODY)
    assert as_somebody(lambda: clear(job)) is None
    assert not job.exists()


def test_a_link_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/thesis.tex").write_text("years of work")
    (tmp_path / "job").mkdir()
    (tmp_path / "job/output").symlink_to(tmp_path / "home")
    (tmp_path / "other").symlink_to(tmp_path / "home")
    assert clear(tmp_path / "job") is None
    assert clear(tmp_path / "other") is None
    assert (tmp_path / "home/thesis.tex").read_text() == "years of work"
    assert {path.name for path in tmp_path.iterdir()} == {"home"}


def test_folders_inside_each_other_as_deep_as_you_like_go_too(tmp_path: Path) -> None:
    """Deeper than a path can be written, than Python recurses and than files can be open."""
    (tmp_path / "job").mkdir()
    here = os.open(tmp_path / "job", os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert clear(tmp_path / "job") is None
    assert list(tmp_path.iterdir()) == []


@needs_root
def test_storage_that_is_read_only_is_told_in_the_systems_words(storage: Path) -> None:
    command = ["mount", "-t", "tmpfs", "none", str(storage)]
    if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        write(storage / "job/stdout.log")
        subprocess.run(["mount", "-o", "remount,ro", str(storage)], check=True)
        left = clear(storage / "job")
    finally:
        subprocess.run(["umount", str(storage)], check=True)
    assert left is not None and not left.owners
    assert left.said() == (
        f"1 file (4 bytes) of the deleted job stayed in {storage}/job: Read-only file system. "
        "Ask an admin to remove that folder."
    )


@pytest.mark.parametrize(("count", "size"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (10**9, "1.0 GB")])
def test_sizes_are_for_people(count: int, size: str) -> None:
    left = Leftover(path="/logs/job", files=2, bytes=count, is_busy=True)
    assert left.said().startswith(f"2 files ({size}) of the deleted job stayed in /logs/job: its processes still write")
