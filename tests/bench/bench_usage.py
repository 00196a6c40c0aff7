"""What looking at 8 cards and 40 processes costs: a server's event loop and CPU, one look for all, a kernel's panel."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from .measure import ROOT, Aim, Figure, keep, short

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

CHILD = Path(__file__).with_name("usage_child.py")
TOKEN = {"Authorization": "token bench"}
WHAT = "8 cards, 40 processes, once a second"
WINDOW = 6.0  # seconds
ROUNDS = 5
VIEWERS = 50
OF_OURS, OF_RESOURCES, OF_DASHBOARD = "jupyter_aiarts", "jupyter_resource_usage", "jupyterlab_nvdashboard"
Told = dict[str, float]


class Server:
    """One server process of `usage_child`; `samples` counts what its viewers were told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.samples = 0
        self.port = int(self._said())

    def _said(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        return line

    def told(self) -> Told:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return {**json.loads(self._said()), "at": time.monotonic()}

    def request(self, path: str, scheme: str = "http") -> HTTPRequest:
        return HTTPRequest(f"{scheme}://127.0.0.1:{self.port}/{path}", headers=TOKEN)

    async def ask(self, path: str) -> Any:
        return json.loads((await AsyncHTTPClient().fetch(self.request(path))).body)


@contextlib.contextmanager
def server(folder: Path, extension: str, cards: str = "gpu", **environ: str) -> Iterator[Server]:
    folder.mkdir()
    words = [sys.executable, str(CHILD), extension, cards, str(folder)]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env={**os.environ, **environ}
    )
    try:
        yield Server(process)
    finally:
        process.communicate()  # its input ends, so does it


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with jupyterlab-nvdashboard; what it needs is here already."""
    folder = tmp_path_factory.mktemp("peer")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    if subprocess.run([*words, "jupyterlab-nvdashboard"]).returncode:
        pytest.skip("jupyterlab-nvdashboard cannot be had")
    return str(folder)


@contextlib.asynccontextmanager
async def told_by(one: Server, path: str, kind: str | None = None) -> AsyncIterator[None]:
    """A socket that is read, as a page's is; each message, or each of a kind, is a sample."""
    socket = await websocket_connect(one.request(path, "ws"))

    async def read() -> None:
        while (text := await socket.read_message()) is not None:
            one.samples += kind is None or json.loads(text).get("type") == kind

    reading = asyncio.ensure_future(read())
    try:
        yield
    finally:
        reading.cancel()
        socket.close()


@contextlib.asynccontextmanager
async def watching(one: Server) -> AsyncIterator[None]:
    """Ours, as a panel in a cell does it: asked once, then told by the stream."""
    async with told_by(one, "aiarts/stream", "usage"):
        await one.ask("aiarts/usage?history=600")
        yield


@contextlib.asynccontextmanager
async def asking(one: Server) -> AsyncIterator[None]:
    """jupyter-resource-usage, as its status bar does it, though not every 5 s as by default: once a second."""

    async def ask() -> None:
        while True:
            answer = await one.ask("api/metrics/v1")
            assert answer["rss"] > 0
            one.samples += 1
            await asyncio.sleep(1.0)

    task = asyncio.ensure_future(ask())
    try:
        yield
    finally:
        task.cancel()


@contextlib.asynccontextmanager
async def dashing(one: Server) -> AsyncIterator[None]:
    """jupyterlab-nvdashboard, with the two of its pages that show what ours does: all GPUs, and the machine."""
    async with told_by(one, "nvdashboard/gpu_resource"), told_by(one, "nvdashboard/cpu_resource", "never"):
        yield


async def window(one: Server, way: Callable[[Server], Any], seconds: float = WINDOW) -> Told:
    """What each sample cost in milliseconds, and how much of a core the process took."""
    async with way(one):
        await asyncio.sleep(1.5)  # greetings are over
        before, one.samples = one.told(), 0
        await asyncio.sleep(seconds)
        count, after = one.samples, one.told()
    assert count >= seconds / 2, f"only {count} samples"
    spent = {name: after[name] - before[name] for name in ("loop", "clock", "thread", "process", "tools", "at")}
    each = {name: spent[name] * 1000 / count for name in ("loop", "clock", "thread")}
    return {
        **each,
        "longest": after["longest"] * 1000,
        **{k: spent[k] / spent["at"] * 100 for k in ("process", "tools")},
    }


def seen(records: list[Told], name: str) -> list[float]:
    return [one[name] for one in records]


def median(records: list[Told], name: str) -> float:
    return short(statistics.median(seen(records, name)))


async def test_event_loop_and_cpu(tmp_path: Path, dashboard: str, huawei: str) -> None:
    """All in one run, in turns. Our server for NPUs has no GPU: there a look is a run of Huawei's tool."""
    path = f"{huawei}{os.pathsep}{os.environ['PATH']}"
    with (
        server(tmp_path / "ours", OF_OURS) as ours,
        server(tmp_path / "npus", OF_OURS, "npu", PATH=path) as npus,
        server(tmp_path / "resources", OF_RESOURCES) as resources,
        server(tmp_path / "dashboard", OF_DASHBOARD, PYTHONPATH=dashboard) as dashing_one,
    ):
        assert len((await ours.ask("aiarts/usage"))["devices"]) == len((await npus.ask("aiarts/usage"))["devices"]) == 8
        ways = ((ours, watching), (npus, watching), (resources, asking), (dashing_one, dashing))
        rounds = [[await window(one, way) for one, way in ways] for _ in range(ROUNDS + 1)][1:]
    gpu, npu, resource, dash = ([one[place] for one in rounds] for place in range(4))
    title = f"CPU of the event loop's callbacks for each sample: {WHAT}"
    aim = Aim(by="ours", bound=1.0)
    figures = {
        "11 usage, event loop, resource-usage": ("jupyter-resource-usage, a child for each process", resource),
        "11 usage, event loop, nvdashboard": (
            "jupyterlab-nvdashboard, a driver that answers at once: a real one adds its own time here, and not to ours",
            dash,
        ),
    }
    names = {"clock": "by the clock, ms", "longest": "longest piece, ms", "thread": "with asyncio's own part, ms"}
    for key, (name, peer) in figures.items():
        more: dict[str, Any] = {
            shown: {"ours": median(gpu, of), "ours, NPUs": median(npu, of), "peer": median(peer, of)}
            for of, shown in names.items()
        }
        more["ours, NPUs, ms"] = median(npu, "loop")
        samples = {"ours": seen(gpu, "loop"), "peer": seen(peer, "loop")}
        keep(key, Figure(title=title, unit="ms", peer_name=name, aim=aim, more=more, **samples))
    for key, kind, records in (("11 usage, CPU, GPUs", "GPUs", gpu), ("11 usage, CPU, NPUs", "NPUs", npu)):
        keep(
            key,
            Figure(
                title=f"CPU of the server that looks and tells one viewer: 8 {kind}, 40 processes, once a second",
                unit="% of a core",
                peer_name="jupyter-resource-usage asked as often",
                ours=seen(records, "process"),
                peer=seen(resource, "process"),
                aim=Aim(by="ours", bound=0.5),
                more={
                    "the driver's tool, % of a core": median(records, "tools"),
                    "nvdashboard": median(dash, "process"),
                },
            ),
        )


@pytest.fixture
def huawei(tmp_path: Path) -> str:
    """A folder with an `npu-smi` of 8 cards and 40 programs; each run is noted in `runs`."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "said").write_text(told_by_huawei())
    tool = folder / "npu-smi"
    tool.write_text(f'#!/bin/sh\necho run >> "{folder}/runs"\nexec cat "{folder}/said"\n')
    tool.chmod(0o755)
    return str(folder)


def told_by_huawei() -> str:
    """The recorded form of a driver, with more cards and programs than were recorded."""
    form = (ROOT / "tests/launcher/usage/npu_smi/10_910B4_26.0_wide_five_columns.txt").read_text().splitlines()
    cards = [line.replace("| 0  ", f"| {number}  ", 1) for number in range(8) for line in (form[6], *form[7:9])]
    # The second row of a card begins with the number of its chip, which stays 0.
    rows = [form[7] if place % 3 == 1 else line for place, line in enumerate(cards)]
    programs = [
        f"| {card}       0                 | {700000 + 10 * card + one} | python             | 2714 | {410 + one} |"
        for card in range(8)
        for one in range(5)
    ]
    return "\n".join([*form[:6], *rows, *form[12:15], *programs, form[-1], ""])


async def looks(one: Server, runs: Path, viewers: int, seconds: int = 10) -> float:
    """Runs of the tool in a while, with so many pages open that each also ask by themselves."""
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(viewers):
            await stack.enter_async_context(told_by(one, "aiarts/stream", "usage"))
        await one.ask("aiarts/usage")
        before = runs.read_text().count("run")
        for _ in range(seconds):
            await asyncio.gather(*(one.ask("aiarts/usage") for _ in range(viewers)), asyncio.sleep(1.0))
        return float(runs.read_text().count("run") - before)


async def test_one_look_for_all(tmp_path: Path, huawei: str) -> None:
    runs = Path(huawei, "runs")
    with server(tmp_path / "npus", OF_OURS, "npu", PATH=f"{huawei}{os.pathsep}{os.environ['PATH']}") as one:
        await one.ask("aiarts/usage")
        pairs = [(await looks(one, runs, VIEWERS), await looks(one, runs, 1)) for _ in range(3)]
    keep(
        "11 usage, one look for all",
        Figure(
            title=f"Looks at the cards in 10 s, {VIEWERS} viewers who each read the stream and ask once a second",
            unit="looks",
            peer_name="the same with one viewer",
            ours=[pair[0] for pair in pairs],
            peer=[pair[1] for pair in pairs],
            aim=Aim(by="ratio", bound=1.1),
        ),
    )


PANEL = """
import json, statistics, time
import ipywidgets
import jupyter_aiarts as aiarts
from jupyter_aiarts.kernel.usage import Usage
from jupyter_aiarts.kernel.widgets.panel import Panel
client = aiarts.connect()
panel = Panel(Usage(client.usage(), client))
bare = ipywidgets.HTML()
ours, peer, clock = [], [], []
for turn in range(61):
    began, spent = time.perf_counter(), time.process_time()
    panel._take(*panel._asked())
    ours.append((time.process_time() - spent) * 1000)
    clock.append((time.perf_counter() - began) * 1000)
    text = json.dumps(panel.view.bars)
    assert text.count(" utilization") == 8, text
    spent = time.process_time()
    bare.value = text + str(turn)
    peer.append((time.process_time() - spent) * 1000)
print(json.dumps({"ours": ours[1:], "peer": peer[1:], "clock": statistics.median(clock[1:])}))
"""


async def test_panel(tmp_path: Path, huawei: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a real kernel, whose messages go to a client that reads them, as a front end's do."""
    from jupyter_client.manager import start_new_async_kernel

    with server(tmp_path / "npus", OF_OURS, "npu", PATH=f"{huawei}{os.pathsep}{os.environ['PATH']}") as one:
        monkeypatch.setenv("AIARTS_SERVER", f"http://127.0.0.1:{one.port}/")
        monkeypatch.setenv("AIARTS_TOKEN", "bench")
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        manager, client = await start_new_async_kernel(cwd=str(tmp_path))
        said: list[str] = []

        def hear(message: Any) -> None:
            said.append(str(message["content"].get("text", "") or message["content"].get("traceback", "")))

        try:
            await client.execute_interactive(PANEL, output_hook=hear, timeout=120)
        finally:
            client.stop_channels()
            await manager.shutdown_kernel(now=True)
    taken = json.loads("".join(said))
    keep(
        "11 usage, panel in a kernel",
        Figure(
            title="CPU of a kernel for each update of a panel of widgets with 8 cards: asked for, drawn and sent",
            unit="ms",
            peer_name="the same numbers as text in a bare `ipywidgets.HTML`",
            ours=taken["ours"],
            peer=taken["peer"],
            aim=Aim(by="ours", bound=5.0),
            more={"by the clock, the server's answer included, ms": short(taken["clock"])},
        ),
    )
