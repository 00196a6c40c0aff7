"""A server whose user is not the one that a job's pods run as, with a log mount between them."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

import pytest

from jupyter_aiarts.engines.kubernetes import archive, shelf
from jupyter_aiarts.engines.kubernetes.archive import Archive
from jupyter_aiarts.engines.leftover import Leftover
from jupyter_aiarts.engines.logs import LogQuery, open_log
from tests.engines.somebody import NOBODY, as_somebody, needs_root

from .archiving import JOB, known_token

pytestmark = needs_root
T = TypeVar("T")


@pytest.fixture
def place() -> Iterator[Path]:
    """A mount that everybody can write to, with a log of root's, and a state folder of nobody's."""
    with TemporaryDirectory(prefix="aiarts-other-") as made:
        Path(made).chmod(0o755)
        (Path(made) / "state").mkdir(0o700)
        os.chown(Path(made) / "state", NOBODY, NOBODY)
        log = Path(made) / "mount" / JOB / "run-1/node-0/log/0"
        log.mkdir(parents=True)
        (log / f"stdout.{0:020d}.log").write_bytes(b"from root\n")
        for folder in (Path(made) / "mount", Path(made) / "mount" / JOB):
            folder.chmod(0o1777)  # as the kubelet makes it
        yield Path(made)


def in_an_archive(place: Path, ask: Callable[[Archive], Any]) -> Any:
    """What the archive of a server of nobody's answers; no pod is left that could be asked."""

    async def answer() -> Any:
        made = Archive(cast(Any, None), place / "state", "k8s", known_token, log_path=place / "mount")
        try:
            found = ask(made)
            return await found if asyncio.iscoroutine(found) else found
        finally:
            await made.aclose()

    return as_somebody(lambda: asyncio.run(answer()))


def own_copy(place: Path) -> Path:
    return place / "state/clusters/k8s/team" / JOB / "run-1"


def test_what_root_wrote_stays_and_is_told_and_logged_while_the_servers_own_copy_goes(place: Path) -> None:
    def forget_with_a_copy(made: Archive) -> Any:
        own_copy(place).mkdir(parents=True)
        told: list[str] = []
        archive.log.addHandler(handler := logging.Handler())
        handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]

        async def forget() -> tuple[tuple[Leftover, ...], list[str]]:
            return await made.forget(JOB), told

        return forget()

    (left,), told = in_an_archive(place, forget_with_a_copy)
    assert not own_copy(place).parent.exists()
    assert (place / "mount" / JOB / "run-1/node-0/log/0").is_dir()
    assert (left.path, left.files, left.owners) == (str(place / "mount" / JOB), 1, ("root (uid 0)",))
    assert told == [f"Job {JOB} was deleted, but not all of it: {left.said()}"]


def test_a_mount_that_lets_nobody_in_is_told_and_raises_nothing(place: Path) -> None:
    (place / "mount").chmod(0o700)
    (left,) = in_an_archive(place, lambda made: made.forget(JOB))
    assert f"stayed in {place}/mount/{JOB}: this server runs as nobody (uid 65534) and may not" in left.said()


def test_a_state_folder_that_went_read_only_is_told_and_raises_nothing(place: Path) -> None:
    (copy := own_copy(place)).mkdir(parents=True)
    (copy / "summary.json").write_text("{}")
    for folder in [copy, *copy.parents]:
        if folder.is_relative_to(place / "state"):
            folder.chmod(0o755)
    left = in_an_archive(place, lambda made: made.forget(JOB))
    assert {one.path for one in left} == {str(copy.parent), str(place / "mount" / JOB)}


def test_a_log_that_may_not_be_read_and_was_not_copied_is_not_an_empty_one(place: Path) -> None:
    """The owner's server was off while the job ran, and its user has not the group that may read the folder."""
    run = place / "mount" / JOB / "run-1"
    run.chmod(0o2750)

    def read(made: Archive) -> tuple[list[str], str | None]:
        log = open_log(made.log_folder("team", JOB, 1))
        return [line.text for line in log.lines(LogQuery(tail=10), ended=True)], log.unread()

    texts, unread = in_an_archive(place, read)
    assert texts == []
    assert unread is not None and unread.startswith(f"{run} may not be read by this server, which runs as nobody")
    assert "it belongs to root (uid 0), with mode 2750" in unread


def test_a_copy_is_read_where_the_mount_may_not_be(place: Path) -> None:
    (place / "mount" / JOB / "run-1").chmod(0o700)
    own_copy(place).mkdir(parents=True)
    (place / "state/clusters").chmod(0o755)
    assert in_an_archive(place, lambda made: made.log_folder("team", JOB, 1)) == own_copy(place)


def test_a_log_whose_pod_has_not_come_yet_is_looked_for_where_copies_are(place: Path) -> None:
    assert in_an_archive(place, lambda made: made.log_folder("team", JOB, 2)) == own_copy(place).with_name("run-2")


def test_a_folder_of_the_mount_that_may_not_be_read_is_told_from_one_that_is_not_there_yet(place: Path) -> None:
    run = place / "mount" / JOB / "run-1"
    (run / "node-0").chmod(0o700)
    found = as_somebody(lambda: [shelf.is_denied(run / node) for node in ("node-0", "node-0/log", "node-1")])
    assert found == [True, True, False]
    run.chmod(0o700)
    assert as_somebody(lambda: [shelf.is_denied(run / "node-1"), shelf.is_readable(run)]) == [True, False]
