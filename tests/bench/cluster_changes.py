"""Makes changes for `bench_cluster` in a Python of its own; prints how many a second they were as one JSON line.

`python -m tests.bench.cluster_changes NAMESPACE RATE COUNT JOBS`: notes of small Jobs, each saying when it was made.
They are written with the status, which admission webhooks leave alone: Kueue's would be asked about each Job otherwise,
and the API server would wait for it. Several connections, since it answers one request of each at a time.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator

from jupyter_aiarts.engines.kubernetes import names
from tests.cluster.cluster import Cluster

from .cluster_paper import small_id

CONNECTIONS = 12


def main(namespace: str, rate: float, count: int, jobs: int) -> None:
    cluster = Cluster.running()
    assert cluster is not None
    began, numbers, lock = time.perf_counter(), iter(range(count)), threading.Lock()
    words = (cluster, namespace, jobs, began, rate, numbers, lock)
    threads = [threading.Thread(target=change, args=words) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"per second": count / (time.perf_counter() - began)}), flush=True)


def change(
    cluster: Cluster, namespace: str, jobs: int, began: float, rate: float, numbers: Iterator[int], lock: threading.Lock
) -> None:
    """Make the next change when it is its time, until all were made."""
    with cluster.admin() as admin:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            time.sleep(max(0.0, began + number / rate - time.perf_counter()))
            name = names.object_name("train", small_id(number % jobs), 1)
            note = {names.NOTES: json.dumps([f"at {time.time():.6f}"])}
            admin.patch(f"apis/batch/v1/namespaces/{namespace}/jobs/{name}/status", {"metadata": {"annotations": note}})


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
