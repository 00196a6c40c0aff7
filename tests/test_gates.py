"""Promises of the repository as a whole that no linter knows."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jupyter_aiarts

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "jupyter_aiarts"
EXTENSION = ROOT / "labextension"
HEAVY = ["tornado", "IPython", "kubernetes", "msgspec", "jupyter_server", "ipywidgets", "psutil"]


def python_files(folder: Path) -> list[Path]:
    """The modules below a folder; an empty list would make a gate that holds nothing."""
    files = sorted(folder.rglob("*.py"))
    assert files, f"no Python below {folder}"
    return files


def imported(path: Path) -> Iterator[str]:
    """Top-level names of everything a module imports from outside its own folder, wherever it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def loaded_after(statement: str) -> set[str]:
    """Names of all modules in a fresh Python after it ran one statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", code], text=True).split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert loaded_after("import jupyter_aiarts").isdisjoint(HEAVY)


def test_every_public_name_can_be_had() -> None:
    for name in jupyter_aiarts.__all__:
        assert getattr(jupyter_aiarts, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        jupyter_aiarts.no_such_name  # noqa: B018


# notebook.py is handed to the job's own Python as a start file; it never runs inside the launcher.
LAUNCHER = [path for path in python_files(PACKAGE / "launcher") if path.name != "notebook.py"]


@pytest.mark.parametrize("path", LAUNCHER, ids=lambda path: path.name)
def test_the_launcher_imports_the_standard_library_alone(path: Path) -> None:
    ours = {name for name in imported(path) if name.startswith("jupyter_aiarts.launcher")}
    assert {name.split(".")[0] for name in {*imported(path)} - ours} <= sys.stdlib_module_names


def test_page_and_package_have_one_version() -> None:
    page = json.loads((EXTENSION / "package.json").read_text())
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    assert {page["version"], lock["version"], lock["packages"][""]["version"]} == {jupyter_aiarts.__version__}


def test_the_changelog_knows_this_version() -> None:
    assert f"## {jupyter_aiarts.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("folder", [EXTENSION, ROOT / "tests" / "ui"], ids=lambda folder: folder.name)
def test_lock_files_name_no_registry(folder: Path) -> None:
    """So that they work with whatever registry or mirror the machine is set to."""
    assert '"resolved"' not in (folder / "package-lock.json").read_text()


def page_texts() -> set[str]:
    """Every text that the page passes to the translator."""
    pattern = re.compile(r"trans\.__\(\s*'((?:[^'\\]|\\.)*)'")
    sources = [path for path in (EXTENSION / "src").rglob("*.ts*") if "__tests__" not in path.parts]
    return {text for path in sources for text in pattern.findall(path.read_text(encoding="utf-8"))}


def test_every_text_of_the_page_is_there_in_chinese_and_no_other() -> None:
    locale = PACKAGE / "locale" / "zh_CN" / "LC_MESSAGES" / "jupyter_aiarts.json"
    texts = json.loads(locale.read_text(encoding="utf-8"))
    assert set(texts) - {""} == page_texts()


def test_translations_keep_their_places_for_values() -> None:
    locale = PACKAGE / "locale" / "zh_CN" / "LC_MESSAGES" / "jupyter_aiarts.json"
    texts = json.loads(locale.read_text(encoding="utf-8"))
    texts.pop("")
    for english, (chinese,) in texts.items():
        assert sorted(re.findall(r"%\d", english)) == sorted(re.findall(r"%\d", chinese)), english


def test_the_pages_types_are_those_of_the_servers_schema() -> None:
    script = ROOT / ".ci" / "write_api.py"
    spec = importlib.util.spec_from_file_location("write_api", script)
    assert spec is not None and spec.loader is not None
    write_api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(write_api)
    assert write_api.TARGET.read_text(encoding="utf-8") == write_api.text(), f"run python {script}"


def test_two_style_sheets_never_style_the_same_class_by_chance() -> None:
    """A class that two of them style is drawn by both; only what every page has may be in several."""
    owners: dict[str, set[str]] = {}
    for sheet in (EXTENSION / "style").glob("*.css"):
        for name in re.findall(r"\.(aiarts-[A-Za-z]+)", sheet.read_text(encoding="utf-8")):
            owners.setdefault(name, set()).add(sheet.name)
    assert {name for name, sheets in owners.items() if len(sheets) > 1} <= {"aiarts-Notice"}


PLUGINS = sorted((EXTENSION / "src" / "plugins").glob("*.ts"))


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_is_one_service_in_forty_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40


def test_no_widget_asks_the_server_by_itself() -> None:
    """Models hold what was asked for, and widgets draw it; questions are in `requests.ts`, the manager carries them."""
    widgets = [path for path in (EXTENSION / "src").rglob("*.tsx") if "__tests__" not in path.parts]
    assert widgets
    asks = re.compile(r"/requests'|\b_?manager\.(?:ask|fetch|read)\(|\bfetch\(")
    assert [str(path.relative_to(EXTENSION)) for path in widgets if asks.search(path.read_text("utf-8"))] == []
