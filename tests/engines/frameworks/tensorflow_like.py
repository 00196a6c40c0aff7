"""A worker as TensorFlow's MultiWorkerMirroredStrategy has them, written from the documentation of TF_CONFIG.

`cluster` names every worker as host:port, `task` says which one this process is. Each listens at its own address, and
talks to all others at theirs; the chief (worker 0) adds up what they say.
"""

from __future__ import annotations

import json
import os
import socket
import threading

from meeting import SECONDS, connected


def main() -> None:
    config = json.loads(os.environ["TF_CONFIG"])
    workers, task = config["cluster"]["worker"], config["task"]
    assert task["type"] == "worker" and isinstance(task["index"], int)
    assert len(set(workers)) == len(workers), f"two workers at one address: {workers}"
    own = task["index"]
    heard: list[int] = []
    with socket.create_server(("", int(workers[own].rpartition(":")[2]))) as server:
        server.settimeout(SECONDS)
        listening = threading.Thread(target=listen, args=(server, len(workers) - 1, heard))
        listening.start()
        for index, worker in enumerate(workers):
            if index != own:
                host, _, port = worker.rpartition(":")
                with connected((host, int(port))) as other:
                    other.sendall(b"%d\n" % own)
        listening.join()
    assert sorted([*heard, own]) == list(range(len(workers))), heard
    print(f"met {own} of {len(workers)}", flush=True)


def listen(server: socket.socket, count: int, heard: list[int]) -> None:
    for _ in range(count):
        other, _ = server.accept()
        heard.append(int(other.makefile().readline()))
        other.close()


if __name__ == "__main__":
    main()
