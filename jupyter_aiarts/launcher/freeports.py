"""Ports for the ranks of a job on this machine: MASTER_PORT, and with TensorFlow one more for each worker."""

import random
import socket
from contextlib import ExitStack

# As in pods. What a system offers by itself are the ports of connections that go out, mostly from 32768 on: each of
# them keeps its port for a minute after its end, and nobody can listen there meanwhile.
FIRST, LAST = 10000, 20000
TRIES = 100


def free_ports(count: int, first: int = FIRST, last: int = LAST) -> int:
    """The first of so many ports in a row that nobody has just now; what the system offers where no row is free."""
    for _ in range(TRIES):
        start = random.randint(first, max(first, last - count))
        if _are_free(start, count):
            return start
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _are_free(start: int, count: int) -> bool:
    with ExitStack() as held:
        for port in range(start, start + count):
            probe = held.enter_context(socket.socket())
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True
