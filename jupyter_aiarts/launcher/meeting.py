"""Where the launchers of one job meet: node 0 listens, the others connect; JSON lines, a token, small limits.

follower: hello, failed, stopping, ended      node 0: start, stop, end, refused
"""

import hmac
import json
import os
import socket
from typing import Any, Callable, Dict, List, Optional, Tuple

from .loop import Loop

Message = Dict[str, Any]
LONGEST = 1024 * 1024
HELLO_SECONDS = 10.0
_STRANGERS = 64
_BACKLOG = 128
_SEND_SECONDS = 5.0


class Broken(Exception):
    """The other side is gone, or does not speak this language."""


class Line:
    """One connection as messages in both directions."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._received = b""
        connection.settimeout(_SEND_SECONDS)

    def send(self, message: Message) -> None:
        """Say one thing; raises `Broken`."""
        try:
            self.socket.sendall(json.dumps(message).encode("ascii") + b"\n")
        except OSError as error:
            raise Broken(str(error)) from error

    def receive(self) -> List[Message]:
        """What came, after the socket said that something did; raises `Broken`."""
        try:
            data = self.socket.recv(65536)
        except OSError as error:
            raise Broken(str(error)) from error
        if not data:
            raise Broken("closed")
        *lines, self._received = (self._received + data).split(b"\n")
        if max(map(len, lines + [self._received])) > LONGEST:
            raise Broken("a message is too long")
        return [_message(line) for line in lines]


class Door:
    """Node 0's side: lets in who knows the token, passes on what they say, notices when they go."""

    def __init__(
        self, loop: Loop, address: str, token: str, identity: Message, nodes: int,
        heard: Callable[[int, Message], None], gone: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._loop = loop
        self._token = token
        self._identity = identity
        self._nodes = nodes
        self._heard = heard
        self._gone = gone
        self._members: Dict[int, Line] = {}
        self._strangers = 0
        self._path = address if is_path(address) else None
        self._listener = _listen(address)
        loop.watch(self._listener.fileno(), self._accept)

    def tell(self, message: Message) -> None:
        """Say it to everybody; who cannot be told is gone."""
        for node in list(self._members):
            try:
                self._members[node].send(message)
            except Broken:
                self._lose(node)

    def close(self) -> None:
        """Nobody else may come; those who are there see the end of the connection."""
        self._loop.unwatch(self._listener.fileno())
        self._listener.close()
        if self._path is not None and os.path.exists(self._path):
            os.unlink(self._path)
        for line in self._members.values():
            self._hang_up(line)
        self._members.clear()

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it went away again
        if self._strangers >= _STRANGERS:
            connection.close()
            return
        self._strangers += 1
        Stranger(self._loop, Line(connection), self._admit)

    def _admit(self, line: Line, messages: List[Message]) -> None:
        """The first words of a stranger: in, or out with the reason."""
        self._strangers -= 1
        refusal = self._refusal(messages[0]) if messages else "no hello"
        if refusal is not None:
            try:
                line.send({"type": "refused", "why": refusal})
            except Broken:
                pass  # it did not wait for the answer
            line.socket.close()
            return
        node = messages[0]["node"]
        self._members[node] = line
        self._loop.watch(line.socket.fileno(), lambda: self._listen_to(node))
        for message in messages:
            self._heard(node, message)

    def _refusal(self, hello: Message) -> Optional[str]:
        token = hello.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(token.encode("utf-8"), self._token.encode("utf-8")):
            return "token"
        if hello.get("type") != "hello" or any(hello.get(key) != value for key, value in self._identity.items()):
            return "another job, run or attempt"
        if hello.get("node") not in range(1, self._nodes) or hello["node"] in self._members:
            return "no such node, or it is here already"
        return None

    def _listen_to(self, node: int) -> None:
        try:
            messages = self._members[node].receive()
        except Broken:
            self._lose(node)
            return
        for message in messages:
            self._heard(node, message)

    def _lose(self, node: int) -> None:
        self._hang_up(self._members.pop(node))
        self._gone(node)

    def _hang_up(self, line: Line) -> None:
        self._loop.unwatch(line.socket.fileno())
        line.socket.close()


class Stranger:
    """A connection that has not said who it is, and has a few seconds to do so."""

    def __init__(self, loop: Loop, line: Line, admit: Callable[[Line, List[Message]], None]) -> None:
        self._loop = loop
        self._line = line
        self._admit = admit
        self._timer = loop.after(HELLO_SECONDS, lambda: self._leave([]))
        loop.watch(line.socket.fileno(), self._listen)

    def _listen(self) -> None:
        try:
            messages = self._line.receive()
        except Broken:
            messages = [{}]
        if messages:
            self._leave(messages)

    def _leave(self, messages: List[Message]) -> None:
        self._timer.cancel()
        self._loop.unwatch(self._line.socket.fileno())
        self._admit(self._line, messages)


def connect(address: str) -> Line:
    """A follower's connection to node 0; raises `OSError` when nobody listens there yet."""
    if is_path(address):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(address)
        except OSError:
            connection.close()
            raise
        return Line(connection)
    connection = socket.create_connection(_host_and_port(address), timeout=1.0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return Line(connection)


def is_path(address: str) -> bool:
    """Whether the meeting is on a Unix socket, as on one machine, rather than at host:port."""
    return "/" in address


def _listen(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX if is_path(address) else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if is_path(address):
            _listen_on_path(listener, address)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("", _host_and_port(address)[1]))
            listener.listen(_BACKLOG)
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
    listener.listen(_BACKLOG)
    os.rename(beside, path)


def _host_and_port(address: str) -> Tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _message(line: bytes) -> Message:
    try:
        message = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise Broken("not JSON") from error
    if not isinstance(message, dict):
        raise Broken("not an object")
    return message
