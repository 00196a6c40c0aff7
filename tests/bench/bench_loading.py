"""What the extension costs a server that runs, and `%load_ext` a shell that runs, each in a fresh Python."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .finished import with_finished_jobs
from .measure import ROOT, Aim, Figure, in_turns, keep, medians

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ROUNDS = 15
JOBS = 5
COUNTED = ("items", "service loaded")
CHILD = Path(__file__).with_name("loading_child.py")
Records = list[dict[str, float]]


def child(folder: Path, *words: str, state: Path | None = None) -> dict[str, float]:
    """Run one measurement in a fresh Python; its steps in milliseconds, what it counted as it is."""
    folder.mkdir(exist_ok=True)
    environ = {**os.environ, "AIARTS_STATE_DIR": str(state or folder / "never-used")}
    said = json.loads(subprocess.check_output([sys.executable, str(CHILD), *words], text=True, cwd=folder, env=environ))
    return {key: value if key in COUNTED else value * 1000 for key, value in said.items()}


def sampler(folder: Path, kept: Records, *words: str, state: Path | None = None) -> Callable[[], float]:
    """A way to take one sample that also remembers its steps."""

    def sample() -> float:
        kept.append(child(folder, *words, state=state))
        return kept[-1]["total"]

    return sample


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """As it is installed: with bytecode, as the peer has it, which a tree that is worked on may not have."""
    compileall.compile_dir(ROOT / "jupyter_aiarts", quiet=1)


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """The state folder of somebody who uses the extension."""
    return with_finished_jobs(tmp_path / "state", JOBS)


def test_first_list_of_a_folder_with_jobs_against_the_bare_import(tmp_path: Path, used: Path) -> None:
    steps: Records = []
    ours = sampler(tmp_path / "ours", steps, "server", "jupyter_aiarts", "aiarts/jobs", state=used)
    peer = sampler(tmp_path / "peer", [], "import", "jupyter_resource_usage")
    samples = in_turns(ROUNDS, ours, peer)
    assert {(step["items"], step["service loaded"]) for step in steps} == {(JOBS, 1)}
    title = (
        f"The extension on a running server: imported until the first `GET aiarts/jobs` is answered with {JOBS} jobs"
    )
    keep("3 loading, jobs there", against_import(title, samples, steps))


def test_first_list_of_a_folder_never_used_against_the_bare_import(tmp_path: Path) -> None:
    """Told apart from the one above: the answer may be known without loading what lists jobs."""
    steps: Records = []
    ours = sampler(tmp_path / "ours", steps, "server", "jupyter_aiarts", "aiarts/jobs")
    peer = sampler(tmp_path / "peer", [], "import", "jupyter_resource_usage")
    samples = in_turns(ROUNDS, ours, peer)
    assert {step["items"] for step in steps} == {0}
    loaded = "" if steps[0]["service loaded"] else "; the service is not loaded for it"
    keep("3 loading, never used", against_import(f"The same where no job was ever kept{loaded}", samples, steps))


def against_import(title: str, samples: tuple[list[float], list[float]], steps: Records) -> Figure:
    return Figure(
        title=title,
        unit="ms",
        peer_name="`import jupyter_resource_usage` in an equal server process",
        ours=samples[0],
        peer=samples[1],
        aim=Aim(by="ratio", bound=1.5),
        more=medians(steps[1:]),
    )


def test_first_list_against_the_first_answer_of_the_peer(tmp_path: Path, used: Path) -> None:
    steps: Records = []
    ours = sampler(tmp_path / "ours", [], "server", "jupyter_aiarts", "aiarts/jobs", state=used)
    peer = sampler(tmp_path / "peer", steps, "server", "jupyter_resource_usage", "api/metrics/v1")
    samples = in_turns(ROUNDS, ours, peer)
    keep(
        "3 loading, jobs there, against loading",
        Figure(
            title=f"The same with {JOBS} jobs",
            unit="ms",
            peer_name="jupyter_resource_usage imported until its first `GET api/metrics/v1` is answered",
            ours=samples[0],
            peer=samples[1],
            more={f"peer: {key}": value for key, value in medians(steps[1:]).items() if key not in COUNTED},
        ),
    )


def test_load_ext(tmp_path: Path) -> None:
    ours = sampler(tmp_path / "ours", [], "ipython", "jupyter_aiarts")
    peer = sampler(tmp_path / "peer", [], "ipython", "autoreload")
    samples = in_turns(ROUNDS, ours, peer)
    keep(
        "3 load_ext",
        Figure(
            title="`%load_ext jupyter_aiarts` in a running IPython shell",
            unit="ms",
            peer_name="`%load_ext autoreload`",
            ours=samples[0],
            peer=samples[1],
            aim=Aim(by="ours", bound=50),
        ),
    )
