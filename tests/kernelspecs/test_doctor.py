"""A doctor starts an environment's Python as a kernel would be started, and tells what it met in both languages."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from jupyter_aiarts.kernelbook import KernelBook
from jupyter_aiarts.kernelspecs import health
from jupyter_aiarts.kernelspecs.owner import as_owner
from jupyter_aiarts.model.environment import ShownKernel

from .conftest import make_conda

MISSING = "cannot open shared object file: No such file or directory"


def codes(one: ShownKernel) -> list[str]:
    return [problem.code for problem in one.problems]


def made(home: Path, **modules: str) -> Path:
    """An environment `it's` with a real Python, and these modules beside an ipykernel that can be imported."""
    records = [f"{name}-1.0-0" for name in modules if name != "cv2"] + ["opencv-python-4.9-0"] * ("cv2" in modules)
    env = make_conda(home / "miniconda3/envs/it's", ("python-3.11.4-h1", "ipykernel-6.29.0-py_0", *records))
    (env / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    for name, text in {"ipykernel": "", **modules}.items():
        (site(env) / f"{name}.py").write_text(text)
    return env


def site(env: Path) -> Path:
    return next(env.glob("lib/python*/site-packages"))


def program(path: Path, text: bytes) -> None:
    path.unlink()
    path.write_bytes(text)
    path.chmod(0o755)


async def test_nothing_is_wrong_with_one_that_prints_what_it_likes(book: KernelBook, home: Path) -> None:
    env = made(home, cv2="print('cv2\\tloading', flush=True)", torch="__version__ = '2.3.1'; print('a\\n\\tb', end='')")
    (site(env) / "noise.pth").write_text("import sys; sys.stdout.write('hello\\tfrom site')\n")
    assert (await book.doctor("it's")).problems == ()


IMPORTS = [
    ({"cv2": f"raise ImportError('libGL.so.1: {MISSING}')"}, "library-missing", "opencv-python-headless"),
    ({"soundfile": f"raise OSError('not loaded: libsndfile.so: {MISSING}')"}, "library-missing", "libsndfile1"),
    ({"torch": f"raise ImportError('libodd.so.7: {MISSING}')"}, "library-missing", "None"),
    ({"ipykernel": "import no_such_module"}, "ipykernel-missing", "kernels repair"),
    ({"matplotlib": "1 / 0"}, "module-broken", ""),
    ({"matplotlib": "import os; os.kill(os.getpid(), 11)"}, "module-broken", ""),
    ({"matplotlib": "import sys; sys.exit('no licence')"}, "module-broken", ""),
]


@pytest.mark.parametrize(("modules", "code", "does"), IMPORTS)
async def test_what_importing_says_is_told_as_what_it_is(
    book: KernelBook, home: Path, modules: dict[str, str], code: str, does: str
) -> None:
    made(home, **modules)
    for lang in ("en", "zh"):
        [problem] = (await book.doctor("it's", lang)).problems
        assert (problem.code, len(problem.evidence) > 0) == (code, True)
        assert not does or does in str([action.command for action in problem.actions])


async def test_it_is_asked_activated_so_that_what_activation_brings_is_not_missed(book: KernelBook, home: Path) -> None:
    """A library that only LD_LIBRARY_PATH of activate.d leads to is there for the kernel."""
    env = made(home, cv2="import os\nassert os.environ['LD_LIBRARY_PATH'] == os.environ['CONDA_PREFIX'] + '/lib'\n")
    (env / "etc/conda/activate.d").mkdir(parents=True)
    (env / "etc/conda/activate.d/lib.sh").write_text('export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"; echo noise\n')
    assert codes(await book.doctor("it's")) == []


@pytest.mark.parametrize(
    ("script", "words"), [("echo 'no licence' >&2; exit 3", "ends the shell"), ("sleep 1000", "have not ended")]
)
async def test_scripts_that_keep_a_kernel_from_starting_are_told(
    book: KernelBook, home: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    monkeypatch.setattr(health, "SECONDS", 10.0)
    env = made(home)
    (env / "etc/conda/activate.d").mkdir(parents=True)
    (env / "etc/conda/activate.d/a.sh").write_text(script)
    [problem] = (await book.doctor("it's")).problems
    assert problem.code == "activation-failed" and words in problem.why
    assert ("no licence" in str(problem.evidence)) == ("licence" in script)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"#!/bin/sh\necho 'no libpython' >&2\nexit 3\n", "python-broken"),
        (b"\x7fELF\x02\x01\x01\x00" + bytes(8) + b"\x02\x00\xf3\x00" + bytes(100), "python-wrong-arch"),
        (b"#!/bin/sh\nexec sleep 1000\n", "python-hangs"),
    ],
)
async def test_a_python_that_does_not_start(
    book: KernelBook, home: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, code: str
) -> None:
    monkeypatch.setattr(health, "SECONDS", 10.0)
    program(made(home) / "bin/python", text)
    one = await book.doctor("it's")
    assert codes(one) == [code] and one.problems[0].title


async def test_an_import_that_hangs_is_named_and_not_waited_for(
    book: KernelBook, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "SECONDS", 10.0)
    made(home, soundfile="import threading; threading.Event().wait()")
    [problem] = (await book.doctor("it's")).problems
    assert (problem.code, "soundfile" in problem.title) == ("module-broken", True)


def _extension(name: str) -> str | None:
    found = find_spec(name)
    return found.origin if found is not None and (found.origin or "").endswith(".so") else None


async def test_a_library_for_another_processor_is_told_as_that_and_not_as_missing(book: KernelBook, home: Path) -> None:
    """The loader itself says that the file is not there. A real extension module of this Python, with the mark of
    RISC-V."""
    env = made(home, soundfile="")
    (site(env) / "soundfile.py").unlink()
    source = Path(next(path for path in map(_extension, ("_json", "_struct", "_ctypes")) if path))
    raw = bytearray(source.read_bytes())
    raw[18:20] = b"\xf3\x00"
    library = site(env) / f"soundfile.{source.name.partition('.')[2]}"
    library.write_bytes(raw)
    [problem] = (await book.doctor("it's")).problems
    assert problem.code == "python-wrong-arch" and "riscv64" in problem.why and str(library) in problem.why


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_runs_nobody_elses_python_as_root(home: Path) -> None:
    """Whoever owns it could have put anything there."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        theirs = Path(name, "theirs")
        theirs.mkdir()
        os.chown(theirs, 64001, 64001)
        secret = {"JUPYTERHUB_API_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "k", "https_proxy": "http://me:password@proxy"}
        environ = {"HOME": "/root", "PATH": "/usr/bin:/bin", "USER": "root", **secret}
        who, given = as_owner(str(theirs), environ)
        said = health.heard(["id", "-u"], given, 20, cwd="/", **who)
        assert (said.out.strip(), given) == (b"64001", {"PATH": "/usr/bin:/bin"})
        assert as_owner(name, environ) == ({}, environ)
        ask = f"from jupyter_aiarts.kernelspecs.owner import as_owner; print(as_owner({str(theirs)!r}, {{}}))"
        words = ["setpriv", "--bounding-set", "-setuid,-setgid", sys.executable, "-c", ask]
        out = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert out.stdout.strip() == "({}, {})", out.stderr  # a root that may become nobody, as in a container
