"""Real launchers in pod mode on this machine, and something that stands where the API server would.

The stand-in passes requests on to a launcher's port as the API server's proxy does, refuses in its words, and keeps a
copy of the launcher's output as a container runtime and a kubelet do. Tests cut, forbid and remove through it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from jupyter_aiarts.engines.kubernetes.archive import Archive
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.door import PodFacts
from jupyter_aiarts.engines.kubernetes.lacks import Lack
from jupyter_aiarts.engines.kubernetes.settings import read_settings
from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.launcher.freeports import free_ports

JOB = "a123456789"
TOKEN = "5ec2e7"
LAUNCHER = Path(__file__).parents[3] / "jupyter_aiarts" / "launcher" / "__main__.py"
SECOND = 1_000_000_000

CHATTY = """
import os, sys, time
for n in range(20000):
    print("line", n, "x" * (n % 97))
    if n % 10 == 0:
        print("error", n, file=sys.stderr, flush=True)
    if n % 500 == 0:
        sys.stdout.flush(); time.sleep(0.01)
"""
WAITING = """
import os, time
def wait_for(name):
    print("waiting for", name, flush=True)
    while not os.path.exists(name):
        time.sleep(0.01)
wait_for("go")
print("went on", flush=True)
"""


async def until(true: Callable[[], Any], what: str = "it", seconds: float = 30.0) -> Any:
    """For what has no event of its own: another process, or a file."""
    end = time.monotonic() + seconds
    while not (value := true()):
        assert time.monotonic() < end, f"{what} did not come true within {seconds} s"
        await asyncio.sleep(0.01)
    return value


class RuntimeCopy:
    """What a container runtime keeps of the two pipes of a process: lines with the time at which it saw them."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.lines: list[tuple[int, bytes]] = []
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(process,), daemon=True)
        self._thread.start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        chooser, rests = selectors.DefaultSelector(), {}
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            chooser.register(pipe, selectors.EVENT_READ)
            rests[pipe] = b""
        while chooser.get_map():
            for key, _ in chooser.select():
                data = os.read(key.fd, 65536)
                *lines, rests[key.fileobj] = (rests[key.fileobj] + data).split(b"\n")
                self.lines += [(time.time_ns(), line + b"\n") for line in lines]
                if not data:
                    chooser.unregister(key.fileobj)
                    rest = rests[key.fileobj]
                    self.lines += [(time.time_ns(), rest)] if rest else []
                    key.fileobj.close()  # type: ignore[union-attr]
        self.ended.set()


class Pod:
    """A launcher as the main process of a container: its own folder tree, port and output."""

    def __init__(self, root: Path, name: str, node: int = 0, **plan: Any) -> None:
        self.name, self.node, self.root, self.port = name, node, root, free_ports(1)
        self.plan: dict[str, Any] = {
            "schema": 1, "job": JOB, "run": 1, "user": "alice", "queue": "default", "device": "cpu", "nodes": 1,
            "cards": 0, "processes": "node", "framework": "none",
            "start": {"kind": "command", "path": None, "line": "true", "python": sys.executable},
            "args": [], "paths": [], "workdir": str(root), "main_path": str(root), "save_path": str(root / "output"),
            "env": {}, "extra": {}, "secrets_file": None, "devices": [[]], "grants": [{}],
            "master_addr": "127.0.0.1", "master_port": 29512, "grace_seconds": 0.5, "max_restarts": 0,
            "max_seconds": None, "gang_timeout": 15, "meeting": None, "log_limit_bytes": 2**31, "bell": None,
            "regroup": True, "port": self.port, "folder": str(root / "aiarts/run"), **plan,
        }  # fmt: skip
        self.phase = "Running"
        self.process: subprocess.Popen[bytes] | None = None
        self.copy: RuntimeCopy | None = None

    def start(self, script: str) -> Pod:
        """Run a Python text as the job's start file."""
        for part in ("aiarts/job", "aiarts/secret", "aiarts/run", "dev"):
            (self.root / part).mkdir(parents=True, exist_ok=True)
        (self.root / "start.py").write_text(script)
        start = {"kind": "python", "path": str(self.root / "start.py"), "line": None, "python": sys.executable}
        (self.root / "aiarts/job/plan.json").write_text(json.dumps({**self.plan, "start": start}))
        (self.root / "aiarts/secret/token").write_text(TOKEN)
        (self.root / "pod.env").touch()
        environ = {"PATH": os.environ["PATH"], "JOB_COMPLETION_INDEX": str(self.node), "POD_IP": "127.0.0.1"}
        words = [sys.executable, "-I", "-S", str(LAUNCHER), "pod", str(self.root)]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, env=environ, **pipes)
        self.copy = RuntimeCopy(self.process)
        return self

    def written(self, rank: int = 0, stream: str = "stdout") -> bytes:
        """What the launcher itself has on its disk."""
        folder = self.root / "aiarts/run" / f"node-{self.node}" / "log" / str(rank)
        return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{stream}.*.log")))

    @property
    def listens(self) -> bool:
        """Whether its port is open: that is a moment after its ranks began."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self) -> None:
        """Kill the launcher and its ranks at once, as a lost node does."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.phase = "Failed"

    def finish(self) -> None:
        """Wait for its end."""
        assert self.process is not None and self.copy is not None
        self.phase = "Failed" if self.process.wait(30) else "Succeeded"
        assert self.copy.ended.wait(10)

    def close(self) -> None:
        """Leave nothing running."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.copy is not None:
            self.copy.ended.wait(5)

    def facts(self, **more: Any) -> PodFacts:
        """As the engine tells the archive."""
        known: dict[str, Any] = {
            "namespace": "team", "job": JOB, "run": 1, "node": self.node, "name": self.name, "uid": f"uid-{self.name}",
            "phase": self.phase, "port": self.port, "secret": "secret", "job_uid": "job-1", "ranks": (self.node,),
        }  # fmt: skip
        return PodFacts(**{**known, **more})


class StandIn:
    """Stands where the API server would."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.is_proxy_forbidden = False
        self.is_proxy_broken = False
        self.cut_after: Callable[[], int | None] = lambda: None  # bytes of the next answer after which it is cut
        self.pause = 0.0  # seconds between two parts of an answer
        self.asked: list[tuple[str, str, dict[str, str]]] = []  # what (proxy or log), pod, query
        self.instead: Callable[[web.Request], Any] | None = None  # answers in place of a launcher
        self.url = ""
        self._runner: web.AppRunner | None = None
        self._live: set[asyncio.Transport] = set()

    async def open(self) -> StandIn:
        """Listen."""
        app = web.Application()
        app.router.add_get(r"/api/v1/namespaces/team/pods/{pod:[^/:]+}:{port}/proxy/{path:.*}", self._proxy)
        app.router.add_get(r"/api/v1/namespaces/team/pods/{pod:[^/:]+}/log", self._log)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
        return self

    async def close(self) -> None:
        """Cut everybody off."""
        for pod in self.pods.values():
            pod.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def cut_all(self) -> None:
        """Break every connection there is."""
        for transport in list(self._live):
            transport.abort()

    def kubeconfig(self, folder: Path) -> Path:
        """Credentials for whoever asks here."""
        path = folder / "kubeconfig"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "team"}}],
        }
        path.write_text(json.dumps(content))
        return path

    async def _proxy(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["pod"]
        self.asked.append((request.match_info["path"], name, dict(request.query)))
        if self.is_proxy_forbidden:
            said = f'pods "{name}" is forbidden: User "u" cannot get resource "pods/proxy" in API group ""'
            return _status(403, "Forbidden", said)
        if name not in self.pods:
            return _status(404, "NotFound", f'pods "{name}" not found')
        if self.is_proxy_broken:
            return _status(503, "ServiceUnavailable", "error trying to reach service: dial tcp: i/o timeout")
        if self.instead is not None:
            return await self.instead(request)
        return await self._pass_on(request)

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        url = f"http://127.0.0.1:{request.match_info['port']}/{request.match_info['path']}"
        headers = {"X-Aiarts-Token": request.headers.get("X-Aiarts-Token", "")}
        timeout = aiohttp.ClientTimeout(total=None)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.get(url, params=request.query, headers=headers) as answer,
            ):
                return await self._copy(request, answer)
        except aiohttp.ClientConnectorError as error:
            return _status(503, "ServiceUnavailable", f"error trying to reach service: {error}")

    async def _copy(self, request: web.Request, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status)
        await response.prepare(request)
        transport = request.transport
        assert transport is not None
        self._live.add(transport)
        left = self.cut_after()
        try:
            async for data in answer.content.iter_any():
                part = data if left is None else data[:left]
                await response.write(part)
                await asyncio.sleep(self.pause)
                left = None if left is None else left - len(part)
                if left == 0:
                    transport.abort()
                    break
        except ConnectionError:
            pass  # cut off, by us or by who asked
        finally:
            self._live.discard(transport)
        return response

    async def _log(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["pod"]
        self.asked.append(("log", name, dict(request.query)))
        pod = self.pods.get(name)
        if pod is None or pod.copy is None:
            return _status(404, "NotFound", f'pods "{name}" not found')
        response = web.StreamResponse()
        await response.prepare(request)
        transport = request.transport
        assert transport is not None
        self._live.add(transport)
        try:
            await self._send_lines(request, response, pod.copy)
        except ConnectionError:
            pass
        finally:
            self._live.discard(transport)
        return response

    async def _send_lines(self, request: web.Request, response: web.StreamResponse, copy: RuntimeCopy) -> None:
        since = request.query.get("sinceTime")
        oldest = (
            int(datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()) if since else 0
        )
        place, left = 0, self.cut_after()
        while True:
            ended = copy.ended.is_set()
            lines = copy.lines[place:]  # others may come at any moment
            place += len(lines)
            text = b"".join(stamp(t) + b" " + line for t, line in lines if t >= oldest * SECOND)
            if left is not None and len(text) >= left:
                await response.write(text[:left])
                assert request.transport is not None
                request.transport.abort()
                return
            if text:
                await response.write(text)
                left = None if left is None else left - len(text)
            if "follow" not in request.query or (ended and not lines):
                return
            await asyncio.sleep(0.02)


def stamp(t: int) -> bytes:
    """A time as the kubelet writes it."""
    second = datetime.fromtimestamp(t // SECOND, timezone.utc)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{t % SECOND:09d}Z".encode()


def _status(code: int, reason: str, message: str) -> web.Response:
    said = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return web.json_response(said, status=code)


async def open_api(kubeconfig: Path, name: str = "k8s") -> Api:
    """The package's own client."""
    return await Api.open(read_settings(name, {"kubeconfig": str(kubeconfig)}))


async def known_token(namespace: str, secret: str) -> str:
    """In place of the Secret."""
    return TOKEN


def held_bytes(run: Path, rank: int = 0, stream: str = "stdout", node: int = 0) -> bytes:
    """What the archive has of a stream, gaps left out."""
    folder = run / f"node-{node}" / "log" / str(rank)
    return b"".join(path.read_bytes() for path in sorted(folder.glob(f"{stream}.*.log")))


def stamps_of(folder: Path, stream: str = "stdout") -> list[tuple[int, int]]:
    """(offset, time) of every chunk in a rank's folder, where equal times that follow each other count once."""
    found: list[tuple[int, int]] = []
    for path in sorted(folder.glob(f"{stream}.*.idx")):
        content = path.read_bytes()
        start = int(re.findall(r"\d{20}", path.name)[0])
        size = path.with_suffix(".log").stat().st_size
        for place in range(0, len(content) - 15, 16):
            offset, t = (int.from_bytes(content[place + at : place + at + 8], "little") for at in (0, 8))
            if offset < start + size and (not found or found[-1][1] != t):
                found.append((offset, t))
    return found


class Server:
    """One server's archive."""

    def __init__(self, archive: Archive, cluster: StandIn) -> None:
        self.archive, self.cluster = archive, cluster
        self.run = archive.log_folder("team", JOB, 1)

    def keep(self) -> None:
        """Tell the archive what is there now."""
        self.archive.keep([pod.facts() for pod in self.cluster.pods.values()])

    async def until_done(self) -> None:
        """Until everything that can be copied is."""
        self.keep()
        await until(lambda: not self.archive._shelves, "the end of copying", 60)

    async def until_held(self, text: bytes, stream: str = "stdout") -> None:
        await until(lambda: text in held_bytes(self.run, stream=stream), repr(text))

    def texts(self) -> list[str]:
        return [line.text for line in open_log(self.run).walk(LogQuery(), ended=True)]

    def source(self, node: int = 0) -> dict[str, object]:
        found = json.loads((self.run / f"node-{node}" / "source.json").read_text())
        assert isinstance(found, dict)
        return {**found, "missing": [Lack(**one).said() for one in found["missing"]]}


def begin(cluster: StandIn, where: Path, script: str, name: str = "p", **plan: object) -> Pod:
    """A pod that runs this script."""
    cluster.pods[name] = Pod(where / name, name, **plan).start(script)
    return cluster.pods[name]


@contextlib.asynccontextmanager
async def stand_in() -> AsyncIterator[StandIn]:
    """An API server's stand-in with no pods."""
    made = await StandIn().open()
    try:
        yield made
    finally:
        await made.close()


@contextlib.asynccontextmanager
async def serving(cluster: StandIn, folder: Path, **options: Any) -> AsyncIterator[Server]:
    """A server that mirrors into `folder`/state; several on one folder are servers of one owner."""
    state = folder / "state"
    state.mkdir(0o700, exist_ok=True)
    api = await open_api(cluster.kubeconfig(folder))
    archive = Archive(api, state, "k8s", known_token, **options)
    try:
        yield Server(archive, cluster)
    finally:
        await archive.aclose()
        await api.aclose()


async def end(pod: Pod, server: Server) -> None:
    """The pod ends by itself, and the server hears of it."""
    await asyncio.to_thread(pod.finish)
    await server.until_done()
