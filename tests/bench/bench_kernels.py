"""Listing 200 environments, and what activation costs a kernel's start."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_aiarts.kernelspecs.discover import Discovery, read
from jupyter_aiarts.kernelspecs.install import Folders, register
from jupyter_aiarts.kernelspecs.places import places
from tests.kernelspecs.conftest import make_conda

from .measure import Aim, Figure, in_turns, keep

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ENVIRONMENTS = 200
PACKAGES = 300
ROUNDS = 11


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Somebody's home with many environments of a usual size."""
    folder = tmp_path_factory.mktemp("home")
    for number in range(ENVIRONMENTS):
        names = tuple(f"package{one}-1.0-h0" for one in range(PACKAGES))
        make_conda(folder / f"miniconda3/envs/env-{number}", ("python-3.11.4-h1", "ipykernel-6.29.0-py_0", *names))
    return folder


def bare_starts() -> float:
    """What asking each environment's Python would cost at the very least; one start, times as many."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - begun) * 1000 * ENVIRONMENTS


def test_listing(home: Path) -> None:
    warm_one = Discovery()
    warm_one.find(places({}, [str(home)]))

    def listed(discovery: Discovery) -> float:
        begun = time.perf_counter()
        found = discovery.find(places({}, [str(home)]))
        elapsed = (time.perf_counter() - begun) * 1000
        assert len([one for one in found if one.path.startswith(str(home))]) == ENVIRONMENTS
        return elapsed

    for name, discovery, bound in (("cold", None, 30.0), ("warm", warm_one, 2.0)):
        ours, peer = in_turns(ROUNDS, lambda kept=discovery: listed(kept or Discovery()), bare_starts)  # type: ignore[misc]
        keep(
            f"10 listing, {name}",
            Figure(
                title=f"Listing {ENVIRONMENTS} conda environments of {PACKAGES} packages each, {name}",
                unit="ms",
                peer_name=f"`python -c pass` {ENVIRONMENTS} times (one start, multiplied)",
                ours=ours,
                peer=peer,
                aim=Aim(by="ours", bound=bound),
            ),
        )


def test_start(tmp_path: Path) -> None:
    env = make_conda(tmp_path / "train")
    (env / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\nversion = 3.11.0\n")
    site = next(env.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("\n".join(one for one in sys.path if one.endswith("site-packages")))
    scripts = env / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "lib.sh").write_text('export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"\n')
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(env)), "x", "global", folders)
    bare = tmp_path / "shared/bare"
    bare.mkdir()
    argv = f'["{env}/bin/python", "{one.folder}/kernel.py", "-f", "{{connection_file}}"]'
    (bare / "kernel.json").write_text(f'{{"argv": {argv}, "display_name": "bare", "language": "python"}}')
    specs = KernelSpecManager(kernel_dirs=[folders.target("global")])

    async def started(name: str) -> float:
        begun = time.perf_counter()
        manager = AsyncKernelManager(kernel_name=name, kernel_spec_manager=specs)
        await manager.start_kernel()
        client = manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        elapsed = (time.perf_counter() - begun) * 1000
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
        return elapsed

    ours, peer = in_turns(ROUNDS, lambda: asyncio.run(started(one.spec)), lambda: asyncio.run(started("bare")))
    keep(
        "10 kernel start",
        Figure(
            title="A kernel of a conda environment, started until it is ready, activated",
            unit="ms",
            peer_name="the same kernel without activation",
            ours=ours,
            peer=peer,
            aim=Aim(by="difference", bound=30.0),
        ),
    )
