"""Runs a notebook as a start file: `python notebook.py NOTEBOOK [ARGS…]`, with the job's own Python.

A script that stands alone: it imports nothing of ours, since that Python need not have us. Cell output
appears on stdout and stderr as it comes; the executed copy is kept in SAVE_PATH, also when a cell fails.
The arguments are in `sys.argv` of the notebook, as in a script, and as a JSON list in AIARTS_ARGS.
"""

import importlib
import json
import os
import signal
import sys
import tempfile
from typing import Any, Dict, List, Optional

_SOCKET_LIMIT = 80


def main(arguments: List[str]) -> int:
    """Execute the notebook; 0 when every cell succeeded, 1 when one failed, 2 when it cannot be run."""
    path = arguments[0]
    try:
        nbclient, nbformat, _ = map(importlib.import_module, ("nbclient", "nbformat", "ipykernel"))
    except ImportError as error:
        cure = f"{sys.executable} -m pip install nbclient ipykernel"
        return _complain(f"{sys.executable} cannot run notebooks ({error}): {cure}")
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError) as error:
        return _complain(f"{path} is not a notebook: {error}")
    os.environ["AIARTS_ARGS"] = json.dumps(arguments[1:])
    signal.signal(signal.SIGTERM, _leave)
    try:
        return _execute(nbclient, notebook, arguments)
    finally:
        nbformat.write(notebook, executed_path(path, os.environ))


def _execute(nbclient: Any, notebook: Any, arguments: List[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="aiarts-") as folder:
        try:
            _client(nbclient, notebook, arguments, folder).execute()
        except nbclient.exceptions.CellExecutionError:
            return 1  # its traceback has been shown as it came
        except nbclient.exceptions.DeadKernelError:
            return _complain("the notebook's kernel died")
    return 0


def executed_path(path: str, environ: Any) -> str:
    """Where the executed copy goes; ranks other than the first keep theirs apart."""
    stem = os.path.splitext(os.path.basename(path))[0]
    rank = environ.get("RANK", "0")
    own = "" if rank == "0" else f".rank{rank}"
    return os.path.join(environ.get("SAVE_PATH", "."), f"{stem}{own}.executed.ipynb")


def show(message: Dict[str, Any]) -> None:
    """Print one message of the kernel as a terminal would show it."""
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        _print(content["text"], content["name"], "")
    elif kind in ("execute_result", "display_data"):
        _print(content["data"].get("text/plain", ""), "stdout", "\n")
    elif kind == "error":
        _print("\n".join(content["traceback"]), "stderr", "\n")


def _client(nbclient: Any, notebook: Any, arguments: List[str], folder: str) -> Any:
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    class OwnKernel(KernelSpecManager):
        """Whatever kernel the notebook names, it runs in this interpreter: the job's."""

        def get_kernel_spec(self, kernel_name: str) -> Any:
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=argv, display_name=kernel_name, language="python")

    class Client(nbclient.NotebookClient):  # type: ignore[misc]
        """Shows what cells say while they say it."""

        def process_message(self, message: Dict[str, Any], cell: Any, cell_index: int) -> Optional[Any]:
            show(message)
            return super().process_message(message, cell, cell_index)

        async def async_start_new_kernel_client(self) -> Any:
            client = await super().async_start_new_kernel_client()
            client.execute(f"import sys; sys.argv = {arguments!r}; del sys", silent=True, store_history=False)
            return client

    manager = AsyncKernelManager(kernel_spec_manager=OwnKernel())
    if len(folder) < _SOCKET_LIMIT:  # sockets only this user can reach; their paths must be short
        manager.transport, manager.connection_file = "ipc", os.path.join(folder, "kernel.json")
    return Client(notebook, km=manager, timeout=None, resources={"metadata": {"path": os.getcwd()}})


def _print(text: str, name: str, end: str) -> None:
    stream = sys.stderr if name == "stderr" else sys.stdout
    octets = (text + end).encode("utf-8", "replace")
    stream.buffer.write(octets)
    stream.buffer.flush()


def _leave(*_: Any) -> None:
    """Asked to end: unwind, so that what has been executed is kept."""
    sys.exit(143)


def _complain(sentence: str) -> int:
    sys.stderr.write(sentence + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
