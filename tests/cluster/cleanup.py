"""Take away everything a cluster put on the machine, whether it was stopped or crashed."""

from __future__ import annotations

import shutil

from tests.cluster.cells import Cell
from tests.cluster.cgroups import remove_cgroups
from tests.cluster.network import disconnect
from tests.cluster.paths import NODES, Instance


def cells_of(instance: Instance) -> dict[str, Cell]:
    """The three cells, running or not."""
    return {name: Cell(instance.folder / name, instance.logs) for name in ("control", *NODES)}


def remove(instance: Instance) -> None:
    """End the cells, with all that runs and is mounted in them, then what lies around on disk and in the kernel."""
    for cell in cells_of(instance).values():
        cell.destroy()
    disconnect(instance)
    remove_cgroups(instance)
    if instance.folder.exists():
        shutil.rmtree(instance.folder)
