"""A home of its own for one page: a shell, a kernel and a Jupyter server that are started when the page needs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import nbformat
from nbclient import NotebookClient

BIN = Path(sys.executable).parent
MARK = "@@ended@@"
TOKEN = "a-token-of-this-test"


def environment(home: Path) -> dict[str, str]:
    """A user's surroundings, with nothing in them that leads to the Jupyter or AIArts around the tests."""
    return {
        "HOME": str(home),
        "USER": "somebody",
        "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "AIARTS_STATE_DIR": str(home / "state"),
        "JUPYTER_CONFIG_DIR": str(home / "work"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "TOKEN": TOKEN,
    }


class Sandbox:
    """Where a page's blocks run, one after the other."""

    def __init__(self, home: Path, cells: list[str]) -> None:
        self.work = home / "work"
        self.work.mkdir()
        self.environ = environment(home)
        self._opened = ExitStack()
        self._shell: subprocess.Popen[str] | None = None
        self._notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
        self._kernel: NotebookClient | None = None
        self._ran = 0

    def close(self) -> None:
        """End what was started here, jobs that still wait or run included."""
        jobs = json.loads(self.command("aiarts jobs --json")[0])
        active = [job["id"] for job in jobs if job["phase"] in ("queued", "starting", "running", "paused")]
        if active:
            self.command(f"aiarts delete --yes {' '.join(active)}")
        self._opened.close()

    def command(self, line: str) -> tuple[str, int]:
        """What a command prints, and its exit code; variables it sets stay for the next one."""
        shell = self._shell or self._start_shell()
        print("{ " + line + "\n} </dev/null 2>&1; echo " + MARK + "$?", file=_of(shell.stdin), flush=True)
        printed: list[str] = []
        for text in _of(shell.stdout):
            before, mark, code = text.partition(MARK)
            if mark:  # the last line of the output may have no end of its own
                return "".join([*printed, before and before + "\n"]), int(code)
            printed.append(text)
        raise AssertionError(f"the shell ended in: {line}")

    def cell(self) -> str:
        """Run the notebook's next cell; the text it showed. An error in it is raised."""
        kernel = self._kernel or self._start_kernel()
        cell = kernel.execute_cell(self._notebook.cells[self._ran], self._ran)
        self._ran += 1
        shown = [one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs]
        return "\n".join(shown)

    def start_server(self) -> None:
        """A Jupyter server on the working folder; its address is `$SERVER` from now on."""
        log = self._opened.enter_context((self.work.parent / "server.log").open("w"))
        options = ["--no-browser", "--ip=127.0.0.1", "--port=0", f"--IdentityProvider.token={TOKEN}", "--allow-root"]
        process = subprocess.Popen(
            [BIN / "jupyter", "server", *options], cwd=self.work, env=self.environ, stdout=log, stderr=log
        )
        self._opened.callback(process.wait)
        self._opened.callback(process.terminate)
        self.environ["SERVER"] = _address(process, Path(self.environ["JUPYTER_RUNTIME_DIR"]), Path(log.name))

    def use_server(self) -> None:
        """Start the server, if it does not run, and let the command speak to it, as inside Jupyter."""
        if "SERVER" not in self.environ:
            self.start_server()
            address = self.environ["SERVER"]
            self.command(f"export SERVER={address} AIARTS_SERVER={address} AIARTS_TOKEN=$TOKEN")

    def _start_shell(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        shell = subprocess.Popen(
            ["bash", "--norc"], cwd=self.work, env=self.environ, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
        )
        self._opened.enter_context(shell)
        self._opened.callback(_of(shell.stdin).close)
        self._shell = shell
        return shell

    def _start_kernel(self) -> NotebookClient:
        # Sockets instead of ports: other tests' kernels may take a port between choosing and using it.
        folder = self._opened.enter_context(tempfile.TemporaryDirectory(prefix="aiarts-"))
        kernel = NotebookClient(self._notebook, timeout=60, kernel_name="python3")
        kernel.create_kernel_manager()
        kernel.km.transport, kernel.km.ip = "ipc", str(Path(folder) / "k")
        self._opened.enter_context(kernel.setup_kernel(env=self.environ, cwd=str(self.work)))
        self._kernel = kernel
        return kernel


def _of(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _address(process: subprocess.Popen[bytes], runtime: Path, log: Path) -> str:
    """The server's address, from the file it writes when it listens."""
    told = runtime / f"jpserver-{process.pid}.json"
    while process.poll() is None:
        try:
            return str(json.loads(told.read_text())["url"]).rstrip("/")
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)  # jupyter_server has no event for "I listen"
    raise AssertionError(f"the server did not start:\n{log.read_text()}")
