"""What a job's ranks are promised: the table of the guide, written out by hand."""

from __future__ import annotations

from collections.abc import Callable

Value = Callable[[int, int, int, int], "int | str | None"]

# Names and values for N nodes with C cards each (a CPU node counts as one), node n, card c; None: not there.
NODE: dict[str, Value] = {
    "RANK_SIZE": lambda N, C, n, c: N * C,
    "RANK_ID": lambda N, C, n, c: n * C,
    "DEVICE_NUM": lambda N, C, n, c: C,
    "RANK": lambda N, C, n, c: n,
    "WORLD_SIZE": lambda N, C, n, c: N,
    "LOCAL_RANK": lambda N, C, n, c: None,
    "LOCAL_WORLD_SIZE": lambda N, C, n, c: C,
    "NODE_RANK": lambda N, C, n, c: n,
    "NPROC_PER_NODE": lambda N, C, n, c: C,
    "PET_NNODES": lambda N, C, n, c: N,
    "PET_NODE_RANK": lambda N, C, n, c: n,
    "PET_NPROC_PER_NODE": lambda N, C, n, c: C,
    "PET_MASTER_ADDR": lambda N, C, n, c: "127.0.0.1",
    "PET_MASTER_PORT": lambda N, C, n, c: 29512,
}
CARD: dict[str, Value] = {
    **dict.fromkeys((name for name in NODE if name.startswith("PET_")), lambda N, C, n, c: None),
    "RANK_SIZE": lambda N, C, n, c: N * C,
    "RANK_ID": lambda N, C, n, c: n * C + c,
    "DEVICE_NUM": lambda N, C, n, c: C,
    "RANK": lambda N, C, n, c: n * C + c,
    "WORLD_SIZE": lambda N, C, n, c: N * C,
    "LOCAL_RANK": lambda N, C, n, c: c,
    "LOCAL_WORLD_SIZE": lambda N, C, n, c: C,
    "NODE_RANK": lambda N, C, n, c: n,
    "NPROC_PER_NODE": lambda N, C, n, c: C,
}
FRAMEWORKS: dict[str, dict[str, Value]] = {
    "none": {},
    "mindspore": {
        "MS_WORKER_NUM": lambda N, C, n, c: N * C,
        "MS_LOCAL_WORKER": lambda N, C, n, c: C,
        "MS_SCHED_HOST": lambda N, C, n, c: "127.0.0.1",
        "MS_SCHED_PORT": lambda N, C, n, c: 29512,
        "MS_NODE_RANK": lambda N, C, n, c: n,
    },
}
