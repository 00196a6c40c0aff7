"""A server that does nothing but accept jobs: `python submitter.py STATE FOLDER FIRST`, one id per line.

Run by the kill tests, which end it at any moment and look whether what it had acknowledged is there.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
from pathlib import Path

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.model.reading import read_spec


async def main(state: str, folder: str, first: str) -> None:
    engine = open_local(Path(state))
    caller = Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=Path(folder))
    for number in itertools.count(int(first)):
        raw = {"script": "train.py", "submission_id": f"s{number}", "args": [str(number)], "cpu": 0.05}
        record, _ = await engine.submit(read_spec(raw), caller)
        print(number, record.id, flush=True)
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
