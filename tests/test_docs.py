"""Links between our own pages lead somewhere."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MAKE_TARGET = re.compile(r"`make ([a-z]+)")


def prose(page: Path) -> str:
    """The page without its code blocks, where brackets mean something else."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that the page's headings can be linked by, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.+?)\s*$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def relative_links(page: Path) -> Iterator[str]:
    """Targets of the page's links that are ours."""
    return (target for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_and_anchor_exists(page: Path) -> None:
    for target in relative_links(page):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_named_in_the_pages_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in MAKE_TARGET.findall(page.read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name} names make {target}"


def test_every_guide_is_linked_from_the_readme() -> None:
    links = {(ROOT / link.partition("#")[0]).resolve() for link in relative_links(ROOT / "README.md")}
    assert set((ROOT / "docs").glob("*.md")) <= links


def test_the_help_of_make_lists_what_the_readme_promises() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {"make lab", "make test"} <= {" ".join(line.split()[:2]) for line in listed.splitlines()}
