"""A Jupyter server for `bench_usage`, with 40 children and 8 cards: `python usage_child.py EXTENSION CARDS FOLDER`.

Prints its port, then for each line it reads what it has done so far, as one JSON line: seconds that the callbacks of
its event loop took (CPU: `loop`, by the clock: `clock`), the longest of them since it was last asked (`longest`), CPU
seconds of the loop's thread with asyncio's own part (`thread`), of the process (`process`) and of programs it ran
(`tools`).
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

TOKEN = "bench"
CHILDREN = 40
CARDS = 8


class Watched:
    """What the event loop did: every callback is timed where asyncio runs it."""

    def __init__(self) -> None:
        self.loop = self.clock = self.longest = 0.0
        self._thread = time.pthread_getcpuclockid(threading.get_ident())

    def begin(self) -> None:
        plain = asyncio.Handle._run

        def run(handle: Any) -> None:
            began, spent = time.perf_counter(), time.thread_time()
            plain(handle)
            took = time.thread_time() - spent
            self.loop += took
            self.clock += time.perf_counter() - began
            self.longest = max(self.longest, took)

        asyncio.Handle._run = run  # type: ignore[method-assign]

    def told(self) -> dict[str, float]:
        ran = resource.getrusage(resource.RUSAGE_CHILDREN)
        longest, self.longest = self.longest, 0.0
        return {
            "loop": self.loop,
            "clock": self.clock,
            "longest": longest,
            "thread": time.clock_gettime(self._thread),
            "process": time.process_time(),
            "tools": ran.ru_utime + ran.ru_stime,
        }


def with_cards(kind: str) -> None:
    """Cards of one kind, each with five programs: NVIDIA's in this process, Huawei's tool comes with PATH."""
    if kind == "gpu":
        from tests.devices.driver import Driver, Gpu

        each = CHILDREN // CARDS
        Driver(*(Gpu(programs={1000 * card + one: 1 << 30 for one in range(each)}) for card in range(CARDS))).load()


def main(extension: str, cards: str, folder: str) -> None:
    for name in ("CONFIG", "DATA", "RUNTIME"):
        os.environ[f"JUPYTER_{name}_DIR"] = str(Path(folder, name.lower()))
    os.environ["JUPYTER_TOKEN"] = TOKEN
    os.environ["AIARTS_STATE_DIR"] = str(Path(folder, "state"))
    with_cards(cards)
    sleep = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    children = [subprocess.Popen(sleep, stdin=subprocess.PIPE) for _ in range(CHILDREN)]
    from jupyter_server.serverapp import ServerApp

    app: Any = ServerApp.instance(open_browser=False, ip="127.0.0.1", port=0, allow_root=True, log_level="ERROR")
    app.initialize(argv=[], find_extensions=False)
    manager = app.extension_manager
    assert manager.add_extension(extension, enabled=True)
    manager.link_extension(extension)
    manager.load_extension(extension)
    app.start_app()
    watched = Watched()
    watched.begin()

    def answer() -> None:
        print(urlsplit(app.connection_url).port, flush=True)
        for _ in sys.stdin:
            print(json.dumps(watched.told()), flush=True)
        for child in children:
            child.kill()
        os._exit(0)

    threading.Thread(target=answer, daemon=True).start()
    app.io_loop.start()


if __name__ == "__main__":
    main(*sys.argv[1:])
