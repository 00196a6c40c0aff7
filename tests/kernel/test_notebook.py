"""A real kernel without a server, as papermill and VS Code start one: the magic works in-process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
CELLS = (
    "%load_ext jupyter_aiarts",
    "%%aiarts submit --name '<b>cell</b>' --as job\nprint('from the cell')",
    "job.wait(60).phase",
    "job",
    "%aiarts logs cell_missing",
)


@pytest.fixture
def notebook(nothing_around: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(nothing_around / "ipython"))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = NotebookClient(
        book, timeout=90, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": "."}}
    )
    return client.execute()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_notebook_without_a_server_submits_waits_and_shows(notebook: Any) -> None:
    """The cell is shipped, the job object comes back, its HTML is escaped, a mistake is one sentence."""
    _, shipped, waited, shown, wrong = (cell.outputs for cell in notebook.cells)
    assert any("text/html" in output.get("data", {}) for output in shipped)
    assert waited[0].data["text/plain"] == "'succeeded'"
    assert "&lt;b&gt;cell&lt;/b&gt;" in shown[0].data["text/html"]
    assert "<b>cell</b> (" in shown[0].data["text/plain"]
    assert wrong[0].output_type in ("stream", "error")
    assert "No job has the id or name" in str(wrong[0]) and "Traceback" not in str(wrong[0].get("text", ""))
