"""ipykernel comes by the pip of the environment, else by the program it was made with; failures name the command."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from jupyter_aiarts.errors import AiartsError, BadRequest, Conflict
from jupyter_aiarts.kernel.transport import ANSWER_SECONDS
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
from jupyter_aiarts.kernelspecs import health, installer, size
from jupyter_aiarts.kernelspecs.contents import packages, read
from jupyter_aiarts.kernelspecs.installer import command_for

from .conftest import make_conda

NO_PIP = ("python-3.11.4-h1",)


def program(path: Path, text: str = "exit 0") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def words(env: Path, environ: dict[str, str] | None = None) -> list[str]:
    return command_for(read(str(env)), packages(str(env)), {"PATH": "/nowhere", **(environ or {})})


def test_pip_is_asked_where_there_is_one(home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/it's", (*NO_PIP, "pip-24.0-py_0"))
    program(home / "miniconda3/bin/conda")
    assert words(env)[:4] == [str(env / "bin/python"), "-m", "pip", "install"]


@pytest.mark.parametrize("place", ["bin/conda", "condabin/conda", "bin/mamba", "bin/micromamba"])
def test_without_pip_the_program_of_its_own_installation_is(home: Path, place: str) -> None:
    env = make_conda(home / "miniconda3/envs/it's", NO_PIP)
    conda = program(home / "miniconda3" / place)
    assert words(env) == [str(conda), "install", "--yes", "--prefix", str(env), "ipykernel"]


def test_one_that_the_environment_names_or_path_has_will_do(home: Path) -> None:
    env = make_conda(home / "odd/train", NO_PIP)
    named, found = program(home / "a/mamba"), program(home / "b/micromamba")
    assert words(env, {"PATH": str(home / "b")})[0] == str(found)
    assert words(env, {"PATH": str(home / "b"), "MAMBA_EXE": str(named)})[0] == str(named)


def test_where_there_is_none_the_command_that_would_do_is_told(home: Path) -> None:
    with pytest.raises(BadRequest) as caught:
        words(make_conda(home / "it's", NO_PIP))
    assert "no pip" in str(caught.value) and "conda install --prefix" in caught.value.hint


def test_a_venv_without_pip_is_told_how_to_get_one(home: Path) -> None:
    (home / "venv/bin").mkdir(parents=True)
    (home / "venv/pyvenv.cfg").write_text("version = 3.11.4\n")
    with pytest.raises(BadRequest) as caught:
        words(home / "venv")
    assert "ensurepip" in caught.value.hint


@pytest.fixture
def book(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelBook:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    return KernelBook(KernelSettings(directory=str(tmp_path / "shared")), environ={"PATH": "/nowhere"})


async def test_offline_it_says_which_command_failed_and_why(book: KernelBook, home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/it's", NO_PIP)
    said = "printf 'Collecting\\r'; echo 'CondaHTTPError: HTTP 000 CONNECTION FAILED' >&2; exit 1"
    conda = program(home / "miniconda3/bin/conda", said)
    lines = []
    with pytest.raises(AiartsError) as caught:
        async for line in book.repair("it's"):
            lines.append(line)
    assert lines == ["Collecting", "CondaHTTPError: HTTP 000 CONNECTION FAILED"]
    assert "CONNECTION FAILED" in str(caught.value)
    assert (
        f"{conda} install --yes --prefix" in caught.value.hint and str(env).replace("'", "'\"'\"'") in caught.value.hint
    )


async def test_it_is_there_afterwards_and_its_kernel_is_written_again(book: KernelBook, home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", 'echo done; touch "$4/conda-meta/ipykernel-6.29.0-py_0.json"')
    one = await book.register("train", "user")
    assert [problem.code for problem in one.problems] == ["ipykernel-missing"]
    assert [line async for line in book.repair("train")] == ["done", f"{one.spec}: written again."]
    assert [problem.code for each in await book.all() if each.path == str(env) for problem in each.problems] == []


def wheel(folder: Path, name: str = "ipykernel") -> None:
    """A package with this name and nothing in it, for a pip without a network."""
    folder.mkdir()
    info = f"{name}-9.9.dist-info"
    with ZipFile(folder / f"{name}-9.9-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}/__init__.py", "")
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


async def test_a_real_pip_without_and_with_something_to_install_from(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's PYTHONPATH may lead to an ipykernel: pip would take that for installed and be content."""
    venv = home / "miniconda3/envs/my venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "server"))
    (tmp_path / "server/ipykernel").mkdir(parents=True)
    (tmp_path / "server/ipykernel-9.9.dist-info").mkdir()
    (tmp_path / "server/ipykernel-9.9.dist-info/METADATA").write_text("Name: ipykernel\nVersion: 9.9\n")
    with pytest.raises(AiartsError) as caught:
        async for _ in book.repair(str(venv)):
            pass
    assert "No matching distribution found for ipykernel" in str(caught.value)
    assert f"'{venv}/bin/python' -m pip install" in caught.value.hint
    wheel(tmp_path / "wheels")
    lines = [line async for line in book.repair(str(venv))]
    assert any("Successfully installed ipykernel-9.9" in line for line in lines), lines
    assert read(str(venv)).has_ipykernel and not (tmp_path / "elsewhere").exists()


async def test_an_installer_that_is_content_and_left_nothing_is_not_believed(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", "echo All requested packages already installed.")
    with pytest.raises(AiartsError, match="still not there.*already installed"):
        async for _ in book.repair("train"):
            pass


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
async def test_root_installs_as_the_owner_so_that_the_environment_stays_theirs(book: KernelBook) -> None:
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        env = make_conda(Path(name, "envs/train"), NO_PIP)
        program(Path(name, "bin/conda"), 'id -u; echo "HOME=$HOME"; touch "$4/conda-meta/ipykernel-6.29.0-py_0.json"')
        for path in (env, *env.rglob("*")):
            os.chown(path, 64001, 64001, follow_symlinks=False)
        await book.register(str(env), "user")
        lines = [line async for line in book.repair(str(env))]
        assert lines[:2] == ["64001", "HOME="]
        assert (env / "conda-meta/ipykernel-6.29.0-py_0.json").stat().st_uid == 64001


async def test_two_at_once_are_one_and_a_refusal(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", "echo begun; exec sleep 1000")
    first = book.repair("train")
    assert await anext(first) == "begun"
    with pytest.raises(Conflict):
        await anext(book.repair("train"))
    await first.aclose()
    again = book.repair("train")
    assert await anext(again) == "begun"
    await again.aclose()


async def test_whoever_goes_away_ends_it_with_all_it_started(book: KernelBook, home: Path, tmp_path: Path) -> None:
    make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", f'sleep 1000 & echo $! > "{tmp_path}/pid"; echo begun; wait')
    lines = book.repair("train")
    assert await anext(lines) == "begun"
    await lines.aclose()
    try:
        ended = os.pidfd_open(int((tmp_path / "pid").read_text()))
    except ProcessLookupError:
        return
    assert select.select([ended], [], [], 20)[0]  # it was told to end, and does when its turn comes
    os.close(ended)


async def test_an_endless_line_is_cut(book: KernelBook, home: Path) -> None:
    make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", "head -c 100000 /dev/zero | tr '\\0' x; exit 1")
    lines = []
    with pytest.raises(AiartsError) as caught:
        async for line in book.repair("train"):
            lines.append(line)
    assert max(map(len, lines)) <= 2000 and len(str(caught.value)) < 3000


ROLLS_BACK = """
echo half > "$4/half-linked"
trap 'yes rolling back | head -c 1000000; rm "$4/half-linked"; exit 130' {signals}
echo begun
while :; do sleep 0.1; done
"""


@pytest.mark.parametrize("signals", ["INT", "TERM"])
async def test_an_installer_that_is_given_up_may_roll_back(
    book: KernelBook, home: Path, monkeypatch: pytest.MonkeyPatch, signals: str
) -> None:
    """Whatever it says meanwhile, to nobody. A server that was started in the background may hand down an ignored
    SIGINT."""
    monkeypatch.setattr(installer, "ENDING", ((signal.SIGINT, 30.0), (signal.SIGTERM, 30.0)))
    before = signal.signal(signal.SIGINT, signal.default_int_handler if signals == "INT" else signal.SIG_IGN)
    try:
        env = make_conda(home / "miniconda3/envs/train", NO_PIP)
        program(home / "miniconda3/bin/conda", ROLLS_BACK.format(signals=signals))
        lines = book.repair("train")
        assert await anext(lines) == "begun"
        await lines.aclose()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not (env / "half-linked").exists()


async def test_an_installer_that_will_not_end_is_ended(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer, "ENDING", ((signal.SIGINT, 0.1), (signal.SIGTERM, 0.1)))
    make_conda(home / "miniconda3/envs/train", NO_PIP)
    program(home / "miniconda3/bin/conda", f"trap '' INT TERM; echo $$ > '{tmp_path}/pid'; echo begun; sleep 1000")
    lines = book.repair("train")
    assert await anext(lines) == "begun"
    await lines.aclose()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_doctor_and_a_size_answer_before_whoever_asks_gives_up() -> None:
    assert max(health.SECONDS, size.SECONDS) < ANSWER_SECONDS - 10


async def test_an_installer_takes_no_module_from_the_folder_that_the_server_was_started_in(
    book: KernelBook, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else may have put it there; and one's own types.py is nothing that pip can do with."""
    env = make_conda(home / "miniconda3/envs/train", (*NO_PIP, "pip-24.0-py_0"))
    (tmp_path / "notebooks").mkdir()
    for name in ("pip", "types", "operator"):
        (tmp_path / f"notebooks/{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path / "notebooks")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(AiartsError):
        async for _ in book.repair(str(env)):
            pass
    assert not (tmp_path / "ran").exists()


async def test_what_the_doctor_offers_for_a_folder_that_is_on_no_list_can_be_done(
    book: KernelBook, tmp_path: Path
) -> None:
    env = make_conda(tmp_path / "odd/train", (*NO_PIP, "pip-24.0-py_0"))
    (env / "bin/python").unlink()
    program(env / "bin/python", f"touch '{env}/conda-meta/ipykernel-6-0.json'")
    [problem] = (await book.doctor(str(env))).problems
    assert [action.command for action in problem.actions] == [f"aiarts kernels repair {env}"]
    assert [line async for line in book.repair(str(env))] == []
    assert read(str(env)).has_ipykernel
