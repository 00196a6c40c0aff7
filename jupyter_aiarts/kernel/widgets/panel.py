"""One value with its buttons, looked at again while somebody sees it.

A task of the kernel's own loop decides when, so nothing is asked while a cell runs: training has the kernel to itself.
The question itself is asked beside the loop, so that a server that hangs holds up no cell; its thread ends with the
answer. Between questions is a hundred times as long as the last one took: at most a hundredth of an idle kernel's time.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Mapping, Optional, Tuple

from jupyter_aiarts.kernel import pages
from jupyter_aiarts.kernel.display import error_text
from jupyter_aiarts.kernel.errors import ClientError, WrongUsage
from jupyter_aiarts.kernel.faces import Bar, Face
from jupyter_aiarts.kernel.shown import Shown
from jupyter_aiarts.kernel.words import default_lang

EVERY = 2.0
SELDOM = 10.0  # seconds between two questions at most: what is slow is mostly the server, and not this kernel
FORGOTTEN = 60.0  # seconds after which a page that has said nothing is taken for closed
POINTS = 60  # of a line
WORDS: Dict[str, Tuple[str, str]] = {
    "refresh": ("Refresh", "刷新"),
    "stop": ("Stop", "停止"),
    "sure": ("Really stop?", "确定停止？"),
    "rerun": ("Run again", "再次运行"),
    "log": ("End of the log", "日志末尾"),
}


class Panel:
    """The widgets around one value; `box` is what a cell shows."""

    def __init__(self, shown: Shown) -> None:
        widgets, made = _ready()
        self._shown = shown
        self._lang = shown._lang or default_lang()
        self._task: Optional[asyncio.Task[None]] = None
        self._deed: Optional[asyncio.Task[None]] = None
        self._sure = False
        self._seen_at: Optional[float] = None
        self._past: Dict[str, Deque[Optional[float]]] = {
            key: deque(values, POINTS) for key, values in shown.past(POINTS * EVERY, POINTS).items()
        }
        self.said = widgets.HTML()
        self.view = made(log_name=self._word("log"))
        self.view.on_sight(self.look)
        self.buttons: Dict[str, Any] = {name: widgets.Button() for name in ("refresh", "stop", "rerun")}
        for name, button in self.buttons.items():
            button.on_click(lambda _, name=name: self.press(name))
        self.box = widgets.VBox([widgets.HBox(list(self.buttons.values())), self.said, self.view])
        self._take(shown, shown.face(self._lang))

    def press(self, name: str) -> None:
        """What a button does; stopping asks once more by the button itself."""
        if name == "stop" and not self._sure:
            self._sure = True
            self._draw_buttons()
            return
        self._sure = False
        try:
            self._deed = asyncio.get_running_loop().create_task(self._do(name))  # a loop alone would not keep it
        except RuntimeError:  # no loop, as in a script: then at once
            self._try(lambda: self._done(name))

    def look(self, is_seen: bool) -> None:
        """Somebody sees it, or nobody any more; said by the page, and said again while it is so."""
        self._seen_at = time.monotonic() if is_seen else None
        if is_seen:
            self.follow()

    def follow(self) -> None:
        """Look again every now and then while there is something to see, somebody sees it and a loop does it."""
        if not self._is_followed or (self._task is not None and not self._task.done()):
            return
        try:
            self._task = asyncio.get_running_loop().create_task(self._follow())
        except RuntimeError:  # no loop: the buttons are all there is
            self._task = None

    def close(self) -> None:
        """Look no more, and take the widgets out of the kernel."""
        if self._task is not None:
            self._task.cancel()
        for widget in (self.said, self.view, *self.buttons.values(), *self.box.children, self.box):
            widget.close()

    @property
    def _is_followed(self) -> bool:
        is_seen = self._seen_at is not None and time.monotonic() - self._seen_at < FORGOTTEN
        return is_seen and self._shown.goes_on and self.box.comm is not None

    async def _follow(self) -> None:
        from jupyter_aiarts.kernel.widgets.beside import beside

        pause = max(EVERY - (time.monotonic() - self._taken_at), 0.0)  # what was out of sight is new at once
        while self._is_followed:
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                found = await beside(self._asked)
            except ClientError as error:
                self._say(error)
                return  # until the page says again that it is seen
            self._say(None)
            self._take(*found)
            pause = min(max(EVERY, 100 * (time.monotonic() - began)), SELDOM)

    async def _do(self, name: str) -> None:
        """A button, beside the loop; no button can be pressed meanwhile."""
        from jupyter_aiarts.kernel.widgets.beside import beside

        self._enable(False)
        try:
            found = await beside(lambda: self._done(name))
        except ClientError as error:
            self._say(error)
        else:
            self._say(None)
            self._take(*found)
        finally:
            self._enable(True)
        self._draw_buttons()
        self.follow()

    def _done(self, name: str) -> Tuple[Shown, Face]:
        if name != "refresh":
            getattr(self._shown, name)()
        return self._asked()

    def _asked(self) -> Tuple[Shown, Face]:
        """What the server says now. Touches no widget: it may be asked beside the loop."""
        shown = self._shown.again()
        return shown, shown.face(self._lang)

    def _try(self, deed: Callable[[], Tuple[Shown, Face]]) -> None:
        try:
            found = deed()
        except ClientError as error:
            self._say(error)
        else:
            self._say(None)
            self._take(*found)

    def _say(self, error: Optional[ClientError]) -> None:
        self.said.value = "" if error is None else pages.log_html([error_text(error)])

    def _take(self, shown: Shown, face: Face) -> None:
        """Show one look: what has not changed is not sent again."""
        self._shown, self._taken_at = shown, time.monotonic()
        self.view.html = face.html
        self.view.bars = [self._with_past(bar) for bar in face.bars]
        self.view.lines = list(face.lines)
        self.view.goes_on = shown.goes_on
        self._draw_buttons()

    def _with_past(self, bar: Bar) -> Mapping[str, Any]:
        points: List[Optional[float]] = []
        if bar.is_drawn:
            past = self._past.setdefault(bar.key, deque(maxlen=POINTS))
            past.append(bar.value)
            points = list(past)
        return {
            "key": bar.key, "label": bar.label, "text": bar.text, "value": bar.value, "whole": bar.whole,
            "points": points,
        }  # fmt: skip

    def _enable(self, can: bool) -> None:
        for button in self.buttons.values():
            button.disabled = not can

    def _draw_buttons(self) -> None:
        moves: List[str] = getattr(self._shown, "moves", [])
        for name, button in self.buttons.items():
            button.description = self._word("sure" if name == "stop" and self._sure else name)
            button.layout.display = None if name == "refresh" or name in moves else "none"

    def _word(self, name: str) -> str:
        return WORDS[name][self._lang == "zh"]


def _ready() -> Tuple[Any, Any]:
    """ipywidgets, and the view that anywidget draws."""
    try:
        import ipywidgets

        from jupyter_aiarts.kernel.widgets.view import View
    except ImportError:
        raise WrongUsage("A panel with buttons needs anywidget.", "pip install anywidget") from None
    return ipywidgets, View
