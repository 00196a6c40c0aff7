"""Panels of widgets, for front ends that run them and do not know our mime type."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import jupyter_aiarts as aiarts
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.live import MIME
from jupyter_aiarts.kernel.transport import HttpTransport
from jupyter_aiarts.kernel.usage import Usage
from jupyter_aiarts.kernel.widgets.beside import beside
from jupyter_aiarts.kernel.widgets.wanted import wants_widgets

from .test_usage_verb import NASTY, a_card, a_node, a_page

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.mark.parametrize(
    ("environ", "modules", "wanted"),
    [
        ({}, {}, False),
        ({"JPY_PARENT_PID": "1"}, {"ipywidgets": None}, False),
        ({"VSCODE_PID": "1"}, {}, True),
        ({}, {"google.colab": None}, True),
        ({"AIARTS_WIDGETS": "1"}, {}, True),
        ({"VSCODE_PID": "1", "AIARTS_WIDGETS": "0"}, {}, False),
    ],
)
def test_widgets_are_for_front_ends_that_know_nothing_of_our_type(
    environ: dict[str, str], modules: dict[str, Any], wanted: bool
) -> None:
    assert wants_widgets(environ, modules) is wanted


def test_looking_at_a_job_in_jupyterlab_loads_no_widgets() -> None:
    code = "import sys, jupyter_aiarts.kernel.api; sys.exit(bool({'ipywidgets', 'anywidget'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def panels() -> Iterator[Callable[[Any], Any]]:
    """Makes panels, and closes them."""
    from jupyter_aiarts.kernel.widgets.panel import Panel

    made: list[Panel] = []

    def make(shown: Any) -> Panel:
        made.append(Panel(shown))
        return made[-1]

    yield make
    for one in made:
        one.close()


def says(panel: Any) -> str:
    return "\n".join(line["text"] for line in panel.view.lines)


def test_the_view_is_in_the_bundle_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, script: Callable[..., str]
) -> None:
    monkeypatch.setenv("AIARTS_WIDGETS", "1")
    found = aiarts.submit(script("pass"))._repr_mimebundle_()
    assert found[WIDGET]["model_id"] and found[MIME]["kind"] == "job"
    assert "text/plain" in found and "text/html" in found


def test_of_a_server_that_the_page_does_not_have_there_are_widgets_and_nothing_for_the_page_to_ask(
    monkeypatch: pytest.MonkeyPatch, script: Callable[..., str]
) -> None:
    """Widgets ask by the kernel's own client."""
    job = aiarts.submit(script("pass")).wait(30)
    found = aiarts.jobs(phase="succeeded")
    monkeypatch.setattr(job._client.transport, "where", "http://elsewhere:8888")
    for shown in (job, found):
        monkeypatch.setenv("AIARTS_WIDGETS", "1")
        bundle = shown._repr_mimebundle_()
        assert bundle[WIDGET]["model_id"] and MIME not in bundle
        monkeypatch.setenv("AIARTS_WIDGETS", "0")
        assert set(shown._repr_mimebundle_()) == {"text/plain", "text/html"}
    monkeypatch.setenv("AIARTS_WIDGETS", "1")
    assert WIDGET not in api.Jobs.of(job._client, [job.data])._repr_mimebundle_(), "nobody knows what to ask for"


def test_a_server_that_fails_while_the_view_is_made_takes_nothing_else_away(
    monkeypatch: pytest.MonkeyPatch, script: Callable[..., str]
) -> None:
    monkeypatch.setenv("AIARTS_WIDGETS", "1")
    job = aiarts.submit(script("pass")).wait(30)
    job.delete()  # so that what the view asks for is refused
    found = job._repr_mimebundle_()
    assert {"text/plain", "text/html", MIME} <= found.keys() and WIDGET not in found


def test_a_machine_that_answers_slowly_is_still_asked_every_ten_seconds(
    panels: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What takes long is the server, and not this kernel."""
    from jupyter_aiarts.kernel.widgets import panel as panel_room

    rests: list[float] = []
    panel = panels(Usage(a_page(a_card())))
    asked = panel._asked
    monkeypatch.setattr(panel, "_asked", lambda: (time.sleep(0.3), asked())[1])
    panel._seen_at = time.monotonic()

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        if len(rests) == 2:
            panel._seen_at = None

    monkeypatch.setattr(panel_room.asyncio, "sleep", rest)
    asyncio.run(panel._follow())
    assert rests[1] == panel_room.SELDOM


def test_buttons_stop_and_run_again(script: Callable[..., str], panels: Callable[[Any], Any]) -> None:
    job = aiarts.submit(script("import time; print('<b>up</b>', flush=True); time.sleep(600)"), name="<i>held")
    panel = panels(job)
    shown = {name for name, button in panel.buttons.items() if button.layout.display is None}
    assert shown == {"refresh", "stop"}
    while "<b>up</b>" not in says(panel):  # a line is text for the view, so nothing in it is escaped
        panel.press("refresh")
    assert "&lt;i&gt;held" in panel.view.html and "<i>" not in panel.view.html
    panel.press("stop")
    assert "Really" in panel.buttons["stop"].description and job.refresh().phase != "stopped"
    panel.press("stop")
    job.wait(30)
    panel.press("refresh")
    assert job.phase == "stopped"
    assert panel.buttons["rerun"].layout.display is None and panel.buttons["stop"].layout.display == "none"


def test_what_goes_wrong_is_a_sentence_in_the_panel(script: Callable[..., str], panels: Callable[[Any], Any]) -> None:
    job = aiarts.submit(script("pass")).wait(30)
    panel = panels(job)
    job.delete()
    panel.press("rerun")
    assert job.id in panel.said.value and "<pre>" in panel.said.value


def ours() -> set[threading.Thread]:
    """Threads but those of the service in this process, which stands for a server."""
    return {one for one in threading.enumerate() if not one.name.startswith(("asyncio_", "aiarts-host"))}


def test_a_panel_follows_while_it_is_seen_ends_with_the_job_and_leaves_no_thread(
    script: Callable[..., str], panels: Callable[[Any], Any], nothing_around: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_aiarts.kernel.widgets import panel as room

    monkeypatch.setattr(room, "EVERY", 0.05)
    waiting = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)\nprint('last words')\n"
    job = aiarts.submit(script(waiting))
    before = ours()

    async def kernel() -> None:
        panel = panels(job)
        panel.follow()
        assert panel._task is None, "nobody sees it yet"
        panel.view._handle_custom_msg({"seen": True}, [])
        assert panel._task is not None
        panel.view._handle_custom_msg({"seen": False}, [])
        await asyncio.wait_for(panel._task, 30)  # and nothing is asked for nobody
        panel.view._handle_custom_msg({"seen": True}, [])
        (nothing_around / "go").touch()
        await asyncio.wait_for(panel._task, 30)
        assert "last words" in says(panel)

    asyncio.run(kernel())
    assert job.ended
    for thread in ours() - before:
        thread.join(10)  # it may be about to end: the answer was its last deed
    assert ours() <= before


def test_the_page_is_told_that_a_job_is_over_so_that_it_says_nothing_more(
    script: Callable[..., str], panels: Callable[[Any], Any], nothing_around: Path
) -> None:
    """Each of its messages would have the kernel work, and count as work in it, for as long as the panel is seen."""
    waiting = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)\n"
    job = aiarts.submit(script(waiting))
    panel = panels(job)
    assert panel.view.goes_on
    (nothing_around / "go").touch()
    job.wait(30)
    panel.press("refresh")
    assert not panel.view.goes_on and "goes_on" in panel.view.get_state()
    panel.press("rerun")
    assert panel.view.goes_on
    job.wait(30)
    assert not panels(job).view.goes_on


def test_the_page_hears_when_the_kernel_has_heard_it(panels: Callable[[Any], Any]) -> None:
    """Until then it says nothing more: a kernel whose cell trains for a night is not to find a heap of messages."""
    view = panels(Usage(a_page(a_card()))).view
    before = view.get_state()["answered"]
    view._handle_custom_msg({"seen": True}, [])
    view._handle_custom_msg({"seen": False}, [])
    view._handle_custom_msg({"<b>": None}, [])
    assert view.get_state()["answered"] == before + 2


def test_a_page_that_is_closed_without_a_word_is_not_asked_for_for_ever(
    panels: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_aiarts.kernel.widgets import panel as room

    monkeypatch.setattr(room, "EVERY", 0.01)
    monkeypatch.setattr(room, "FORGOTTEN", 0.2)

    async def kernel() -> None:
        panel = panels(Usage(a_page(a_card())))
        panel.look(True)
        await asyncio.wait_for(panel._task, 30)

    asyncio.run(kernel())


def test_a_server_that_hangs_holds_up_no_cell(panels: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the question and does not answer: the kernel's loop goes on, and how it ends is said."""
    from jupyter_aiarts.kernel.widgets import panel as room

    monkeypatch.setattr(room, "EVERY", 0.01)

    async def kernel(server: socket.socket) -> None:
        shown = Usage(a_page(a_card()))
        panel = panels(shown)
        shown._client = Client(HttpTransport(f"http://127.0.0.1:{server.getsockname()[1]}/", timeout=60.0))
        panel.look(True)
        loop = asyncio.get_running_loop()
        asked, _ = await loop.sock_accept(server)  # by the same loop: it is not held up by whoever waits
        asked.setblocking(False)
        assert (await loop.sock_recv(asked, 1 << 16)).startswith(b"GET /aiarts/usage")
        assert not panel._task.done() and panel.said.value == ""
        asked.close()
        await asyncio.wait_for(panel._task, 30)
        assert "127.0.0.1" in panel.said.value

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        asyncio.run(kernel(server))


async def test_what_is_asked_beside_the_loop_is_answered_or_raised_there() -> None:
    assert await beside(lambda: threading.current_thread().name) == "aiarts-panel"
    with pytest.raises(ZeroDivisionError):
        await beside(lambda: 1 // 0)


def test_cards_are_bars_with_their_past_and_unknown_is_no_number(panels: Callable[[Any], Any]) -> None:
    panel = panels(Usage(a_page(a_card(name=NASTY), a_card(id=1, utilization=None, health="alarm"))))
    panel.press("refresh")
    bars = {bar["key"]: bar for bar in panel.view.bars}
    assert (bars["npu 0 utilization"]["points"], bars["npu 0 utilization"]["whole"]) == ([71.0, 71.0], 100.0)
    assert bars["npu 1 utilization"]["points"] == [None, None] and bars["npu 1 utilization"]["value"] is None
    assert bars["npu 1 utilization"]["text"] == "? · 211 W · 49 °C · alarm"
    assert bars["memory"]["text"].endswith("this container's") and bars["npu 0 memory"]["whole"] == 32768.0
    assert "\x1b" not in json.dumps(panel.view.bars) and "\\u001b" not in json.dumps(panel.view.bars)
    for _ in range(100):
        panel.press("refresh")
    assert len(panel.view.bars[0]["points"]) == 60


def test_the_past_begins_with_what_the_server_remembers() -> None:
    class Remembers:
        def usage(self, history: int | None = None) -> dict[str, Any]:
            return {**a_page(), "history": {"times": [1, 2, 3], "series": {"cpu": [1.0, None, 3.0]}}}

    client: Any = Remembers()
    assert Usage(a_page(), client).past(120, 60) == {"cpu": [1.0, 3.0]}
    assert Usage(a_page()).past(120, 60) == {}


def test_a_jobs_cards_are_what_they_do_and_when_it_is_over_what_they_did() -> None:
    from jupyter_aiarts.kernel.usage import job_bars

    page = {"nodes": [a_node()]}
    [now], [over] = job_bars(page, False, "en"), job_bars(page, True, "zh")
    assert (now.value, now.text.split(" · ")[0], now.is_drawn) == (None, "?", True)
    assert (over.value, over.text.split(" · ")[0], over.is_drawn) == (40.2, "40 % 平均", False)
