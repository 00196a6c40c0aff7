"""Processes that meet as PyTorch's do, with the standard library alone.

What `init_process_group("gloo", init_method="env://")` does with its variables, as PyTorch documents it: rank 0 keeps a
store at MASTER_PORT, everybody else finds it at MASTER_ADDR, and nobody goes on before WORLD_SIZE have come.
"""

from __future__ import annotations

import json
import os
import socket
import time

SECONDS = 60.0


def all_reduce(number: int) -> int:
    """The sum of everybody's number, known to everybody."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    return keep_store(address[1], number, size) if rank == 0 else tell(address, rank, number)


def keep_store(port: int, number: int, size: int) -> int:
    """Rank 0: take everybody's number, then tell everybody the sum. A number that comes twice is a fault."""
    numbers = {0: number}
    with socket.create_server(("", port)) as server:
        server.settimeout(SECONDS)
        others = []
        while len(numbers) < size:
            other, _ = server.accept()
            rank, told = json.loads(other.makefile().readline())
            assert rank not in numbers, f"rank {rank} came twice"
            numbers[rank] = told
            others.append(other)
        assert sorted(numbers) == list(range(size)), sorted(numbers)
        for other in others:
            other.sendall(b"%d\n" % sum(numbers.values()))
            other.close()
    return sum(numbers.values())


def tell(address: tuple[str, int], rank: int, number: int) -> int:
    """The others: tell the store, hear the sum."""
    with connected(address) as store:
        store.sendall(json.dumps([rank, number]).encode() + b"\n")
        return int(store.makefile().readline())


def connected(address: tuple[str, int]) -> socket.socket:
    """A connection to whoever will listen there; names and listeners may come up later than we do."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection(address, timeout=SECONDS)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
