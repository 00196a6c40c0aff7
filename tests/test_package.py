"""What we ship can be installed without Node, and Jupyter then finds it by itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import jupyter_aiarts

ROOT = Path(__file__).parent.parent
VERSION = jupyter_aiarts.__version__
SHARED = f"jupyter_aiarts-{VERSION}.data/data"
LAB = "share/jupyter/labextensions/jupyter-aiarts"

pytestmark = [pytest.mark.package, pytest.mark.timeout(300)]


def environ_without_node(folder: Path) -> Mapping[str, str]:
    """An environment in which npm and node fail when somebody starts them."""
    for name in ("node", "npm", "npx"):
        (folder / name).write_text("#!/bin/sh\necho 'Node was started' >&2\nexit 99\n")
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def run(command: list[str | Path], **options: object) -> str:
    """Run to success and give stdout with stderr; a failure shows both."""
    done = subprocess.run(  # type: ignore[call-overload]
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    assert done.returncode == 0, done.stdout
    return str(done.stdout)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist; the wheel is built from the unpacked sdist, without Node, as on a user's machine."""
    if not (ROOT / "jupyter_aiarts" / "labextension" / "static" / "style.js").exists():
        pytest.fail("the labextension is not built: run `make install` first")
    folder = tmp_path_factory.mktemp("dist")
    environ = environ_without_node(tmp_path_factory.mktemp("bin"))
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT], env=environ)
    return folder


@pytest.fixture(scope="module")
def wheel_names(dist: Path) -> list[str]:
    """Every file in the wheel."""
    (wheel,) = dist.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="module")
def sdist_names(dist: Path) -> list[str]:
    """Every file in the sdist, without the leading folder."""
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        return [name.partition("/")[2] for name in tar.getnames()]


def test_the_wheel_brings_the_built_sidebar_where_lab_looks(wheel_names: list[str]) -> None:
    assert f"{SHARED}/{LAB}/package.json" in wheel_names
    assert f"{SHARED}/{LAB}/install.json" in wheel_names
    assert f"{SHARED}/{LAB}/schemas/jupyter-aiarts/panel.json" in wheel_names
    assert any(re.fullmatch(rf"{SHARED}/{LAB}/static/remoteEntry\.\w+\.js", name) for name in wheel_names)


def test_the_wheel_has_what_draws_the_widgets(wheel_names: list[str]) -> None:
    assert {f"jupyter_aiarts/kernel/widgets/view.{kind}" for kind in ("py", "js", "css")} <= set(wheel_names)


def test_the_wheel_enables_the_server_extension(wheel_names: list[str]) -> None:
    assert f"{SHARED}/etc/jupyter/jupyter_server_config.d/jupyter_aiarts.json" in wheel_names


def test_the_wheel_has_types_texts_and_licence(wheel_names: list[str]) -> None:
    assert "jupyter_aiarts/py.typed" in wheel_names
    assert "jupyter_aiarts/locale/zh_CN/LC_MESSAGES/jupyter_aiarts.json" in wheel_names
    assert f"jupyter_aiarts-{VERSION}.dist-info/licenses/LICENSE" in wheel_names


def test_the_wheel_has_every_module_and_nothing_else_at_the_top(wheel_names: list[str]) -> None:
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "jupyter_aiarts").rglob("*.py")}
    assert modules <= set(wheel_names)
    tops = {name.partition("/")[0] for name in wheel_names}
    assert tops == {"jupyter_aiarts", f"jupyter_aiarts-{VERSION}.data", f"jupyter_aiarts-{VERSION}.dist-info"}


def test_the_sdist_has_sources_tests_and_the_built_sidebar(sdist_names: list[str]) -> None:
    wanted = {
        "pyproject.toml",
        "setup.cfg",
        "Makefile",
        "README.md",
        "LICENSE",
        "labextension/src/index.ts",
        "labextension/package-lock.json",
        "tests/test_package.py",
        "jupyter_aiarts/labextension/static/style.js",
    }
    assert wanted <= set(sdist_names)


def test_no_package_carries_what_can_be_made_again(wheel_names: list[str], sdist_names: list[str]) -> None:
    rubbish = re.compile(r"node_modules|__pycache__|\.pyc$|tsbuildinfo|artifacts/|\.venv|labextension/lib/")
    assert [name for name in [*wheel_names, *sdist_names] if rubbish.search(name)] == []


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; the dependencies are lent by the one that runs the tests."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=False, symlinks=True)
    (wheel,) = dist.glob("*.whl")
    python = folder / "bin" / "python"
    run([sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel])
    (packages,) = folder.glob("lib/python*/site-packages")
    # Behind the environment's own packages on sys.path. The lender's own .pth files are not read from there,
    # so its editable install of this package stays out.
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def jupyter(installed: Path, home: Path, program: str, *arguments: str) -> str:
    """Run one of Jupyter's programs with the environment's Python and nobody's configuration.

    By module, since the lent packages' scripts belong to the lender's Python.
    """
    code = f"import sys; sys.argv[0] = 'jupyter'; from {program} import main; main()"
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return run([installed / "bin" / "python", "-c", code, *arguments], env=environ, cwd=home)


def test_the_installed_package_is_the_wheel_not_the_working_tree(installed: Path, tmp_path: Path) -> None:
    code = "import jupyter_aiarts; print(jupyter_aiarts.__file__)"
    where = run([installed / "bin" / "python", "-c", code], cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed)


def test_jupyter_server_lists_the_extension_as_enabled_and_valid(installed: Path, tmp_path: Path) -> None:
    listed = jupyter(installed, tmp_path, "jupyter_server.extension.serverextension", "list")
    assert re.search(r"jupyter_aiarts.*enabled", listed)
    assert re.search(rf"jupyter_aiarts {re.escape(VERSION)}.*OK", listed)


def test_jupyterlab_lists_the_sidebar_as_enabled_and_valid(installed: Path, tmp_path: Path) -> None:
    listed = jupyter(installed, tmp_path, "jupyterlab.labextensions", "list")
    assert re.search(rf"jupyter-aiarts v{re.escape(VERSION)}.*enabled.*OK", listed)


def test_both_commands_say_the_version(installed: Path, tmp_path: Path) -> None:
    for name in ("aiarts", "jupyter-aiarts"):
        assert VERSION in run([installed / "bin" / name, "--version"], cwd=tmp_path)


def test_both_engines_are_found_by_entry_point(installed: Path, tmp_path: Path) -> None:
    code = (
        "import json; from importlib.metadata import distribution;"
        "print(json.dumps({e.name: e.load().__name__ for e in distribution('jupyter_aiarts').entry_points"
        " if e.group == 'jupyter_aiarts.engines'}))"
    )
    found = run([installed / "bin" / "python", "-c", code], cwd=tmp_path)
    assert json.loads(found) == {"kubernetes": "KubernetesEngine", "local": "LocalEngine"}
