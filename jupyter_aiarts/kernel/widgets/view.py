"""Charts and logs of a panel, drawn by `view.js` in whatever front end runs anywidget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import anywidget
from traitlets import Bool, Int, List, Unicode

HERE = Path(__file__).parent


class View(anywidget.AnyWidget):
    """What a panel shows below its buttons. The page says by a message whether anybody sees it."""

    # Text and not a path: for a path anywidget may have a thread watch the file.
    _esm = (HERE / "view.js").read_text(encoding="utf-8")
    _css = (HERE / "view.css").read_text(encoding="utf-8")
    html = Unicode().tag(sync=True)
    bars: Any = List().tag(sync=True)
    lines: Any = List().tag(sync=True)
    log_name = Unicode().tag(sync=True)
    goes_on = Bool().tag(sync=True)  # else the page says nothing
    answered = Int().tag(sync=True)  # how often the page was heard: it waits for that before it says so again

    def on_sight(self, called: Callable[[bool], None]) -> None:
        """Call it with whether the view is seen, now and again while it is."""

        def heard(_: Any, content: Any, __: Any) -> None:
            if isinstance(content, dict) and isinstance(content.get("seen"), bool):
                called(content["seen"])
                self.answered += 1

        self.on_msg(heard)
