"""The demo for Binder runs from top to bottom and shows what it promises; what Binder builds it with is in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "binder" / "demo.ipynb"


def text_of(cell: Any) -> str:
    """What a cell showed, as text."""
    shown = (one.get("text") or one.get("data", {}).get("text/plain") or one.get("evalue", "") for one in cell.outputs)
    return "\n".join(shown)


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The demo's code cells and what each showed, run in an empty folder with an empty state folder."""
    home = tmp_path_factory.mktemp("demo")
    shutil.copy(DEMO, home)
    notebook = nbformat.read(home / DEMO.name, as_version=4)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIARTS_", "JUPYTER", "JPY_"))}
    environ = {**kept, "HOME": str(home), "AIARTS_STATE_DIR": str(home / "state"), "LC_ALL": "C.UTF-8"}
    client = NotebookClient(notebook, timeout=60, kernel_name="python3")
    with tempfile.TemporaryDirectory(prefix="aiarts-") as sockets:
        client.create_kernel_manager()
        client.km.transport, client.km.ip = "ipc", f"{sockets}/k"
        with client.setup_kernel(env=environ, cwd=str(home)):
            code = [(index, cell) for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
            cells = [client.execute_cell(cell, index) for index, cell in code]
    yield {cell.source.partition("\n")[0]: text_of(cell) for cell in cells}


def test_a_cell_is_submitted_and_its_log_followed(executed: dict[str, str]) -> None:
    shown = executed["%%aiarts submit --name first --wait"]
    assert re.search(r"epoch 1 loss 1\.000.*epoch 3 loss 0\.333.*succeeded", shown, re.DOTALL)
    assert re.search(r"first +succeeded", executed["%aiarts jobs"])


def test_the_failure_is_explained_in_both_languages(executed: dict[str, str]) -> None:
    assert "No such file or directory: 'words.txt'" in executed["%aiarts explain reader"]
    assert "words.txt does not exist where the job runs" in executed["%aiarts explain reader"]
    assert re.search("words.txt.*[\u4e00-\u9fff]", executed["%aiarts --lang zh explain reader"])


def test_the_rerun_succeeds_and_the_first_log_stays(executed: dict[str, str]) -> None:
    assert re.search(r"3 words.*succeeded", executed["%aiarts rerun reader --wait"], re.DOTALL)
    assert "FileNotFoundError" in executed["%aiarts logs reader --run 1 --tail 1"]


def test_two_nodes_have_their_own_ranks(executed: dict[str, str]) -> None:
    shown = executed["%%aiarts submit --name pair --nodes 2 --wait"]
    assert "[0] rank 0 of 2" in shown and "[1] rank 1 of 2" in shown
    assert executed["%aiarts logs pair --rank 1"] == "rank 1 of 2"


def test_python_does_the_same(executed: dict[str, str]) -> None:
    assert executed["import jupyter_aiarts as aiarts"] == "succeeded 3 Succeeded\n"


def test_nothing_is_left_at_the_end(executed: dict[str, str]) -> None:
    deleted = executed["%aiarts delete first second reader pair --yes"]
    assert re.findall(r"Deleted (\w+)", deleted) == ["first", "second", "reader", "pair"]


def test_the_committed_demo_holds_no_output() -> None:
    notebook = nbformat.read(DEMO, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)


def test_binder_gets_a_python_and_a_node_that_the_build_accepts() -> None:
    found = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text())["dependencies"]
    versions = dict(one.split("=") for one in found if "=" in one)
    assert tuple(map(int, versions["python"].split("."))) >= (3, 10)
    assert int(versions["nodejs"]) >= 20


def test_the_build_step_is_a_shell_script_that_can_be_executed() -> None:
    script = ROOT / "binder" / "postBuild"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
