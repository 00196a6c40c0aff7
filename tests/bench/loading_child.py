"""One measurement of `bench_loading` in a Python of its own; prints its steps in seconds as one JSON line.

`server EXTENSION PATH`: load an extension into a running server, until PATH is answered
`import MODULE`: import a module in a process where such a server runs
`ipython EXTENSION`: `%load_ext` in a running IPython shell
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

TOKEN = "bench"
Steps = dict[str, float]


def with_server(measure: Callable[..., Awaitable[Steps]], *words: str) -> Steps:
    """Start a server without extensions in this process, ask it once, and measure on its loop."""
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = tempfile.mkdtemp(dir=os.getcwd())
    os.environ["JUPYTER_TOKEN"] = TOKEN
    from jupyter_server.serverapp import ServerApp

    app = ServerApp.instance(open_browser=False, port=0, allow_root=True, log_level="ERROR")
    app.initialize(argv=[], find_extensions=False)
    app.start_app()

    async def warm() -> Steps:
        await ask(app.connection_url + "api/status")
        return await measure(app, *words)

    steps: Steps = app.io_loop.run_sync(warm)
    return steps


async def ask(url: str) -> bytes:
    """The body of a GET."""
    from tornado.httpclient import AsyncHTTPClient

    return (await AsyncHTTPClient().fetch(url, headers={"Authorization": f"token {TOKEN}"})).body


async def load(app: Any, name: str, path: str) -> Steps:
    """As jupyter_server's extension manager does, but on a server that runs."""
    manager, clock = app.extension_manager, [time.perf_counter()]
    assert manager.add_extension(name, enabled=True)
    clock.append(time.perf_counter())
    manager.link_extension(name)
    clock.append(time.perf_counter())
    manager.load_extension(name)
    clock.append(time.perf_counter())
    answer = await ask(app.connection_url + path)
    clock.append(time.perf_counter())
    steps = {"import": clock[1] - clock[0], "link": clock[2] - clock[1], "load": clock[3] - clock[2]}
    steps |= {"first answer": clock[4] - clock[3], "total": clock[4] - clock[0]}
    # Told beside the times: an empty list may be answered without anything having been loaded.
    return {**steps, "items": len(json.loads(answer)), "service loaded": float("jupyter_aiarts.service" in sys.modules)}


async def bare(app: Any, name: str) -> Steps:
    start = time.perf_counter()
    importlib.import_module(name)
    return {"total": time.perf_counter() - start}


def load_ext(name: str) -> Steps:
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp(dir=os.getcwd())
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_cell("1 + 1", silent=True)
    start = time.perf_counter()
    shell.run_line_magic("load_ext", name)
    return {"total": time.perf_counter() - start}


def main(kind: str, *words: str) -> None:
    ways: dict[str, Callable[..., Steps]] = {
        "server": lambda *rest: with_server(load, *rest),
        "import": lambda *rest: with_server(bare, *rest),
        "ipython": load_ext,
    }
    print(json.dumps(ways[kind](*words)), flush=True)
    os._exit(0)  # what is to be measured was measured


if __name__ == "__main__":
    main(*sys.argv[1:])
