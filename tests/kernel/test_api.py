"""Jobs from Python: `aiarts.submit(…)`, and what a kernel without a server and without the package is
told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import jupyter_aiarts as aiarts
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.errors import NoServer


def test_the_example_of_the_manual_works(script: Callable[..., str]) -> None:
    job = aiarts.submit(script("print('done')"), nodes=1, name="first")
    job.wait(30)
    assert list(job.logs()) == ["done"]
    assert job.explain().code == "succeeded"
    assert [one.id for one in aiarts.jobs()] == [job.id]
    assert repr(aiarts.jobs()).split("\n")[1].startswith(job.id)


def test_a_path_a_spec_and_keys_are_taken(script: Callable[..., str], nothing_around: Path) -> None:
    path = nothing_around / script("import sys; print(sys.argv[1:])")
    assert list(aiarts.submit(path, args=["a"]).wait(30).logs()) == ["['a']"]
    spec = {"script": str(path), "args": ["a"], "params": {"k": None}}
    assert list(aiarts.submit(spec, args=["b"]).wait(30).logs()) == ["['b', '--k']"]


def test_a_job_is_found_again_by_its_name(script: Callable[..., str]) -> None:
    job = aiarts.submit(script("pass"), name="again")
    assert api.job("again").id == job.id


def test_a_dry_run_shows_itself(script: Callable[..., str]) -> None:
    tried = api.try_out(script("pass"))
    assert tried.fits is True
    assert "It would start now." in repr(tried)


def test_a_kernel_with_neither_server_nor_package_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A conda environment may hold `kernel/` alone; papermill gives it no server."""
    monkeypatch.setitem(sys.modules, "msgspec", None)
    for name in [name for name in sys.modules if name.startswith("jupyter_aiarts.") and ".kernel" not in name]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(NoServer) as caught:
        api.connect()
    assert "does not belong to a Jupyter server" in str(caught.value)
    assert "AIARTS_SERVER" in (caught.value.hint or "")
    assert caught.value.exit_code == 5


def test_loading_the_kernel_side_imports_nothing_heavy() -> None:
    """The promise behind `%load_ext` under 50 ms."""
    code = (
        "import sys, jupyter_aiarts.kernel.api, jupyter_aiarts.kernel.verbs\n"
        "heavy = {'tornado', 'IPython', 'kubernetes', 'msgspec', 'yaml', 'http.client', 'ssl', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_queues_and_machines_are_values_that_show_themselves_as_their_commands_do() -> None:
    found, machines = aiarts.queues(), aiarts.cluster()
    assert [(one["name"], one["kind"]) for one in found] == [("local", "local")]
    assert repr(found).startswith("CLUSTER") and "<table" not in repr(found)
    assert [node["cluster"] for node in machines.nodes] == ["local"] and machines.fits is not None
    assert repr(machines).startswith("NODE")
    assert {"text/plain", "text/html"} <= set(machines._repr_mimebundle_())
    assert repr(aiarts.cluster("local")) == repr(machines)
    assert callable(aiarts.cluster) and callable(aiarts.queues)  # also after the modules of these names are there
