"""How fast one rank can print through the launcher into the tagged log, against `script | tee file`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.engines.local.births import LAUNCHER, write_plan
from jupyter_aiarts.engines.local.folder import JobFolder, write_file
from jupyter_aiarts.engines.local.records import CallerFile, JobFile, Placed, RunFile, Settings
from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.times import now

from .measure import Aim, Figure, in_turns, keep, short, timed

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

ROUNDS = 5
#: 80 bytes with the newline, each different, so that reading back shows what is missing.
SCRIPT = "import sys\nfor number in range(int(sys.argv[1])):\n    print(f'{number:079d}')\n"


@pytest.mark.parametrize(("unbuffered", "lines"), [("", 2_000_000), ("1", 1_000_000)], ids=["buffered", "unbuffered"])
def test_throughput(tmp_path: Path, unbuffered: str, lines: int) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = LauncherRun(tmp_path, script, lines, unbuffered)
    ours, peer = in_turns(ROUNDS, run.go, lambda: tee(script, lines, unbuffered))
    reading = timed(lambda: check_all_there(run.folder.run(1), lines))
    how = "PYTHONUNBUFFERED=1, our default" if unbuffered else "PYTHONUNBUFFERED empty"
    keep(
        f"2 throughput {'unbuffered' if unbuffered else 'buffered'}",
        Figure(
            title=f"One rank prints {lines:,} lines of 80 bytes, tagged ({how} on both sides)",
            unit="s",
            peer_name="`python script.py | tee file`",
            ours=ours,
            peer=peer,
            aim=Aim(by="speed", bound=0.5, at_least=True),
            more={"lines": lines, "lost": 0, "reading all back with tags, s": short(reading)},
        ),
    )


class LauncherRun:
    """A run as the supervisor prepares one, whose launcher we start and wait for."""

    def __init__(self, place: Path, script: Path, lines: int, unbuffered: str) -> None:
        self.place = place
        raw = {"script": str(script), "args": [str(lines)], "env": {"PYTHONUNBUFFERED": unbuffered}}
        spec = read_spec({**raw, "workdir": str(place)}).spec
        self.folder = JobFolder(place / "job")
        self.job = JobFile(id="a123456789", owner="alice", host="here", created=now(), queued=now(), spec=spec)
        self.caller = CallerFile(python=sys.executable, environ={"PATH": os.environ["PATH"]})

    def go(self) -> float:
        """Seconds from the launcher's start to its end, on an empty folder."""
        shutil.rmtree(self.folder.root, ignore_errors=True)
        run = self.folder.run(1)
        (run / "node-0").mkdir(parents=True)
        write_file(run / "run.json", RunFile(run=1, created=now(), spec=self.job.spec, caller=self.caller))
        write_plan(
            self.job, self.folder, Placed(attempt=1, placed=now(), cpus=1, devices=((),)), Settings(), self.place
        )
        words = [sys.executable, "-I", "-S", str(LAUNCHER), str(run / "plan.json"), "0", str(run / "node-0")]
        return timed(lambda: subprocess.run(words, check=True, stdin=subprocess.DEVNULL))


def tee(script: Path, lines: int, unbuffered: str) -> float:
    """Seconds that a shell's pipe into tee takes."""
    out = script.with_name("tee.out")
    out.unlink(missing_ok=True)
    line = f"{shlex.join([sys.executable, str(script), str(lines)])} | tee {shlex.quote(str(out))} > /dev/null"
    environ = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": unbuffered}
    taken = timed(lambda: subprocess.run(["sh", "-c", line], check=True, env=environ))
    assert out.stat().st_size == lines * 80
    return taken


def check_all_there(run: Path, lines: int) -> None:
    """Every line is there once, in order, with its rank, stream and a time that never goes back."""
    last, count = "", 0
    for line in open_log(run).walk(LogQuery(), ended=True):
        assert (int(line.text), line.rank, line.stream) == (count, 0, "stdout")
        assert line.t >= last
        last, count = line.t, count + 1
    assert count == lines
