"""What a saved notebook shows where nothing of ours runs: in the pages and Markdown that nbconvert makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter, MarkdownExporter

import jupyter_aiarts as aiarts
from jupyter_aiarts.kernel.live import MIME

NASTY = "<script>alert(1)</script>"


@pytest.fixture(params=["lab", "widgets"])
def saved(
    request: pytest.FixtureRequest, shell: Any, script: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A notebook with a job, a list, the machine and the cards; made in JupyterLab, and where widgets are wanted."""
    monkeypatch.setenv("AIARTS_WIDGETS", str(int(request.param == "widgets")))
    job = aiarts.submit(script("print('said')"), name=NASTY).wait(30)
    lines = ("jobs", "usage", "cluster")
    values = [job, *(shell.run_line_magic("aiarts", line) for line in lines)]
    cells = []
    for line, value in zip(("job", *(f"%aiarts {line}" for line in lines)), values, strict=True):
        data = value._repr_mimebundle_()
        assert MIME in data and len(data) == (4 if request.param == "widgets" else 3)
        output = nbformat.v4.new_output("execute_result", data, execution_count=1)
        cells.append(nbformat.v4.new_code_cell(line, outputs=[output]))
    book = nbformat.v4.new_notebook(cells=cells)
    nbformat.validate(book)
    return book


def test_a_page_has_the_html_and_nothing_that_runs(saved: Any) -> None:
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(saved)
    assert "succeeded" in page and "Memory" in page and "&lt;script&gt;alert(1)" in page
    assert NASTY not in page and "vnd.jupyter-aiarts" not in page and "widget-view" not in page


def test_a_markdown_file_has_the_words(saved: Any) -> None:
    text, _ = MarkdownExporter().from_notebook_node(saved)
    assert "succeeded" in text and "Memory" in text and "alert(1)" in text
    assert "vnd.jupyter-aiarts" not in text and "widget-view" not in text
