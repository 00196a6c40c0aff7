"""A log that this process may not read is never an empty one: what may not be read is said, with whose it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.reading import with_unread
from tests.engines.logs.conftest import LogFolder
from tests.engines.somebody import as_somebody, needs_root

pytestmark = needs_root
READ = "node-0/log/0"


@pytest.fixture
def written() -> Iterator[LogFolder]:
    """Two ranks of a run on storage that everybody sees, which root wrote for everybody to read."""
    with TemporaryDirectory(prefix="aiarts-logs-") as made:
        Path(made).chmod(0o755)
        log = LogFolder(Path(made) / "run-1")
        log.write(b"of rank 0\n", 0)
        log.write(b"of rank 1\n", 1)
        yield log


def read(run: Path, lang: str = "en") -> tuple[list[str], str | None]:
    """As the service reads it, in a process of another user."""

    def ask() -> tuple[list[str], str | None]:
        log = open_log(run)
        return [line.text for line in log.lines(LogQuery(tail=10), ended=True)], log.unread(lang)

    return as_somebody(ask)


def test_of_a_log_that_everybody_may_read_nothing_is_said(written: LogFolder) -> None:
    assert read(written.run) == (["of rank 0", "of rank 1"], None)


@pytest.mark.parametrize(
    ("part", "mode", "lines"),
    [
        ("", 0o700, []),
        ("node-0", 0o700, []),
        ("node-0/log", 0o700, []),
        (READ, 0o700, ["of rank 1"]),
        (READ, 0o704, ["of rank 1"]),  # its names may be seen and not its files
        (f"{READ}/stdout.{0:020d}.log", 0o600, ["of rank 1"]),
    ],
)
def test_whatever_may_not_be_read_is_named_with_its_owner_and_mode(
    written: LogFolder, part: str, mode: int, lines: list[str]
) -> None:
    path = written.run / part
    path.chmod(mode)
    texts, unread = read(written.run)
    assert texts == lines
    assert unread is not None and unread.startswith(
        f"{path} may not be read by this server, which runs as nobody (uid 65534): "
        f"it belongs to root (uid 0), with mode {mode:04o}. "
    )
    assert "admin" in unread and "run_as: user" in unread


def test_several_are_one_sentence_in_either_language(written: LogFolder) -> None:
    for rank in ("0", "1"):
        os.chmod(written.run / "node-0/log" / rank, 0o700)
    texts, unread = read(written.run)
    assert texts == [] and unread is not None and "1 more" in unread
    said = read(written.run, "zh")[1]
    assert said is not None and "无权读取" in said and "另有 1 处" in said


def test_what_was_put_right_is_no_longer_said(written: LogFolder) -> None:
    def ask() -> list[str | None]:
        log = open_log(written.run)
        said = []
        for mode in (0o300, 0o700):
            os.chmod(written.run, mode)
            log.lines(LogQuery(tail=10), ended=True)
            said.append(log.unread())
        return said

    for folder, _, files in os.walk(written.run):
        for path in (folder, *(f"{folder}/{name}" for name in files)):
            os.chown(path, 65534, 65534)
    before, after = as_somebody(ask)
    assert before is not None and after is None


def test_a_page_that_lacks_a_rank_begins_with_why_and_pages_before_and_after_it_are_pages(written: LogFolder) -> None:
    lines = open_log(written.run).lines(LogQuery(tail=10), ended=True)
    said, *rest = with_unread(lines, "rank 2 may not be read", LogQuery(tail=10))
    assert (said.stream, said.text, rest) == ("aiarts", "rank 2 may not be read", lines)
    assert open_log(written.run).lines(LogQuery(after=said.seq), ended=True) == lines[1:]
    for query in (LogQuery(after=lines[0].seq), LogQuery(before=lines[1].seq)):
        assert with_unread(lines, "rank 2 may not be read", query) == lines
    assert with_unread(lines, None, LogQuery()) == lines
    assert with_unread([], "nothing may be read", LogQuery()) == []


def test_what_is_not_there_is_not_refused(written: LogFolder) -> None:
    assert read(written.run.parent / "run-2") == ([], None)
