"""What verbs answer with: plain values that show themselves in a cell and in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional

from jupyter_aiarts.kernel import display, pages
from jupyter_aiarts.kernel.errors import ClientError
from jupyter_aiarts.kernel.faces import Face
from jupyter_aiarts.kernel.live import MIME
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.widgets.wanted import wants_widgets
from jupyter_aiarts.kernel.words import default_lang, say

if TYPE_CHECKING:
    from jupyter_aiarts.kernel.apply import Applied
    from jupyter_aiarts.kernel.client import Client
    from jupyter_aiarts.kernel.fixing import Fixed


class Shown:
    """Something with a text and an HTML face; `_lang` is the language it was asked for in."""

    _lang: Optional[str] = None

    def text(self, style: Style) -> str:
        """How it reads in a terminal."""
        raise NotImplementedError

    def html(self, lang: str) -> str:
        """How it looks in a cell; everything from outside escaped."""
        return pages.log_html(self.text(Style(lang)).split("\n"))

    def live(self) -> Optional[Dict[str, Any]]:
        """What a page with our labextension draws in its place, kept up to date by itself; None for nothing."""
        return None

    goes_on = False  # whether it may be another one when it is asked for again

    @property
    def has_panel(self) -> bool:
        """Whether widgets show more of it than text and HTML; they ask by its own client, whatever server that has."""
        return self.goes_on

    def again(self) -> Shown:
        """The same, asked for again."""
        return self

    def face(self, lang: str) -> Face:
        """How it looks in a panel with buttons; may ask the server for more of it."""
        return Face(self.html(lang))

    def past(self, seconds: float, points: int) -> Dict[str, List[Optional[float]]]:
        """What the bars of its face were in the last seconds, by their keys, where somebody kept it."""
        return {}

    def panel(self) -> Any:
        """It with its buttons, as widgets; for front ends that run them and do not know our own type."""
        from jupyter_aiarts.kernel.widgets.panel import Panel

        return Panel(self).box

    def __repr__(self) -> str:
        return self.text(Style(self._lang or default_lang()))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        """Called by IPython when the value is a cell's result."""
        bundle: Dict[str, Any] = {"text/plain": repr(self), "text/html": self.html(self._lang or default_lang())}
        drawn = self.live()
        if drawn is not None:
            bundle[MIME] = drawn
        if (drawn is not None or self.has_panel) and wants_widgets():
            bundle.update(self._view())
        return bundle

    def _view(self) -> Dict[str, Any]:
        """The panel of widgets; nothing where the server does not answer just now: text and HTML are there already."""
        try:
            view = self.panel()._repr_mimebundle_()
        except ClientError:
            return {}
        return {kind: data for kind, data in view.items() if "widget-view" in kind}


class Said(Shown):
    """A finished sentence, such as "Deleted name (id)"."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    def text(self, style: Style) -> str:
        return self.sentence

    def html(self, lang: str) -> str:
        return "".join(f"<div>{pages.text(line)}</div>" for line in self.sentence.split("\n"))


class Explanation(Shown):
    """Why a job is as it is: `code`, `title`, `why`, `evidence`, `actions`; `fix(1)` does the first of them."""

    def __init__(self, data: Mapping[str, Any], client: Optional[Client] = None, job: Optional[str] = None) -> None:
        self._client, self._job = client, job
        self.data = dict(data)
        self.code: str = data["code"]
        self.title: str = data["title"]
        self.why: str = data.get("why") or ""
        self.evidence: List[str] = list(data.get("evidence") or ())
        self.actions: List[Dict[str, Any]] = list(data.get("actions") or ())

    def fix(self, number: int, dry_run: bool = False, **values: Any) -> Fixed:
        """Do what action `number` (from 1) says, or only show it; `values` are keys that it asks for."""
        from jupyter_aiarts.kernel.fixing import fixed

        return fixed(self._client, self._job, self.data, number, dry_run, values)

    def text(self, style: Style) -> str:
        return display.explanation_text(self.data, style)

    def html(self, lang: str) -> str:
        return pages.explanation_html(self.data)


class DryRun(Shown):
    """What submitting would do: `spec`, `fits` (None for unknown), `explanation`, `notes`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = dict(data)
        self.spec: Dict[str, Any] = data["spec"]
        self.fits: Optional[bool] = data.get("fits")
        self.explanation = Explanation(data["explanation"]) if data.get("explanation") else None
        self.notes: List[str] = list(data.get("notes") or ())

    def text(self, style: Style) -> str:
        return display.dry_run_text(self.data, style)


class Line(str):
    """One log line: its text, with `rank`, `node`, `stream`, `t` and `seq` beside it."""

    rank: int
    node: int
    stream: str
    t: str
    seq: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Line:
        """From a log line's JSON."""
        line = cls(data["text"])
        line.rank, line.node, line.stream = data["rank"], data["node"], data["stream"]
        line.t, line.seq = data["t"], data["seq"]
        return line


class Log(List[Line], Shown):
    """Log lines; with none, `why_empty` says why."""

    def __init__(
        self, lines: Iterable[Mapping[str, Any]], why_empty: Optional[str] = None, tagged: bool = False
    ) -> None:
        self.data = [dict(line) for line in lines]
        super().__init__(Line.of(line) for line in self.data)
        self.why_empty = why_empty
        self.tagged = tagged

    def text(self, style: Style) -> str:
        if not self.data:
            return self.why_empty or say(style.lang, "no-log")
        return "\n".join(display.line_text(line, style, self.tagged) for line in self.data)

    __repr__ = Shown.__repr__


class Variables(Dict[str, Optional[str]], Shown):
    """A rank's variables; a secret one is None."""

    def text(self, style: Style) -> str:
        return display.env_text(self, style)

    def apply(self) -> Applied:
        """Set them in this process, all but what would harm it; `restore`, or the end of a `with`, undoes it."""
        from jupyter_aiarts.kernel.apply import Applied

        return Applied(self, self._lang)

    __repr__ = Shown.__repr__


class Difference(Dict[str, List[Optional[str]]], Shown):
    """The variables in which two ranks or jobs differ: `{name: [in a, in b]}`."""

    def __init__(self, a: Mapping[str, Optional[str]], b: Mapping[str, Optional[str]]) -> None:
        super().__init__(display.env_diff(a, b))
        self._sides = (a, b)

    def text(self, style: Style) -> str:
        return display.env_diff_text(*self._sides, style)

    __repr__ = Shown.__repr__


class Templates(List[Dict[str, Any]], Shown):
    """Templates and presets, as the server tells them."""

    def text(self, style: Style) -> str:
        return display.templates_text(self, style)

    __repr__ = Shown.__repr__


class SpecShown(Dict[str, Any], Shown):
    """A spec, shown without the keys that say nothing."""

    def text(self, style: Style) -> str:
        return display.spec_text(self)

    __repr__ = Shown.__repr__
