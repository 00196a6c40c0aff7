"""Installing ipykernel into an environment: its own pip, else the conda, mamba or micromamba that it was made with."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
from collections.abc import AsyncGenerator, Iterator, Mapping

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.owner import as_owner
from jupyter_aiarts.model.environment import Environment

LONGEST_LINE = 2000
PACKAGE = "ipykernel"
ENDING = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0))
"""What an installer that is given up is told, as by Ctrl+C first, and the seconds that it has to clean up."""
PROGRAMS = ("mamba", "micromamba", "conda")
_ELSEWHERE = ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT")
"""Variables by which pip would find the package in another place, or put it there."""


def command_for(one: Environment, packages: frozenset[str], environ: Mapping[str, str]) -> list[str]:
    """The words of the installer's command; raises `BadRequest` where there is none."""
    if "pip" in packages:
        python = os.path.join(one.path, "bin", "python")
        return [python, "-m", "pip", "install", "--disable-pip-version-check", PACKAGE]
    if one.kind == "conda":
        program = next(_programs(one.path, environ), None)
        if program is not None:
            return [program, "install", "--yes", "--prefix", one.path, PACKAGE]
        message = f"{one.name} has no pip, and neither conda, mamba nor micromamba is found for it."
        line = f"conda install --prefix {shlex.quote(one.path)} {PACKAGE}"
        raise BadRequest(message, f"Where you have one: {line}").in_chinese(
            f"{one.name} 中没有 pip，也找不到可用于它的 conda、mamba 或 micromamba。", f"在有 conda 的地方执行：{line}"
        )
    python = shlex.quote(os.path.join(one.path, "bin", "python"))
    raise BadRequest(f"{one.name} has no pip.", f"Give it one: {python} -m ensurepip --upgrade").in_chinese(
        f"{one.name} 中没有 pip。", f"为它安装 pip：{python} -m ensurepip --upgrade"
    )


def _programs(path: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Programs that may change a conda environment, those of its own installation first."""
    root = path.rpartition("/envs/")[0]
    for folder in filter(None, (root, path)):
        for name in PROGRAMS:
            for place in ("bin", "condabin"):
                yield from _runnable(os.path.join(folder, place, name))
    for variable in ("MAMBA_EXE", "CONDA_EXE"):
        yield from _runnable(environ.get(variable, ""))
    for name in PROGRAMS:
        found = shutil.which(name, path=environ.get("PATH", os.defpath))
        if found is not None:
            yield found
    yield from _runnable(os.path.join(environ.get("HOME", "/"), ".local", "bin", "micromamba"))


def _runnable(path: str) -> Iterator[str]:
    if os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK):
        yield path


async def installed(one: Environment, command: list[str]) -> AsyncGenerator[str, None]:
    """What the installer says, line by line; raises `BadRequest` with the command that failed, or that ended well and
    left nothing. Whoever listens no more ends it, with all that it started."""
    name, line = one.name, shlex.join(command)
    try:
        who, environ = as_owner(one.path, os.environ, command[0])
        child = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            cwd="/",  # `-m` takes a module first from where it is started
            env={**{key: value for key, value in environ.items() if key not in _ELSEWHERE}, "PYTHONNOUSERSITE": "1"},
            **who,
        )
    except OSError as error:
        said = error.strerror or str(error)
        raise _failed(name, said, line) from error
    last = ""
    try:
        assert child.stdout is not None
        async for text in _lines(child.stdout):
            last = text or last
            yield last
        code = await child.wait()
        if code != 0:
            raise _failed(name, last or f"it ended with code {code}", line)
        if not (await asyncio.to_thread(read, one.path)).has_ipykernel:
            raise _failed(name, f"it is still not there. The installer's last words: {last}", line)
    finally:
        if child.returncode is None:  # nobody listens any more
            await _given_up(child)


async def _given_up(child: asyncio.subprocess.Process) -> None:
    """End it with all that it started, and let it clean up first: an installer that is killed in the middle leaves an
    environment that is neither the old one nor the new."""
    assert child.stdout is not None
    unheard = asyncio.ensure_future(_unheard(child.stdout))
    try:
        for number, seconds in ENDING:
            if signal.getsignal(number) == signal.SIG_IGN:  # then it ignores it too: that is handed down
                continue
            _tell(child, number)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(child.wait(), seconds)
                break
    finally:
        _tell(child, signal.SIGKILL)  # and what it left behind
        unheard.cancel()
        await child.wait()


def _tell(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)


async def _unheard(stream: asyncio.StreamReader) -> None:
    """Nobody wants to know what else it says, but a pipe that is full would hold it up."""
    while await stream.read(1 << 16):
        pass


def _failed(name: str, said: str, line: str) -> BadRequest:
    error = BadRequest(f"{PACKAGE} could not be installed into {name}: {said}", f"What was tried: {line}")
    return error.in_chinese(f"无法将 {PACKAGE} 安装到 {name}：{said}", f"尝试的命令：{line}")


async def _lines(stream: asyncio.StreamReader) -> AsyncGenerator[str, None]:
    """Lines of a bounded length: a progress bar is one that never ends."""
    rest = b""
    while piece := await stream.read(1 << 14):
        *whole, rest = (rest + piece).replace(b"\r", b"\n").split(b"\n")
        for raw in [*whole, *([rest] if len(rest) > LONGEST_LINE else [])]:
            if raw.strip():
                yield raw.decode("utf-8", "replace").rstrip()[:LONGEST_LINE]
        rest = b"" if len(rest) > LONGEST_LINE else rest
    if rest.strip():
        yield rest.decode("utf-8", "replace").rstrip()[:LONGEST_LINE]
