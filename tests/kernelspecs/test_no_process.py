"""Listing environments starts no process: neither the first look nor a further one, nor the watch for changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from jupyter_aiarts.kernelbook import KernelBook

from .conftest import make_conda
from .test_own_kernels import R, brought

LOOK = """
import asyncio, json, sys
started = []
events = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "pty.spawn")
sys.addaudithook(lambda event, _: started.append(event) if event in events else None)
from jupyter_aiarts.kernelbook import KernelBook, KernelSettings
book = KernelBook(KernelSettings(directory=sys.argv[1]))
async def look():
    found = [await book.all(lang) for lang in ("en", "zh", "en")]
    await book.has_news()
    await book.has_news()
    return [sorted(f"{one.kind} {one.name}" for one in each) for each in found]
found = asyncio.run(look())
listed = list(started)
import subprocess
subprocess.run(["true"], check=True)
print(json.dumps([found, listed, started[:1]]))
"""


async def test_a_look_at_every_kind_of_environment_starts_nothing(book: KernelBook, home: Path, tmp_path: Path) -> None:
    root = make_conda(home / "miniconda3")
    for name in ("train", "bare", "broken", "gone"):
        make_conda(root / "envs" / name, ("python-3.11.4-h1", *(() if name == "bare" else ("ipykernel-6.29.0-py_0",))))
    brought(root / "envs/train", "ir", R)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home / "venv")], check=True)
    for one in ("train", "gone", str(home / "venv")):
        await book.register(one, "global")
    (root / "envs/broken/bin/python").unlink()
    (root / "envs/gone").rename(home / "elsewhere")
    (root / "bin/conda").write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    (root / "bin/conda").chmod(0o755)
    environ = {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}", "CONDA_EXE": f"{root}/bin/conda"}
    words = [sys.executable, "-c", LOOK, str(tmp_path / "shared")]
    out = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environ)
    assert out.returncode == 0, out.stderr
    found, listed, works = json.loads(out.stdout)
    kinds = {"conda miniconda3", "conda train", "conda bare", "conda broken", "gone gone", "venv venv"}
    assert all(kinds <= {*each} for each in found)
    assert (listed, works) == ([], ["subprocess.Popen"])  # whoever listens would have heard one
    assert not (tmp_path / "was-run").exists()
