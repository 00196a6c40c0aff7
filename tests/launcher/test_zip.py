"""The launcher runs however it is started: file, folder, module, zip."""

import ast
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes.launcher_zip import bare, pack

from .conftest import LAUNCHER, Run


@pytest.mark.parametrize("way", ["file", "folder", "module", "zip"])
def test_every_way_to_start(run: Run, way: str, tmp_path: Path) -> None:
    archive = tmp_path / "launcher.zip"
    archive.write_bytes(pack())
    words = {
        "file": ["-I", "-S", str(LAUNCHER / "__main__.py")],
        "folder": ["-I", "-S", str(LAUNCHER)],
        "module": ["-m", "jupyter_aiarts.launcher"],
        "zip": ["-I", "-S", str(archive)],
    }[way]
    run.command = [sys.executable, *words]
    run.shell("echo ok").start(cwd=LAUNCHER.parents[1] if way == "module" else "/")
    assert run.wait() == 0
    assert run.log() == b"ok\n"


def test_a_zip_with_a_relative_name_and_two_nodes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "launcher.zip").write_bytes(pack())
    run.command = [sys.executable, "-I", "launcher.zip"]
    run.plan(nodes=2)
    for node in range(2):
        run.start(node, cwd=tmp_path)
    assert [run.wait(0), run.wait(1)] == [0, 0]


def test_the_zip_holds_every_source_that_a_pod_runs(tmp_path: Path) -> None:
    (tmp_path / "launcher.zip").write_bytes(pack())
    with zipfile.ZipFile(tmp_path / "launcher.zip") as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
    sources = {str(path.relative_to(LAUNCHER)): path.read_text("utf-8") for path in LAUNCHER.rglob("*.py")}
    assert set(sources) - set(packed) == {"freeports.py", "watched.py"}
    assert packed == {name: bare(sources[name]) for name in packed}


@pytest.mark.parametrize("path", sorted(LAUNCHER.rglob("*.py")), ids=lambda path: str(path.relative_to(LAUNCHER)))
def test_what_is_packed_is_the_same_program_line_by_line(path: Path) -> None:
    source = path.read_text("utf-8")
    assert statements(bare(source)) == statements(source)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("x = '#'  # y\n", "x='#'\n"),
        ('x = "\\"#"  # "\n', 'x="\\"#"\n'),
        ('"""A\nb."""\nx = 1\n', "\n\nx=1\n"),
        ('class A:\n    """B."""\n\n\n# C\nx = 1\n', "class A:\n    pass\n\n\n\nx=1\n"),
        ('def a():\n    """B."""\n', "def a():\n    pass\n"),
        ('x = """\n# a\n"""\n', 'x="""\n# a\n"""\n'),
        ('x = \'"""\'  # y\n', 'x=\'"""\'\n'),
        ("if a:\n    return (\n        b, 'c  d'\n    )\n", "if a:\n    return(\nb,'c  d'\n)\n"),
        ("x = a if b else -1 or not 'c'\n", "x=a if b else-1 or not'c'\n"),
        ("from .. import a\n", "from..import a\n"),
        ("def f(a: 'B', *b: C, 键: D[\n    E\n] = 1) -> F:\n    g: int = a\n", "def f(a,*b,键\n\n=1):\n    g=a\n"),
        (
            "class A:\n    b: int = 1\n    def c(self) -> None:\n        self.d: E[F] = 1\n        g: H\n",
            "class A:\n    b:int=1\n    def c(self):\n        self.d=1\n        g:H\n",
        ),
        ("def f():\n    a: B[\n        C\n    ] = 1\n", "def f():\n    a:B[\nC\n]=1\n"),
        (
            "from typing import Dict, List, Optional\nA = Dict[int, int]\ndef f(b: List[int]) -> None:\n    return\n",
            "from typing import Dict\nA=Dict[int,int]\ndef f(b):\n    return\n",
        ),
        ("from typing import List\ndef f(b: List[int]) -> None:\n    return\n", "\ndef f(b):\n    return\n"),
    ],
)
def test_only_what_readers_need_stays_at_home(source: str, left: str) -> None:
    assert bare(source) == left


class Wordless(ast.NodeTransformer):
    """A program without docstrings, `pass`, the types in functions and their imports, which say nothing to Python."""

    inside = False  # a function

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._within(node, True)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._within(node, False)

    def _within(self, node: ast.AST, inside: bool) -> ast.AST:
        before, self.inside = self.inside, inside
        self.generic_visit(node)
        self.inside = before
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if not self.inside or node.value is None:
            return node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> "ast.ImportFrom | None":
        return None if node.module == "typing" else node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_Expr(self, node: ast.Expr) -> "ast.Expr | None":
        return None if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str) else node

    def visit_Pass(self, node: ast.Pass) -> None:
        return None


def statements(source: str) -> "list[tuple[str, int, int]]":
    """What each statement says, in which line and column."""
    tree = Wordless().visit(ast.parse(source))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return [(ast.dump(node), node.lineno, node.col_offset) for node in found]


def test_the_zip_is_small_and_the_same_every_time() -> None:
    assert pack() == pack()
    assert len(pack()) < 100_000  # beside 700 KB of code, a ConfigMap has room for 900 KB


@pytest.mark.parametrize("packed", [False, True])
def test_it_needs_nothing_but_the_standard_library(tmp_path: Path, packed: bool) -> None:
    home = tmp_path / "package"
    if packed:
        zipfile.ZipFile(io.BytesIO(pack())).extractall(home)
    else:
        home.symlink_to(LAUNCHER)
    paths = [path.relative_to(home).with_suffix("") for path in home.rglob("[!_]*.py")]
    modules = ", ".join(".".join(("package", *path.parts)) for path in paths)
    code = f"import sys; sys.path.insert(0, sys.argv[1]); import {modules}"
    command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path)]
    assert subprocess.run(command, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}).returncode == 0
