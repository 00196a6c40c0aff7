"""A dynamic cluster as MindSpore has it, written from its documentation.

MS_SCHED_HOST is a legal IP address, no name; the scheduler listens there at MS_SCHED_PORT until MS_WORKER_NUM workers
have registered, and numbers them. `msrun` starts the scheduler on node 0 and MS_LOCAL_WORKER workers on every node;
here node 0's first process does the scheduler's part beside its own.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
import threading

from meeting import SECONDS, connected


def schedule(port: int, wanted: int) -> None:
    with socket.create_server(("", port)) as server:
        server.settimeout(SECONDS)
        workers = [server.accept()[0] for _ in range(wanted)]
        for number, worker in enumerate(workers):
            worker.sendall(b"%d\n" % number)
            worker.close()


def work(address: tuple[str, int], wanted: int) -> None:
    with connected(address) as scheduler:
        number = int(scheduler.makefile().readline())
    assert 0 <= number < wanted
    sys.stdout.write(f"met as one of {wanted}\n")  # in one piece: workers of a node share a pipe


def main() -> None:
    host, port = os.environ["MS_SCHED_HOST"], int(os.environ["MS_SCHED_PORT"])
    ipaddress.ip_address(host)
    wanted, local = int(os.environ["MS_WORKER_NUM"]), int(os.environ["MS_LOCAL_WORKER"])
    by_card = "LOCAL_RANK" in os.environ
    first = (
        os.environ["MS_NODE_RANK"] == "0" and os.environ.get("LOCAL_RANK", "0") == "0" and sys.argv[1:] != ["worker"]
    )
    scheduler = threading.Thread(target=schedule, args=(port, wanted))
    if first:
        scheduler.start()
    if by_card or sys.argv[1:] == ["worker"]:
        work((host, port), wanted)
    else:
        workers = [subprocess.Popen([sys.executable, __file__, "worker"]) for _ in range(local)]
        assert [worker.wait() for worker in workers] == [0] * local
    if first:
        scheduler.join()


if __name__ == "__main__":
    main()
