"""Promises of the repository as a whole that no linter knows."""

from __future__ import annotations

import ast
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


PLUGINS = sorted((EXTENSION / "src" / "plugins").glob("*.ts"))


@pytest.mark.parametrize("path", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_is_one_service_in_forty_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40
