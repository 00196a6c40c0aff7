"""What else `npu-smi info` tells: the programs on the chips."""

import functools
from collections.abc import Iterable
from typing import NamedTuple

from jupyter_aiarts.launcher.usage.npusmi import Cells, number


class Process(NamedTuple):
    """One program on a chip; memory in MB."""

    card: int
    chip: int | None
    pid: int
    name: str = ""
    memory: float | None = None
    container_pid: int | None = None


def programs(rows: Iterable[tuple[Cells, Cells]]) -> list[Process]:
    """The programs of `npu-smi info`, out of heads and rows; those that are cut off or damaged are left out."""
    return [one for head, cells in rows if (one := _process(head, cells)) is not None]


@functools.lru_cache(maxsize=512)  # a program stands there as before for as long as it runs
def _process(head: Cells, cells: Cells) -> Process | None:
    """One row of the table of programs, by its heads; a sentence such as "No running processes" is none."""
    row = dict(zip(_process_names(head), cells, strict=False))
    place = [number(word) for word in cells[0].split()[:2]]
    pid = number(row.get("id"))
    if not place or place[0] is None or pid is None:
        return None
    inside, memory = number(row.get("inside")), number(row.get("memory"))
    if memory is None and "bytes" in row:
        told = number(row["bytes"])
        memory = None if told is None else told / (1 << 20)
    chip = place[1] if len(place) > 1 else None
    return Process(
        int(place[0]), None if chip is None else int(chip), int(pid), row.get("name", ""),
        memory, None if inside is None else int(inside),
    )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _process_names(head: Cells) -> tuple[str, ...]:
    """What the columns of that table are; old drivers write `(B)` over the memory of programs."""
    known = {"process id": "id", "process name": "name", "process id in container": "inside"}
    return tuple(
        ("bytes" if label.endswith("memory(B)") else "memory")
        if label.lower().startswith("process memory")
        else known.get(label.lower(), "")
        for label in head
    )
