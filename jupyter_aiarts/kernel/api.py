"""Jobs from Python: `job = aiarts.submit("train.py", devices=2); job.wait(); job.logs()`."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from jupyter_aiarts.kernel import display, pages
from jupyter_aiarts.kernel.client import ENDED, Client, overlaid
from jupyter_aiarts.kernel.discovery import find_server
from jupyter_aiarts.kernel.errors import NoServer
from jupyter_aiarts.kernel.faces import Face, log_lines
from jupyter_aiarts.kernel.live import MOST_IDS, drawn
from jupyter_aiarts.kernel.shown import DryRun, Explanation, Line, Log, Shown, Variables
from jupyter_aiarts.kernel.terminal import Style
from jupyter_aiarts.kernel.transport import Answer, HttpTransport, Transport
from jupyter_aiarts.kernel.words import default_lang

if TYPE_CHECKING:
    from jupyter_aiarts.kernel.cluster import Machines
    from jupyter_aiarts.kernel.queues import Queues

FIRST_LOOK, LAST_LOOK = 0.2, 2.0
PANEL_LINES = 12
_transports: Dict[Tuple[str, str], Transport] = {}
S = TypeVar("S", bound=Shown)


def connect(
    server: Optional[str] = None,
    token: Optional[str] = None,
    lang: Optional[str] = None,
    python: Optional[str] = None,
) -> Client:
    """A client of the server around us, of the one named, or of this machine where there is none.

    Called by every verb: the search is cheap, and a server that was restarted meanwhile is found again.
    """
    found = find_server(server, token)
    place = (found.url, found.token) if found else ("", "")
    if place not in _transports:
        _transports[place] = HttpTransport(*place) if found else _in_process()
    return Client(_transports[place], lang or default_lang(), python)


def connect_later(
    server: Optional[str] = None,
    token: Optional[str] = None,
    lang: Optional[str] = None,
    python: Optional[str] = None,
) -> Client:
    """The same for whoever may have nothing to ask: nobody is looked for before the first request."""
    return Client(_Later(lambda: connect(server, token).transport), lang or default_lang(), python)


class _Later(Transport):
    """The transport that `find` finds, once there is something to send."""

    def __init__(self, find: Callable[[], Transport]) -> None:
        self._find = find
        self._found: Optional[Transport] = None

    def request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Answer:
        """See `Transport.request`."""
        return self._transport().request(method, path, query, body, headers)

    def stream(
        self, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None
    ) -> Iterator[Dict[str, Any]]:
        """See `Transport.stream`."""
        return self._transport().stream(path, query, body)

    def _transport(self) -> Transport:
        if self._found is None:
            self._found = self._find()
            self.where = self._found.where
        return self._found


def close_all() -> None:
    """Close every connection `connect` made; called when the command line ends."""
    while _transports:
        _transports.popitem()[1].close()


def _in_process() -> Transport:
    """The service in this process. Found by name, not imported: a kernel's environment may hold `kernel/`
    alone."""
    if sys.version_info < (3, 10):
        raise _no_server("it needs Python 3.10")
    try:
        module = importlib.import_module("jupyter_aiarts.inprocess")
    except ImportError as error:
        raise _no_server(f"{error.name} is missing") from None
    transport: Transport = module.InProcessTransport()
    atexit.register(close_all)
    return transport


def _no_server(missing: str) -> NoServer:
    return NoServer(
        "This kernel does not belong to a Jupyter server, and the complete jupyter_aiarts package is not "
        f"installed in its environment ({missing}).",
        "Set AIARTS_SERVER (and AIARTS_TOKEN) to a server's address, or `pip install jupyter_aiarts` here.",
    )


class Job(Shown):
    """One job. Attributes are as of the last answer; `refresh` asks again."""

    def __init__(self, client: Client, data: Mapping[str, Any]) -> None:
        self._client = client
        self._lang = client.lang
        self.data: Dict[str, Any] = dict(data)

    @property
    def id(self) -> str:
        """The job's id."""
        return str(self.data["id"])

    @property
    def name(self) -> str:
        """Its name, as written."""
        return str(self.data["name"])

    @property
    def phase(self) -> str:
        """`queued`, `starting`, `running`, `paused`, `succeeded`, `failed`, `lost` or `stopped`."""
        return str(self.data["phase"])

    @property
    def run(self) -> int:
        """The number of its latest run."""
        return int(self.data["run"])

    @property
    def spec(self) -> Dict[str, Any]:
        """Its spec; in a list only the keys that lists carry."""
        return dict(self.data["spec"])

    @property
    def ended(self) -> bool:
        """Whether its latest run is over."""
        return self.phase in ENDED

    def refresh(self) -> Job:
        """Ask again; returns itself."""
        self.data = self._client.show(self.id)
        return self

    def wait(self, timeout: Optional[float] = None) -> Job:
        """Return when the job has ended, however it did; raises `TimeoutError` after `timeout` seconds."""
        limit = None if timeout is None else time.monotonic() + timeout
        pause = FIRST_LOOK
        while not self.refresh().ended:
            left = pause if limit is None else min(pause, limit - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"{self.name} ({self.id}) is still {self.phase} after {timeout} s.")
            time.sleep(left)
            pause = min(LAST_LOOK, pause * 1.5)
        return self

    @overload
    def logs(
        self,
        follow: Literal[False] = False,
        rank: Optional[int] = None,
        run: Optional[int] = None,
        grep: Optional[str] = None,
        tail: Optional[int] = None,
    ) -> Log: ...

    @overload
    def logs(
        self,
        follow: Literal[True],
        rank: Optional[int] = None,
        run: Optional[int] = None,
        grep: Optional[str] = None,
        tail: Optional[int] = None,
    ) -> Iterator[Line]: ...

    def logs(
        self,
        follow: bool = False,
        rank: Optional[int] = None,
        run: Optional[int] = None,
        grep: Optional[str] = None,
        tail: Optional[int] = None,
    ) -> Union[Log, Iterator[Line]]:
        """Its log: the last 1,000 lines or `tail`; with `follow` an iterator that ends with the run."""
        if follow:
            return map(Line.of, self._client.follow(self.id, rank, run, grep, tail))
        lines, why_empty = self._client.logs(self.id, rank, run, grep, tail)
        return Log(lines, why_empty, many_ranks(self.data) and rank is None)

    def explain(self) -> Explanation:
        """Why it is as it is, and what to do."""
        return Explanation(self._client.explain(self.id), self._client, self.id)

    def events(self, run: Optional[int] = None) -> List[Dict[str, Any]]:
        """What the platform did for a run."""
        return self._client.events(self.id, run)

    def env(self, rank: int = 0, run: Optional[int] = None) -> Variables:
        """A rank's variables."""
        return Variables(self._client.env(self.id, run, rank))

    def stop(self) -> Job:
        """End it; it is kept."""
        return self._moved("stop")

    def pause(self) -> Job:
        """Give its devices back until `resume`."""
        return self._moved("pause")

    def resume(self) -> Job:
        """Queue it again after a pause."""
        return self._moved("resume")

    def rerun(self) -> Job:
        """Run it once more, same id."""
        return self._moved("rerun")

    def release(self) -> Job:
        """Give up on its pods that a dead node holds; what runs there may go on running."""
        return self._moved("release")

    def clone(self, **changes: Any) -> Job:
        """A new job from its spec; `changes` win."""
        return Job(self._client, self._client.clone(self.id, changes).job)

    def edit(self, **changes: Any) -> Job:
        """Change what its next run uses; None takes a key away."""
        self.data = self._client.edit(self.id, changes)
        return self

    def delete(self) -> Optional[str]:
        """Remove it with its runs and logs; the sentence about what could not be removed, if any."""
        return self._client.delete(self.id)

    def _moved(self, move: str) -> Job:
        self.data = self._client.act(self.id, move)
        return self

    @property
    def moves(self) -> List[str]:
        """What its phase offers: `stop`, `rerun` …"""
        return list(self.data.get("moves") or ())

    @property
    def goes_on(self) -> bool:  # type: ignore[override]  # of the others it is known beforehand
        return not self.ended

    has_panel = True  # one that has ended has its log, and can be run again

    def again(self) -> Job:
        return self.refresh()

    def face(self, lang: str) -> Face:
        from jupyter_aiarts.kernel.usage import job_bars

        lines = self.logs(tail=PANEL_LINES)
        ranks = {line.rank for line in lines}
        cards = job_bars(self._client.job_usage(self.id), self.ended, lang) if self.spec.get("devices") else []
        silence = "" if lines else f"<p>{pages.text(lines.why_empty or '')}</p>"
        return Face(self.html(lang) + silence, cards, log_lines(lines, tagged=len(ranks) > 1))

    def live(self) -> Optional[Dict[str, Any]]:
        return drawn(self._client, "job", id=self.id)

    def text(self, style: Style) -> str:
        return display.job_text(self.data, style)

    def html(self, lang: str) -> str:
        return pages.job_html(self.data, lang)


class Jobs(List[Job], Shown):
    """Jobs, newest first; `asked` are the words of `GET jobs` that give the same list later."""

    asked: Optional[Mapping[str, Any]] = None

    @classmethod
    def of(cls, client: Client, found: Iterable[Mapping[str, Any]], asked: Optional[Mapping[str, Any]] = None) -> Jobs:
        """From what the server told."""
        jobs = cls(Job(client, data) for data in found)
        jobs._client, jobs.asked, jobs._lang = client, asked, client.lang
        return jobs

    _client: Optional[Client] = None

    @property
    def goes_on(self) -> bool:  # type: ignore[override]  # a list of which nobody knows what was asked stays as it is
        return self._client is not None and self.asked is not None

    def again(self) -> Jobs:
        if self._client is None or self.asked is None:
            return self
        return Jobs.of(self._client, self._client.jobs(**self.asked), self.asked)

    def live(self) -> Optional[Dict[str, Any]]:
        if self.asked is not None:
            return drawn(self._client, "jobs", **self.asked)
        return drawn(self._client, "jobs", ids=[job.id for job in self]) if len(self) <= MOST_IDS else None

    def text(self, style: Style) -> str:
        return display.jobs_text([job.data for job in self], style)

    def html(self, lang: str) -> str:
        return pages.jobs_html([job.data for job in self], lang)

    __repr__ = Shown.__repr__


def submit(script: Union[str, "os.PathLike[str]", Mapping[str, Any], None] = None, **keys: Any) -> Job:
    """Submit a start file or a spec; `keys` are the keys of a spec and win over it."""
    client = connect()
    return Job(client, client.submit(_spec(script, keys)).job)


def try_out(script: Union[str, "os.PathLike[str]", Mapping[str, Any], None] = None, **keys: Any) -> DryRun:
    """What `submit` with the same arguments would do; nothing is made."""
    return DryRun(connect().try_out(_spec(script, keys)))


def jobs(phase: Optional[str] = None, q: Optional[str] = None, limit: Optional[int] = None) -> Jobs:
    """Jobs, newest first, with the phase or the text asked for."""
    client = connect()
    return Jobs.of(client, client.jobs(phase=phase, q=q, limit=limit), {"phase": phase, "q": q, "limit": limit})


def job(text: str) -> Job:
    """The job that an id, an unambiguous id prefix or an unambiguous name means."""
    client = connect()
    return Job(client, client.show(client.resolve(text)))


def queues(cluster: Optional[str] = None) -> Queues:
    """Queues of one cluster or of all: a list of what the server tells of each, that shows itself as a table."""
    from jupyter_aiarts.kernel.queues import Queues

    client = connect()
    return _in(client, Queues(client.queues(cluster)))


def cluster(name: Optional[str] = None) -> Machines:
    """The machines of one cluster or of all: `nodes`, who holds their cards, and in `fits` what fits now."""
    from jupyter_aiarts.kernel.cluster import Machines

    client = connect()
    return _in(client, Machines(client.cluster(name), client, name))


def _in(client: Client, value: S) -> S:
    """The same in the client's language."""
    value._lang = client.lang
    return value


def many_ranks(data: Mapping[str, Any]) -> bool:
    """Whether log lines need their rank before them."""
    spec = data["spec"]
    per_node = (spec.get("devices") or 1) if spec.get("processes") == "card" else 1
    return len(data.get("ranks") or ()) > 1 or (spec.get("nodes") or 1) * per_node > 1


def _spec(script: Any, keys: Mapping[str, Any]) -> Dict[str, Any]:
    if isinstance(script, Mapping):
        return overlaid(script, keys)
    given = {key: value for key, value in keys.items() if value is not None}
    return given if script is None else {"script": os.fspath(script), **given}
