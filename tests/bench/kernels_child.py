"""One measurement of `bench_kernels` in a Python of its own; prints its steps in seconds as one JSON line.

`find HOME`: import, the first look for environments, then further ones
`all HOME`: the same for the whole list as every door shows it, with kernels, titles and what is wrong with each
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable

Steps = dict[str, float]
FURTHER = 21
STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec")


def find(home: str) -> Steps:
    start = time.perf_counter()
    import yaml  # noqa: F401  # read at the first condarc; an import, so counted with them

    from jupyter_aiarts.kernelspecs.discover import Discovery
    from jupyter_aiarts.kernelspecs.places import places

    imported = time.perf_counter()
    discovery = Discovery()
    return timed(imported - start, lambda: len(discovery.find(places({}, [home]))))


def whole(home: str) -> Steps:
    start = time.perf_counter()
    import yaml  # noqa: F401
    from jupyter_core import paths  # noqa: F401  # a server has it

    from jupyter_aiarts.explain import explain  # noqa: F401
    from jupyter_aiarts.kernelbook import KernelBook, KernelSettings

    book = KernelBook(KernelSettings(directory=f"{home}/kernels"), environ={})
    imported = time.perf_counter()
    loop = asyncio.new_event_loop()  # one for all looks, as a server has it
    return timed(imported - start, lambda: len(loop.run_until_complete(book.all())))


def timed(imports: float, look: Callable[[], int]) -> Steps:
    def once() -> tuple[float, float, int]:
        clock, work = time.perf_counter(), time.process_time()
        found = look()
        return time.perf_counter() - clock, time.process_time() - work, found

    cold, cold_work, found = once()
    further = [once() for _ in range(FURTHER)]
    assert {again for _, _, again in further} == {found}
    warm, warm_work = (statistics.median(one[which] for one in further) for which in (0, 1))
    steps = {"imports": imports, "cold": cold, "cold work": cold_work, "warm": warm, "warm work": warm_work}
    return {**steps, "environments": found}


if __name__ == "__main__":
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event in STARTS else None)
    steps = {"find": find, "all": whole}[sys.argv[1]](sys.argv[2])
    print(json.dumps({**steps, "started": len(started)}), flush=True)
    os._exit(0)  # what is to be measured was measured
