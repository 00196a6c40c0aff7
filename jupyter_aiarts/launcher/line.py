"""One connection between two launchers: JSON lines in both directions, on a Unix socket or TCP."""

import json
import socket
from typing import Any, Dict, List

from . import tcp

Message = Dict[str, Any]
LONGEST = 1024 * 1024
_SEND_SECONDS = 5.0
_CONNECT_SECONDS = 1.0
CLOSED, RESET, SILENT = "closed", "reset", "silent"


class Broken(Exception):
    """The other side is gone, or does not speak this language.

    `how`: it closed its end (its process ended), it was reset, or it is silent (nobody knows what became of it).
    """

    def __init__(self, how: str, why: str = "") -> None:
        super().__init__(why or how)
        self.how = how


class Line:
    """Messages to and from one other launcher."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self._received = b""
        connection.settimeout(_SEND_SECONDS)

    def send(self, message: Message) -> None:
        """Say one thing; raises `Broken`."""
        self.send_written(written(message))

    def send_written(self, words: bytes) -> None:
        """Say what `written` made, which may be the same for many; raises `Broken`."""
        try:
            self.socket.sendall(words)
        except OSError as error:
            raise _broken(error) from error

    def receive(self) -> List[Message]:
        """What came, after the socket said that something did; raises `Broken`."""
        try:
            data = self.socket.recv(65536)
        except OSError as error:
            raise _broken(error) from error
        if not data:
            raise Broken(CLOSED)
        *lines, self._received = (self._received + data).split(b"\n")
        if max(map(len, lines + [self._received])) > LONGEST:
            raise Broken(CLOSED, "a message is too long")
        return [_message(line) for line in lines]


def written(message: Message) -> bytes:
    """A message as it goes over a line."""
    return json.dumps(message).encode("ascii") + b"\n"


def connect(address: str, silence: float) -> Line:
    """A follower's connection to node 0; raises `OSError` when nobody listens there yet."""
    if is_path(address):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # With a queue before the door, connecting would wait for ever: to come again later is as good.
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(address)
        except OSError:
            connection.close()
            raise
        return Line(connection)
    connection = socket.create_connection(tcp.host_and_port(address), timeout=_CONNECT_SECONDS)
    tcp.watch_over(connection, silence)
    return Line(connection)


def is_path(address: str) -> bool:
    """Whether the meeting is on a Unix socket, as on one machine, rather than at host:port."""
    return "/" in address


def _broken(error: OSError) -> Broken:
    return Broken(RESET if isinstance(error, ConnectionError) else SILENT, str(error))


def _message(line: bytes) -> Message:
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # a stranger may send a million brackets
        raise Broken(CLOSED, "not JSON") from error
    if not isinstance(message, dict):
        raise Broken(CLOSED, "not an object")
    return message
