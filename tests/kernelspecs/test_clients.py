"""Other programs start our kernels as they start any other; one whose environment is removed goes on, and says why it
cannot start again; and the oldest Python that may be a kernel is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from jupyter_aiarts._version import __version__
from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, register

from .conftest import make_conda
from .test_start import SECONDS, said, started

LINE = "import os, sys; print(sys.prefix, os.environ['CONDA_DEFAULT_ENV'], os.environ['LD_LIBRARY_PATH'])"


@pytest.fixture
def env(home: Path) -> Path:
    """An environment whose packages are those of the tests."""
    path = make_conda(home / "miniconda3/envs/train")
    (path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\nversion = 3.11.0\n")
    site = next(path.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("\n".join(one for one in sys.path if one.endswith("site-packages")))
    scripts = path / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    # As conda-forge's compilers write it: no plain sh can read this.
    (scripts / "lib.sh").write_text('function f() { export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"; }\nf\n')
    return path


def notebook() -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(LINE), nbformat.v4.new_code_cell("%load_ext jupyter_aiarts\n%aiarts --version")]
    return nbformat.v4.new_notebook(cells=cells)


def outputs(made: nbformat.NotebookNode) -> str:
    return "".join(str(output.get("text", output.get("data"))) for cell in made.cells for output in cell.outputs)


async def test_nbclient_runs_a_notebook_with_it(book: KernelBook, env: Path, tmp_path: Path) -> None:
    """papermill stands on this."""
    one = await book.register("train", "user")
    ran = notebook()
    await NotebookClient(ran, kernel_name=str(one.spec), timeout=SECONDS).async_execute()
    assert f"{env} train {env}/lib" in outputs(ran) and __version__ in outputs(ran)


async def test_nbconvert_runs_a_notebook_with_it(book: KernelBook, env: Path, tmp_path: Path) -> None:
    one = await book.register("train", "user")
    nbformat.write(notebook(), tmp_path / "a.ipynb")
    words = [
        "--to",
        "notebook",
        "--execute",
        f"--ExecutePreprocessor.kernel_name={one.spec}",
        "--output",
        "b",
        "a.ipynb",
    ]
    out = subprocess.run(
        [sys.executable, "-m", "nbconvert", *words], cwd=tmp_path, capture_output=True, text=True, timeout=4 * SECONDS
    )
    assert out.returncode == 0, out.stderr
    ran = nbformat.read(tmp_path / "b.ipynb", as_version=4)
    assert f"{env} train {env}/lib" in outputs(ran) and __version__ in outputs(ran)


async def test_papermill_runs_a_notebook_with_it(book: KernelBook, env: Path, tmp_path: Path) -> None:
    one = await book.register("train", "user")
    nbformat.write(notebook(), tmp_path / "a.ipynb")
    words = ["-m", "papermill", "a.ipynb", "b.ipynb", "--kernel", str(one.spec), "-l", "python", "--no-progress-bar"]
    out = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=4 * SECONDS)
    assert out.returncode == 0, out.stderr
    ran = nbformat.read(tmp_path / "b.ipynb", as_version=4)
    assert f"{env} train {env}/lib" in outputs(ran) and __version__ in outputs(ran)


async def test_one_whose_environment_is_removed_while_it_runs(book: KernelBook, env: Path, tmp_path: Path) -> None:
    one = await book.register("train", "user")
    specs = KernelSpecManager(kernel_dirs=[str(tmp_path / "data/kernels")])
    manager = AsyncKernelManager(kernel_name=str(one.spec), kernel_spec_manager=specs)
    client = await started(manager, tmp_path)
    try:
        shutil.rmtree(env)
        assert await said(client, "print(6 * 7)") == "42"
        [gone] = [each for each in await book.all() if each.path == str(env)]
        assert (gone.spec, [problem.code for problem in gone.problems]) == (one.spec, ["environment-gone"])
        assert str(env) in gone.problems[0].why and gone.problems[0].actions[0].command
        with pytest.raises(RuntimeError):
            await manager.restart_kernel(now=True)
            await client.wait_for_ready(timeout=SECONDS)
        assert [line async for line in book.repair(str(one.spec))] == [f"{one.spec}: removed, because {env} is gone."]
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


def test_a_start_in_a_removed_environment_says_so(tmp_path: Path) -> None:
    env = make_conda(tmp_path / "it's gone")
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(env)), "x", "user", folders)
    shutil.rmtree(env)
    words = ["/bin/sh", f"{one.folder}/start.sh", "python", "kernel.py"]
    out = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    assert out.returncode == 127
    assert str(env) in out.stderr and "aiarts kernels" in out.stderr


@pytest.mark.parametrize("with_bash", [True, False])
def test_a_script_that_ends_the_start_is_named(tmp_path: Path, with_bash: bool) -> None:
    env = make_conda(tmp_path / "train")
    (env / "etc/conda/activate.d").mkdir(parents=True)
    (env / "etc/conda/activate.d/licence.sh").write_text("echo none left >&2; exit 3\n")
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(env)), "x", "user", folders)
    if not with_bash:
        text = Path(one.folder, "start.sh").read_text()
        Path(one.folder, "start.sh").write_text(text.replace("/bash", "/no-such-shell"))
    out = subprocess.run(["/bin/sh", f"{one.folder}/start.sh", "true"], capture_output=True, text=True, timeout=SECONDS)
    assert out.returncode == 3
    assert "none left" in out.stderr and "licence.sh ended the start" in out.stderr


# -- the oldest Python ---------------------------------------------------------------------------------------------

STUB = """
import json, sys
class Shell:
    def register_magics(self, magics): self.magics = magics(self)
    def set_hook(self, *given, **more): pass
def launch_new_instance():
    import jupyter_aiarts, jupyter_aiarts.kernel.verbs, jupyter_aiarts.kernel.client
    shell = Shell()
    jupyter_aiarts.load_ipython_extension(shell)
    said = [list(sys.version_info[:2]), jupyter_aiarts.__version__, type(shell.magics).__name__, sys.argv[1:]]
    print(json.dumps(said))
"""
"""In the place of ipykernel, where there is none for that Python: loads what `%load_ext jupyter_aiarts` loads."""
MAGIC = """
class Magics:
    def __init__(self, shell=None): self.shell = shell
def magics_class(one): return one
def line_cell_magic(one): return one
def no_var_expand(one): return one
"""


def old_python() -> str | None:
    """CPython 3.8, as `AIARTS_PYTHON38` names it, or as PATH or pyenv has it."""
    named = os.environ.get("AIARTS_PYTHON38") or shutil.which("python3.8") or ""
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv").glob("versions/3.8*/bin/python3.8")
    for path in (named, *map(str, kept)):
        if path and subprocess.run([path, "-c", "pass"], capture_output=True).returncode == 0:
            return path
    return None


PYTHON38 = old_python()
needs_38 = pytest.mark.skipif(PYTHON38 is None, reason="no Python 3.8: name one in AIARTS_PYTHON38")


@needs_38
def test_our_first_lines_and_our_extension_run_in_python_38(tmp_path: Path) -> None:
    python = str(PYTHON38)
    path = tmp_path / "env"
    subprocess.run([python, "-m", "venv", "--without-pip", str(path)], check=True, timeout=SECONDS)
    site = path / "lib/python3.8/site-packages"
    texts = {"ipykernel/kernelapp": STUB, "IPython/core/magic": MAGIC, "IPython/core/error": "UsageError = ValueError"}
    for name, text in texts.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / f"{name}.py").write_text(text)
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(path)), "x", "global", folders)
    words = ["/bin/sh", f"{one.folder}/start.sh", "python", f"{one.folder}/kernel.py", "-f", "a b"]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    out = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env=environ, cwd="/")
    assert out.returncode == 0, out.stderr
    assert json.loads(out.stdout) == [[3, 8], __version__, "AiartsMagics", ["-f", "a b"]]


@pytest.mark.timeout(400)  # an environment is made and filled from the package index
@needs_38
def test_a_real_kernel_of_python_38(tmp_path: Path) -> None:
    """Its ipykernel comes from the package index, as an environment's owner would get it."""
    path = tmp_path / "env"
    subprocess.run([str(PYTHON38), "-m", "venv", str(path)], check=True, timeout=SECONDS)
    pip = [str(path / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "ipykernel"]
    got = subprocess.run(pip, capture_output=True, text=True)
    assert got.returncode == 0, got.stderr
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(path)), "x", "global", folders)
    specs = KernelSpecManager(kernel_dirs=[folders.target("global")])
    ran = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%load_ext jupyter_aiarts\n%aiarts --version")])
    client = NotebookClient(ran, kernel_name=one.spec, timeout=SECONDS)
    client.km = client.create_kernel_manager()
    client.km.kernel_spec_manager = specs
    client.execute()
    assert __version__ in outputs(ran)
