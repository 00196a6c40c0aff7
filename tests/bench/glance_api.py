"""An API server on paper for one measurement: it lists 1,000 nodes and 10,000 pods, and its watches stay silent.

Run as a program with the port's file as its argument; what the cluster's own parts would do is not measured here.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
from aiohttp import web

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.engines.kubernetes.glancing import node_json, pod_json

MACHINES, EACH = 1_000, 10  # pods of a node: 6 with a card, 4 without


def listed(kind: str, items: list[object]) -> bytes:
    return msgspec.json.encode({"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "9"}, "items": items})


def lists() -> dict[str, bytes]:
    """By the end of a path: all nodes, everybody's pods."""
    owners = [f"user-{number:02}" for number in range(40)]
    pods = [
        pod_json(f"train-b{node:05}{number:04}-1-0-xyz", f"node-{node:04}", int(number < 6),
                 job=f"b{node:05}{number:04}", owner=owners[(node + number) % len(owners)])
        for node in range(MACHINES) for number in range(EACH)
    ]  # fmt: skip
    return {"/api/v1/nodes": listed("NodeList", [node_json(f"node-{node:04}") for node in range(MACHINES)]),
            "/api/v1/pods": listed("PodList", list(pods))}  # fmt: skip


async def review(request: web.Request) -> web.Response:
    """Whoever asks is alice and may see everything."""
    return web.json_response({"status": {"allowed": True, "userInfo": {"username": "alice"}}}, status=201)


async def serve(port_file: Path) -> None:
    known, nothing = lists(), listed("List", [])

    async def get(request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/apis/kueue") or request.path.startswith("/apis/visibility"):
            return web.json_response({"kind": "Status", "code": 404, "reason": "NotFound"}, status=404)
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return web.Response(status=400)
        if request.query.get("watch"):
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            await asyncio.Event().wait()
        return web.Response(body=known.get(request.path, nothing), content_type="application/json")

    app = web.Application()
    app.router.add_post("/{path:.*}", review)
    app.router.add_get("/{path:.*}", get)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port_file.write_text(str(runner.addresses[0][1]))
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
