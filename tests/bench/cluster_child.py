"""One measurement of `bench_cluster` in a Python of its own; prints what it found as one JSON line.

`ours|typed|bare KUBECONFIG NAMESPACE`: the first full picture: seconds, CPU seconds, and MB beyond what imports took
`pauses KUBECONFIG NAMESPACE`: the longest that the event loop was held while ours was made
`follow KUBECONFIG NAMESPACE COUNT`: prints `ready`, then how late each of COUNT changes was heard, in milliseconds
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import ssl
import sys
import time
from collections.abc import Callable
from typing import Any

from memory import peak, resident

Steps = dict[str, float]


class Meter:
    """From its making on: time, CPU time, and how far memory grew at its highest."""

    def __init__(self) -> None:
        self._rss = resident()
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Steps:
        cpu, wall = time.process_time() - self._cpu, time.perf_counter() - self._wall
        return {"seconds": wall, "cpu": cpu, "MB": (peak() - self._rss) / 1e6}


async def ours(kubeconfig: str, namespace: str) -> Steps:
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.picture import Picture
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.engines.kubernetes.watch import Watcher

    api = await Api.open(ClusterSettings(name="bench", kubeconfig=kubeconfig))
    meter = Meter()
    picture = Picture("bench")
    watcher = Watcher(api, picture, (namespace,), lambda change: None)
    watcher.start()
    await watcher.settled()
    records = picture.records()
    found = meter.read()
    again = time.perf_counter()
    assert picture.records() is records
    found |= {"again": time.perf_counter() - again, "jobs": len(records)}
    found["pods"] = sum(len(record.ranks) for record in records)
    await watcher.aclose()
    await api.aclose()
    return found


async def pauses(kubeconfig: str, namespace: str) -> Steps:
    """The same, and the most CPU time that the event loop spent between two looks at what else there is to do."""
    longest = [0.0]

    async def look() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest.append(time.thread_time() - before)

    looking = asyncio.create_task(look())
    found = await ours(kubeconfig, namespace)
    looking.cancel()
    return {"longest pause": max(longest), "pods": found["pods"]}


async def typed(kubeconfig: str, namespace: str) -> Steps:
    from kubernetes import client, config

    config.load_kube_config(kubeconfig)
    core, batch = client.CoreV1Api(), client.BatchV1Api()
    meter = Meter()
    pods, jobs = core.list_namespaced_pod(namespace).items, batch.list_namespaced_job(namespace).items
    return {**meter.read(), "pods": len(pods), "jobs": len(jobs)}


async def bare(kubeconfig: str, namespace: str) -> Steps:
    """The same requests by the standard library, and msgspec into the same Structs."""
    import http.client
    from urllib.parse import quote, urlsplit

    import msgspec
    import yaml

    from jupyter_aiarts.engines.kubernetes.listing import PAGE
    from jupyter_aiarts.engines.kubernetes.meta import Listed
    from jupyter_aiarts.engines.kubernetes.objects import JobObject, PodObject

    with open(kubeconfig) as file:
        content = yaml.safe_load(file)
    cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
    import base64

    context = ssl.create_default_context(
        cadata=base64.b64decode(cluster["certificate-authority-data"]).decode(),
    )
    connection = http.client.HTTPSConnection(urlsplit(cluster["server"]).netloc, context=context)
    headers = {"Authorization": f"Bearer {user['token']}"}
    kinds: list[tuple[str, Any]] = [
        (f"/api/v1/namespaces/{namespace}/pods", Listed[PodObject]),
        (f"/apis/batch/v1/namespaces/{namespace}/jobs", Listed[JobObject]),
    ]
    found, size = [], 0
    connection.request("GET", "/version", headers=headers)
    connection.getresponse().read()
    meter = Meter()
    for path, kind in kinds:
        decoder, more = msgspec.json.Decoder(kind), ""
        while True:
            connection.request("GET", f"{path}?limit={PAGE}&continue={quote(more)}", headers=headers)
            body = connection.getresponse().read()
            size += len(body)
            page = decoder.decode(body)
            found.append(page.items)
            more = page.metadata.continue_
            if not more:
                break
    return {**meter.read(), "pods": sum(map(len, found)), "megabytes": size / 1e6}


async def follow(kubeconfig: str, namespace: str, count: str) -> Steps:
    from jupyter_aiarts.engines.base import Change
    from jupyter_aiarts.engines.kubernetes.client import Api
    from jupyter_aiarts.engines.kubernetes.picture import Picture
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
    from jupyter_aiarts.engines.kubernetes.watch import Watcher

    late: list[float] = []
    done = asyncio.Event()
    began = time.time()

    def heard(change: Change) -> None:
        now = time.time()
        times = [float(note[3:]) for record in change.jobs for note in record.notes if note.startswith("at ")]
        late.extend((now - at) * 1000 for at in times if at > began)
        if len(late) >= int(count):
            done.set()

    api = await Api.open(ClusterSettings(name="bench", kubeconfig=kubeconfig))
    watcher = Watcher(api, Picture("bench"), (namespace,), heard)
    watcher.start()
    await watcher.settled()
    print("ready", flush=True)
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(done.wait(), 300)
    await watcher.aclose()
    await api.aclose()
    print(json.dumps(late), flush=True)
    return {}


if __name__ == "__main__":
    kinds: dict[str, Callable[..., Any]] = {
        "ours": ours, "pauses": pauses, "typed": typed, "bare": bare, "follow": follow,
    }  # fmt: skip
    print(json.dumps(asyncio.run(kinds[sys.argv[1]](*sys.argv[2:]))), flush=True)
    os._exit(0)  # what is to be measured was measured
