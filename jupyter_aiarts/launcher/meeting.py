"""Where the launchers of one job meet: node 0 listens, the others connect; JSON lines, a token, small limits.

follower: hello, failed, stopping, leaving, ended      node 0: welcome, start, stop, gather, leaving, end, refused
"""

import hmac
import os
import socket
from functools import partial
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from . import tcp
from .line import SILENT, Broken, Line, Message, is_path, written
from .loop import Loop

HELLO_SECONDS = 10.0
_STRANGERS = 64


class Rules(NamedTuple):
    """Who is let in."""

    token: str
    identity: Dict[str, Any]
    nodes: int
    again: bool = False
    """Whether a node that is here already may come again: its pod was replaced before we noticed."""
    silence: float = 30.0


class Door:
    """Node 0's side: lets in who knows the token, passes on what they say, notices when and how they go."""

    def __init__(
        self, loop: Loop, address: str, rules: Rules,
        heard: Callable[[int, Message], None], gone: Callable[[int, str], None],
    ) -> None:  # fmt: skip
        self._loop = loop
        self._rules = rules
        self._heard = heard
        self._gone = gone
        self._members: Dict[int, Line] = {}
        self._born: Dict[int, float] = {}
        self._strangers: List[Stranger] = []
        self._path = address if is_path(address) else None
        self._listener: Optional[socket.socket] = _listen(address)
        loop.watch(self._listener.fileno(), self._accept)

    @property
    def empty(self) -> bool:
        """Whether nobody is connected."""
        return not self._members

    def tell(self, message: Message) -> None:
        """Say it to everybody; who cannot be told is gone."""
        words = written(message)
        for node, line in sorted(self._members.items()):
            try:
                line.send_written(words)
            except Broken as error:
                # Later: what comes of it may be another order, and nobody is to hear that one first.
                self._loop.soon(partial(self._lose_line, node, line, error.how))

    def shut(self) -> None:
        """Nobody else may come."""
        if self._listener is None:
            return
        self._loop.unwatch(self._listener.fileno())
        self._listener.close()
        self._listener = None
        if self._path is not None and os.path.exists(self._path):
            os.unlink(self._path)

    def close(self) -> None:
        """Nobody else may come; those who are there see the end of the connection."""
        self.shut()
        for line in self._members.values():
            self._hang_up(line)
        self._members.clear()

    def _accept(self) -> None:
        if self._listener is None:
            return
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it went away again
        if len(self._strangers) >= _STRANGERS:
            self._strangers[0].leave([])  # who has said nothing longest makes room
        if self._path is None:
            tcp.watch_over(connection, self._rules.silence)
        self._strangers.append(Stranger(self._loop, Line(connection), self._admit))

    def _admit(self, stranger: "Stranger", messages: List[Message]) -> None:
        """The first words of a stranger: in, or out with the reason."""
        self._strangers.remove(stranger)
        line = stranger.line
        refusal = self._refusal(messages[0]) if messages else "no hello"
        try:
            line.send({"type": "welcome"} if refusal is None else {"type": "refused", "why": refusal})
        except Broken:
            refusal = "it did not wait for the answer"
        if refusal is not None:
            line.socket.close()
            return
        node = messages[0]["node"]
        if node in self._members:
            self._lose(node, SILENT)
        self._members[node] = line
        self._born[node] = _number(messages[0].get("born"))
        self._loop.watch(line.socket.fileno(), lambda: self._listen_to(node, line))
        for message in messages:
            self._heard(node, message)

    def _refusal(self, hello: Message) -> Optional[str]:
        token = hello.get("token")
        known = self._rules.token.encode("utf-8")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode("utf-8", "replace"), known):
            return "token"
        if hello.get("type") != "hello" or any(hello.get(key) != value for key, value in self._rules.identity.items()):
            return "another job, run or attempt"
        node = hello.get("node")
        if not isinstance(node, int) or node not in range(1, self._rules.nodes) or not self._may_come(node, hello):
            return "no such node, or it is here already"
        if self._listener is None:
            return "node 0 is leaving"
        return None

    def _may_come(self, node: int, hello: Message) -> bool:
        """Of two launchers of one node the younger is the real one: the other's pod was given up."""
        if node not in self._members:
            return True
        return self._rules.again and _number(hello.get("born")) >= self._born[node]

    def _listen_to(self, node: int, line: Line) -> None:
        try:
            messages = line.receive()
        except Broken as error:
            self._lose(node, error.how)
            return
        for message in messages:
            self._heard(node, message)

    def _lose_line(self, node: int, line: Line, how: str) -> None:
        if self._members.get(node) is line:
            self._lose(node, how)

    def _lose(self, node: int, how: str) -> None:
        line = self._members.pop(node, None)
        if line is not None:
            self._hang_up(line)
            self._gone(node, how)

    def _hang_up(self, line: Line) -> None:
        self._loop.unwatch(line.socket.fileno())
        line.socket.close()


class Stranger:
    """A connection that has not said who it is, and has a few seconds to do so."""

    def __init__(self, loop: Loop, line: Line, admit: Callable[["Stranger", List[Message]], None]) -> None:
        self.line = line
        self._loop = loop
        self._admit = admit
        self._timer = loop.after(HELLO_SECONDS, lambda: self.leave([]))
        loop.watch(line.socket.fileno(), self._listen)

    def leave(self, messages: List[Message]) -> None:
        """It is no stranger any more: these were its first words, or it had none."""
        self._timer.cancel()
        self._loop.unwatch(self.line.socket.fileno())
        self._admit(self, messages)

    def _listen(self) -> None:
        try:
            messages = self.line.receive()
        except Broken:
            messages = [{}]
        if messages:
            self.leave(messages)


def _listen(address: str) -> socket.socket:
    if not is_path(address):
        return tcp.listen(tcp.host_and_port(address)[1])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _listen_on_path(listener, address)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _listen_on_path(listener: socket.socket, path: str) -> None:
    """The name appears when somebody listens behind it, and takes the place of an earlier attempt's."""
    beside = path + "~"
    if os.path.exists(beside):
        os.unlink(beside)
    listener.bind(beside)
    os.chmod(beside, 0o600)
    listener.listen(tcp.BACKLOG)
    os.rename(beside, path)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
