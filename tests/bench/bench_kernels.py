"""Listing 200 environments, and what activation costs a kernel's start.

What is judged is the list that every door gives, with the environments of everybody here, kernels, titles and problems.
Cold: a new process that has kept nothing yet, its imports counted apart; the kernel has the folders in its memory, as
it does on a machine where somebody works. What it takes where the disk itself must be read, too, is told beside it,
measured on a disk that was unmounted before (only where this may mount one). Warm: every further look of the same
process, while nothing changes. Its own CPU time is told beside both: on a machine where others work, a look waits for
a processor longer than it takes.

The peer would be nb_conda_kernels, which asks `conda`; neither is to be had from PyPI, npm or Debian. So it is what
asking each environment's own Python would cost at the very least.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, register
from tests.kernelspecs.conftest import make_conda, make_laid_out

from .measure import Aim, Figure, in_turns, keep, medians, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ENVIRONMENTS = 200
PACKAGES = 300
ROUNDS = 11
CHILD = Path(__file__).with_name("kernels_child.py")


class Disk:
    """A file system of its own, where this may mount one; else a folder."""

    def __init__(self, folder: Path) -> None:
        self.image, self.home = folder / "disk", folder / "home"
        self.home.mkdir()
        made = os.geteuid() == 0 and self._said("truncate", "-s", "2G", self.image)
        self.is_own = bool(made and self._said("mkfs.ext4", "-q", "-N", "400000", self.image) and self.mount())

    def mount(self) -> bool:
        return self._said("mount", "-o", "loop", self.image, self.home)

    def unmount(self) -> None:
        if self.is_own:
            subprocess.run(["umount", self.home], check=True)

    def forget(self) -> None:
        """Nothing of it is in memory any more."""
        self.unmount()
        handle = os.open(self.image, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)
        assert self.mount()

    def _said(self, *words: object) -> bool:
        return subprocess.run([str(word) for word in words], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """Somebody's home with many environments of a usual size, as conda lays them out; each has frameworks from pip, all
    are in the list that conda keeps, and all are kernels."""
    made = Disk(tmp_path_factory.mktemp("disk"))
    envs = made.home / "miniconda3/envs"
    folders = Folders(shared=[f"{made.home}/kernels"], user=f"{made.home}/none")
    for number in range(ENVIRONMENTS):
        env = make_laid_out(envs / f"env-{number}", {"ipykernel": "6.29.5", "torch": "2.3.1", "mindspore": "2.3.0"})
        site = env / "lib/python3.11/site-packages"
        for one in range(PACKAGES):
            (env / f"conda-meta/package{one}-1.0-h0.json").touch()
            (site / f"package{one}").mkdir()
            (site / f"package{one}-1.0.dist-info").touch()
        register(read(str(env)), f"env-{number} (conda)", "global", folders)
    (made.home / ".conda").mkdir()
    (made.home / ".conda/environments.txt").write_text("".join(f"{envs}/env-{one}\n" for one in range(ENVIRONMENTS)))
    (made.home / ".condarc").write_text("envs_dirs:\n  - ~/miniconda3/envs\n  - ~/more\n")
    yield made
    made.unmount()


def child(kind: str, disk: Disk) -> dict[str, float]:
    """One measurement in a fresh Python, in milliseconds."""
    environ = {**os.environ, "HOME": str(disk.home)}
    said = json.loads(subprocess.check_output([sys.executable, str(CHILD), kind, str(disk.home)], env=environ))
    assert (said.pop("started"), said.pop("environments") >= ENVIRONMENTS) == (0, True)
    return {key: value * 1000 for key, value in said.items()}


def bare_starts() -> float:
    """What asking each environment's Python would cost at the very least."""
    begun = time.perf_counter()
    for _ in range(ENVIRONMENTS):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    return (time.perf_counter() - begun) * 1000


def test_listing(disk: Disk) -> None:
    records: list[dict[str, float]] = []

    def ours() -> float:
        records.append(child("all", disk))
        return records[-1]["cold"]

    cold, peer = in_turns(ROUNDS, ours, bare_starts)
    found = medians([child("find", disk) for _ in range(ROUNDS)])
    unread = []
    for _ in range(5 if disk.is_own else 0):
        disk.forget()
        unread.append(child("all", disk)["cold"])
    steps = medians(records[1:])
    from_disk = {"from a disk that nobody read": short(statistics.median(unread))} if unread else {}
    for name, samples, bound, more in (
        ("cold", cold, 30.0, {"imports": steps["imports"], **from_disk}),
        ("warm", [record["warm"] for record in records[1:]], 2.0, {}),
    ):
        keep(
            f"10 listing, {name}",
            Figure(
                title=f"Listing {ENVIRONMENTS} conda environments of {PACKAGES} packages each, {name}",
                unit="ms",
                peer_name=f"`python -c pass` {ENVIRONMENTS} times",
                ours=samples,
                peer=peer,
                aim=Aim(by="ours", bound=bound),
                more={
                    **more,
                    "of that its own CPU time": steps[f"{name} work"],
                    "finding them alone, without kernels, titles and problems": found[name],
                },
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
