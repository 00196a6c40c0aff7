r"""The launcher's port: HTTP/1.1, GET only, read only, for the server that watches this pod.

Every request needs the header `X-Aiarts-Token`; else 403. Answers close the connection. Errors are a sentence.
    GET /v1/status               this node's status.json
    GET /v1/summary              summary.json; 404 until the job has ended, and on nodes other than 0
    GET /v1/environment?rank=N   {name: value} of that rank's pod.env, without secrets; 404 for another node's rank
    GET /v1/ranktable            the file that RANK_TABLE_FILE names for this node's ranks; 404 where there is none
    GET /v1/npulog               {"lines", "place", "problem"}: errors of this node's cards in the NPU driver's log
    GET /v1/log?at=0.stdout.123,0.stderr.0&log=ID
The log is a stream of frames without Content-Length. Each frame is one line of JSON; the first one and some others:
    {"type":"log","id":ID,"node":k}                     which log this is
    {"type":"status", ...status.json}                   then, and whenever it changes
    {"type":"environment","rank":0,"variables":{...}}   when ranks have started
    {"rank":0,"stream":"stdout","at":123,"t":NS,"n":9}\n and then n raw bytes, from byte `at` of that stream
    {"type":"drop","rank":0,"stream":"stdout","from":1,"to":2,"reason":TEXT}   bytes that are gone
    {"type":"usage", ...usage.json}                     after each look at what ranks and cards do
    {"type":"summary", ...summary.json}                 on node 0, when the job has ended
    {"type":"npulog", ...npulog.json}                   of a node with NPUs, at its end: as /v1/npulog, but shorter
    {"type":"caught-up"}                                all that was written so far has been sent; also every 15 s
    {"type":"end"}                                      nothing more will come; only this says it was complete
Frames follow the chunks of the index, so all bytes of a frame have the time `t`; a chunk may come in several frames.
Each stream begins at its position in `at` (absent: 0). Positions count only for the log with the id `log`, if that
is given: a pod that was replaced has another log, which begins at 0, unless its folder is on a lasting mount.
"""

import re
import time
from functools import partial
from typing import Callable, Dict, List, Optional, Tuple

from . import tcp
from .connection import Connection
from .logstream import LogStream, Positions, line, log_id, readable
from .loop import Loop
from .node import Node
from .request import Refusal, Request, parse
from .segments import STREAMS

MOST = 16
MOST_READERS = 8
LIFE_SECONDS = 15.0
_SWEEP_SECONDS = 1.0
_POSITION = re.compile(r"([0-9]{1,7})\.(%s)\.([0-9]{1,18})" % "|".join(STREAMS))


class Port:
    """Listens, lets in who has the token, serves many slow readers without waiting for any."""

    def __init__(self, loop: Loop, node: Node, token: str, number: int, root: str = "") -> None:
        self._loop = loop
        self._node = node
        self._token = token
        self._log_id = log_id(node.folder)
        self._version = 0
        self._over = False
        self._was_read = False
        self._born = time.time() - LIFE_SECONDS  # the ranks are a little older than we are
        self._root = root
        self._connections: List[Connection] = []
        self._readers: Dict[Connection, LogStream] = {}
        self._pumping = False
        self._sweeping = False
        self._then: Optional[Callable[[], None]] = None
        self._listener = tcp.listen(number)
        loop.watch(self._listener.fileno(), self._accept)
        loop.after(LIFE_SECONDS, self._show_life)

    def stir(self, rank: int, stream: str) -> None:
        """A rank wrote something; its readers get it soon."""
        for reader in self._readers.values():
            reader.stir(rank, stream)
        self._pump_soon()

    def changed(self) -> None:
        """Status, variables or summary are not what they were."""
        self._version += 1
        self._pump_soon()

    def finish(self, seconds: float, first: float, then: Callable[[], None]) -> None:
        """Nothing more will come: call `then` when every reader has it all, at the latest after `seconds`.

        Where nobody has come yet, somebody may be on the way: a short job is over before a server can know that its
        pod runs. For them `first` seconds are waited.
        """
        self._over = True
        self._then = then
        for reader in self._readers.values():
            reader.reopen()
        self._pump_soon()
        self._loop.after(seconds, self._finished)
        if not self._readers:
            self._loop.after(0.0 if self._was_read else first, self._leave_if_alone)

    def _leave_if_alone(self) -> None:
        if not self._readers:
            self._finished()

    def _finished(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            self._loop.soon(then)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it went away again
        if len(self._connections) >= MOST:
            strangers = [known for known in self._connections if not known.trusted]
            if not strangers:
                connection.close()
                return
            strangers[0].close()
        self._connections.append(Connection(self._loop, connection, self._asked, self._gone))
        self._sweep_soon()

    def _sweep_soon(self) -> None:
        if self._connections and not self._sweeping:
            self._sweeping = True
            self._loop.after(_SWEEP_SECONDS, self._sweep)

    def _sweep(self) -> None:
        self._sweeping = False
        for connection in [known for known in self._connections if known.overdue]:
            connection.close()
        self._sweep_soon()

    def _gone(self, connection: Connection) -> None:
        self._connections.remove(connection)
        reader = self._readers.pop(connection, None)
        if reader is not None:
            reader.close()
        if self._over and not self._readers:
            self._finished()

    def _asked(self, connection: Connection, head: bytes) -> None:
        request = parse(head, self._token)
        if isinstance(request, Refusal):
            return connection.refuse(request)
        connection.trusted = True
        answers: Dict[str, Callable[[Connection, Request], Optional[Refusal]]] = {
            "/v1/status": self._status, "/v1/summary": self._summary,
            "/v1/environment": self._environment, "/v1/ranktable": self._rank_table,
            "/v1/npulog": self._npulog, "/v1/log": self._log,
        }  # fmt: skip
        refusal = answers.get(request.path, _unknown)(connection, request)
        if refusal is not None:
            connection.refuse(refusal)

    def _status(self, connection: Connection, request: Request) -> Optional[Refusal]:
        connection.answer(200, line(self._node.status.document()))
        return None

    def _summary(self, connection: Connection, request: Request) -> Optional[Refusal]:
        if self._node.summary is None:
            return Refusal(404, "there is no summary here yet")
        connection.answer(200, line(self._node.summary))
        return None

    def _environment(self, connection: Connection, request: Request) -> Optional[Refusal]:
        found = [one for one in self._node.prepared if str(one.seat.rank) == request.query.get("rank", "")]
        if not found:
            return Refusal(404, "this node has no such rank")
        connection.answer(200, line(readable(found[0].exported)))
        return None

    def _rank_table(self, connection: Connection, request: Request) -> Optional[Refusal]:
        from .ascend.lasttable import content  # hardly ever asked for

        found = content(one.exported for one in self._node.prepared)
        if found is None:
            return Refusal(404, "this node has no rank table")
        connection.answer(200, found)
        return None

    def _npulog(self, connection: Connection, request: Request) -> Optional[Refusal]:
        from .ascend import lastlog  # hardly ever asked for

        connection.answer(200, line(lastlog.document(self._node.cards, self._born, self._root)))
        return None

    def _log(self, connection: Connection, request: Request) -> Optional[Refusal]:
        positions = _positions(request.query.get("at", ""))
        if positions is None or any(rank not in self._node.numbers for rank, _ in positions):
            return Refusal(400, "at is a list of RANK.STREAM.BYTE with ranks of this node")
        if len(self._readers) >= MOST_READERS:
            return Refusal(503, f"{MOST_READERS} others read this log already")
        known = request.query.get("log", self._log_id) == self._log_id
        self._was_read = True
        self._readers[connection] = LogStream(self._node, self._log_id, positions if known else {})
        connection.stream(partial(self._more, connection))
        return None

    def _more(self, connection: Connection) -> Optional[List[bytes]]:
        """The next frame for one reader; the last one is followed by the end of the connection."""
        reader = self._readers[connection]
        try:
            parts = reader.next(self._version, self._over)
        except OSError:
            connection.close()  # it comes again and begins where it was
            return None
        if parts is None and self._over:
            connection.end()
        return parts

    def _pump_soon(self) -> None:
        if self._readers and not self._pumping:
            self._pumping = True
            self._loop.soon(self._pump)

    def _pump(self) -> None:
        self._pumping = False
        for connection in list(self._readers):
            connection.pump()

    def _show_life(self) -> None:
        for connection, reader in list(self._readers.items()):
            connection.say(reader.sign_of_life())
        self._loop.after(LIFE_SECONDS, self._show_life)


def _unknown(connection: Connection, request: Request) -> Refusal:
    return Refusal(404, "there is no such page")


def _positions(text: str) -> Optional[Positions]:
    """What `at` says; None when it is not understood."""
    matches = [_POSITION.fullmatch(word) for word in text.split(",") if word]
    found: Dict[Tuple[int, str], int] = {}
    for match in matches:
        if match is None:
            return None
        found[(int(match.group(1)), match.group(2))] = int(match.group(3))
    return found
