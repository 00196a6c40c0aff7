"""A notebook as a start file, run by the job's own Python."""

import json
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from .conftest import Run


@pytest.fixture
def notebook(run: Run) -> Any:
    """Make a notebook of these cells the start file."""

    def make(*cells: str, python: str = sys.executable) -> Run:
        document = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        document.metadata["kernelspec"] = {
            "name": "somebody-elses",
            "display_name": "x",
            "language": "python",
        }
        nbformat.write(document, run.folder / "train.ipynb")
        start = {"kind": "notebook", "path": str(run.folder / "train.ipynb"), "line": None, "python": python}
        return run.plan(start=start, args=["--rank", "${RANK_ID}", "a b"])

    return make


def executed(run: Run) -> Any:
    return json.loads((run.folder / "output" / "train.executed.ipynb").read_text())


def test_cells_run_with_the_jobs_python_and_arguments_until_one_fails(notebook: Any) -> None:
    run = notebook(
        "import os, sys\nprint(sys.argv[1:], sys.executable)\nprint('warn', file=sys.stderr)",
        "print(os.environ['AIARTS_ARGS'], os.environ['RANK'], os.getcwd())\n6 * 7",
        "1 / 0",
        "print('never')",
    )
    assert run.go() == 1
    assert run.log().decode().splitlines() == [
        f"['--rank', '0', 'a b'] {sys.executable}",
        f'["--rank", "0", "a b"] 0 {run.folder}',
        "42",
    ]
    assert run.log(stream="stderr").startswith(b"warn\n")
    assert b"ZeroDivisionError" in run.log(stream="stderr")
    assert run.summary["first_failure"]["exit_code"] == 1
    cells = executed(run)["cells"]
    assert cells[1]["outputs"][-1]["data"]["text/plain"] in ("42", ["42"])
    assert cells[2]["outputs"][0]["ename"] == "ZeroDivisionError"
    assert not cells[3]["outputs"]


def test_output_streams_and_a_stop_keeps_what_was_executed(notebook: Any) -> None:
    run = notebook("print('first', flush=True)", "import time; time.sleep(300)")
    run.plan(grace_seconds=10).start()
    run.until_logged(b"first")
    run.launchers[0].terminate()
    assert run.wait() == 1
    assert run.summary["result"] == "stopped"
    assert executed(run)["cells"][0]["outputs"][0]["text"] in ("first\n", ["first\n"])


def test_without_nbclient_one_sentence_says_what_to_install(notebook: Any, tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(0o755)
    run = notebook("print(1)", python=str(bare))
    assert run.go() == 1
    said = run.log(stream="stderr").decode()
    assert said.count("\n") == 1
    assert "pip install nbclient ipykernel" in said
    assert run.summary["first_failure"]["exit_code"] == 2
