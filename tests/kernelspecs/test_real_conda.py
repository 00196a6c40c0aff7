"""Environments that a real installer of conda packages wrote, from a channel on this disk.

Neither conda nor mamba is to be had from PyPI; py-rattler is: the solver and the linker that pixi uses. What it writes
(`conda-meta`, links, scripts of packages) is nobody's idea of ours of what conda leaves.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.kernelspecs.contents import packages, read
from jupyter_aiarts.launcher.activation import learn

VERSION = ".".join(map(str, sys.version_info[:3]))
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
SITE = f"lib/{PYTHON}/site-packages"
CONDA = f"""#!{sys.executable}
import asyncio, os, pathlib, sys
import rattler, rattler.exceptions
words = [word for word in sys.argv[1:] if not word.startswith("--")]
_, prefix, *specs = words  # install [--yes] --prefix PREFIX SPEC…
channel = rattler.Channel((pathlib.Path(__file__).parent.parent / "channel").as_uri())
async def install():
    there = [rattler.PrefixRecord.from_path(path) for path in pathlib.Path(prefix, "conda-meta").glob("*.json")]
    wanted = [*specs, *(f"{{one.name.normalized}}=={{one.version}}" for one in there)]
    found = await rattler.solve(sources=[channel], specs=wanted)
    cache = pathlib.Path(__file__).parent.parent / "pkgs"
    await rattler.install(found, target_prefix=prefix, cache_dir=cache, show_progress=False)
    print("linked", *sorted(one.name.normalized for one in found))
code = 0
try:
    asyncio.run(install())
except rattler.exceptions.SolverError as error:
    print(error)
    code = 1
sys.stdout.flush()
os._exit(code)  # its threads do not survive that Python tidies up
"""


def package(root: Path, name: str, version: str, files: dict[str, str], depends: tuple[str, ...] = ()) -> None:
    """A conda package in the channel; a text that begins with `-> ` is a link."""
    index = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": list(depends)}
    index |= {"subdir": "noarch", "noarch": "generic"}
    told = {"info/index.json": json.dumps(index), "info/files": "\n".join(files), "info/about.json": "{}"}
    (root / "channel/noarch").mkdir(parents=True, exist_ok=True)
    with tarfile.open(root / f"channel/noarch/{name}-{version}-0.tar.bz2", "w:bz2") as tar:
        for path, text in {**told, **files}.items():
            one = tarfile.TarInfo(path)
            if text.startswith("-> "):
                one.type, one.linkname = tarfile.SYMTYPE, text[3:]
                tar.addfile(one)
            else:
                one.size, one.mode = len(text.encode()), 0o755
                tar.addfile(one, io.BytesIO(text.encode()))


@pytest.fixture
def root(home: Path) -> Path:
    """An installation with a program that installs, and a channel with a Python and a package that activates."""
    folder = home / "miniconda3"
    include = f'#define PY_VERSION "{VERSION}"\n'
    python = {f"bin/{PYTHON}": f"-> {sys.executable}", "bin/python": f"-> {PYTHON}", f"{SITE}/README.txt": "",
              f"include/{PYTHON}/patchlevel.h": include}  # fmt: skip
    package(folder, "python", VERSION, python)
    package(folder, "ascend", "8.1", {"etc/conda/activate.d/ascend.sh": 'export LD_LIBRARY_PATH="$CONDA_PREFIX/npu"\n'})
    (folder / "bin").mkdir()
    (folder / "bin/conda").write_text(CONDA)
    (folder / "bin/conda").chmod(0o755)
    indexed(folder)
    return folder


def indexed(root: Path) -> None:
    """Have the channel's list written, which the installer reads."""
    words = "import asyncio, os, sys, rattler.index\n"
    words += "asyncio.run(rattler.index.index_fs(sys.argv[1], force=True)); os._exit(0)"
    subprocess.run([sys.executable, "-c", words, str(root / "channel")], check=True, timeout=60)


def installed(root: Path, name: str, *specs: str) -> Path:
    """A new environment of the installation."""
    path = root / "envs" / name
    words = [str(root / "bin/conda"), "install", "--yes", "--prefix", str(path), *specs]
    subprocess.run(words, check=True, timeout=60)
    return path


async def found(book: KernelBook, name: str) -> Any:
    [one] = [one for one in await book.all() if one.name == name]
    return one


async def test_what_it_wrote_is_found_read_and_activated_by_the_packages_own_script(
    book: KernelBook, root: Path
) -> None:
    path = installed(root, "训练 a", "python", "ascend")
    one = await found(book, "训练 a")
    assert (one.path, one.kind, one.python) == (str(path), "conda", VERSION)
    assert [problem.code for problem in one.problems] == ["ipykernel-missing"]
    assert packages(str(path)) >= {"python", "ascend"}
    assert learn(str(path), {"PATH": os.defpath}).set["LD_LIBRARY_PATH"] == f"{path}/npu"


async def test_ipykernel_is_installed_by_it_or_its_own_words_say_why_not(book: KernelBook, root: Path) -> None:
    path = installed(root, "train", "python")
    await book.register("train", "user")
    with pytest.raises(BadRequest, match="ipykernel could not be installed into train: .*ipykernel"):
        async for _ in book.repair("train"):
            pass
    assert not read(str(path)).has_ipykernel
    package(root, "ipykernel", "6.29.0", {f"{SITE}/ipykernel/__init__.py": ""}, (f"python =={VERSION}",))
    indexed(root)
    lines = [line async for line in book.repair("train")]
    assert lines[0] == "linked ipykernel python", lines
    assert (await found(book, "train")).problems == ()


async def test_one_that_appears_while_somebody_looks_is_news(book: KernelBook, root: Path) -> None:
    assert not await book.has_news()
    installed(root, "new", "python")
    assert await book.has_news()
    assert (await found(book, "new")).python == VERSION
