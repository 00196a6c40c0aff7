"""What a browser loads of us is small, and most of it only when somebody opens a page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

BUILT = Path(__file__).parent.parent / "jupyter_aiarts" / "labextension"
STATIC = BUILT / "static"
MOST = 350_000
"""Bytes of all scripts together, compressed as a server sends them; what JupyterLab shares is not in them."""
MOST_AT_START = 40_000

PAGES = {
    "sidebar": "aiarts-JobList-all",
    "form": "aiarts-FormWidget",
    "job page": "aiarts-Timeline",
    "log": "aiarts-Log-foot",
    "cluster": "aiarts-Nodes-scroll",
    "cell panels": "aiarts-Cell-machines",
    "charts": "uplot",
}
"""A word of each that is nowhere else."""


@pytest.fixture(scope="module")
def sizes() -> dict[str, int]:
    """The compressed size of each script."""
    found = {path.name: len(gzip.compress(path.read_bytes())) for path in STATIC.glob("*.js")}
    if not found:
        pytest.fail("the labextension is not built: run `make install` first")
    return found


def entry() -> str:
    """The script that JupyterLab loads first, by the package's own word."""
    metadata = json.loads((BUILT / "package.json").read_text(encoding="utf-8"))
    return str(metadata["jupyterlab"]["_build"]["load"]).rsplit("/", 1)[-1]


def plugins() -> str:
    """The script with our plugins."""
    (name,) = (path.name for path in STATIC.glob("*.js") if '"jupyter-aiarts:manager"' in path.read_text("utf-8"))
    return name


def test_all_of_it_is_small(sizes: dict[str, int]) -> None:
    print(sorted(sizes.items()))
    assert sum(sizes.values()) <= MOST


def test_what_is_loaded_with_jupyterlab_has_no_page_in_it(sizes: dict[str, int]) -> None:
    assert sizes[entry()] + sizes[plugins()] <= MOST_AT_START
    text = (STATIC / plugins()).read_text(encoding="utf-8")
    assert [page for page, word in PAGES.items() if word in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_page_is_somewhere(page: str, sizes: dict[str, int]) -> None:
    assert any(PAGES[page] in (STATIC / name).read_text(encoding="utf-8") for name in sizes)
