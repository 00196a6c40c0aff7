"""A reader of the launcher's port, as the server's mirror is one: raw sockets, frames, positions."""

import json
import socket
from collections.abc import Iterator
from typing import Any

from .conftest import wait_until
from .pods import TOKEN

Frame = tuple[dict[str, Any], bytes]


def ask(port: int, path: str, token: "str | None" = TOKEN, method: str = "GET", more: str = "") -> tuple[int, bytes]:
    """One request to its end: status and body."""
    with dial(port) as connection:
        connection.sendall(request(path, token, method, more))
        return split(read_all(connection))


def dial(port: int, receive_buffer: int = 0) -> socket.socket:
    """A connection, when the port is open: that is a moment after the ranks began."""
    return wait_until(lambda: _dial(port, receive_buffer), "the port")


def _dial(port: int, receive_buffer: int) -> "socket.socket | None":
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(20)
    try:
        connection.connect(("127.0.0.1", port))
    except ConnectionRefusedError:
        connection.close()
        return None
    return connection


def get(port: int, path: str) -> Any:
    """The JSON document at `path`."""
    status, body = ask(port, path)
    assert status == 200, (status, body)
    return json.loads(body)


def request(path: str, token: "str | None" = TOKEN, method: str = "GET", more: str = "") -> bytes:
    """The bytes of a request."""
    shown = "" if token is None else f"X-Aiarts-Token: {token}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: pod\r\n{shown}{more}\r\n".encode()


def read_all(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    while True:
        data = connection.recv(65536)
        if not data:
            return b"".join(parts)
        parts.append(data)


def split(answer: bytes) -> tuple[int, bytes]:
    """Status and body of an answer."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


class Reader:
    """What one mirror knows of one node's log: the bytes so far, each with its time, over any number of connections."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.log_id: str | None = None
        self.bytes: dict[str, bytearray] = {}
        self.times: dict[str, list[tuple[int, int, int]]] = {}
        self.frames: list[dict[str, Any]] = []
        self._rest = b""

    def connect(self, receive_buffer: int = 0) -> socket.socket:
        """Ask for what is missing."""
        at = ",".join(f"{key}.{len(data)}" for key, data in self.bytes.items())
        known = "" if self.log_id is None else f"&log={self.log_id}"
        connection = dial(self.port, receive_buffer)
        connection.sendall(request(f"/v1/log?at={at}{known}"))
        self._rest = b""
        head = b""
        while not head.endswith(b"\r\n\r\n"):  # byte by byte, so that all frames are left to read
            data = connection.recv(1)
            assert data, head
            head += data
        assert head.startswith(b"HTTP/1.1 200 "), head
        return connection

    def read_to_end(self) -> "Reader":
        """Follow until the end of the connection."""
        with self.connect() as connection:
            return self.read_on(connection)

    def read_on(self, connection: socket.socket) -> "Reader":
        """Follow an open connection to its end."""
        while True:
            data = connection.recv(1 << 20)
            if not data:
                return self
            self.take(data)

    def read_until(self, kind: str) -> "Reader":
        """Follow until a frame of this type comes."""
        with self.connect() as connection:
            seen = len(self.frames)
            while not any(frame.get("type") == kind for frame in self.frames[seen:]):
                data = connection.recv(1 << 20)
                assert data, f"the stream ended before {kind}"
                self.take(data)
        return self

    def take(self, data: bytes) -> None:
        """Use all whole frames of what came."""
        self._rest += data
        for head, octets in self._whole():
            self.frames.append(head)
            if "type" in head:
                if head["type"] == "log":
                    self.log_id = head["id"]
                continue
            key = f"{head['rank']}.{head['stream']}"
            kept = self.bytes.setdefault(key, bytearray())
            assert head["at"] == len(kept), (head, len(kept))
            self.times.setdefault(key, []).append((head["at"], head["n"], head["t"]))
            kept += octets

    def _whole(self) -> Iterator[Frame]:
        while b"\n" in self._rest:
            line, _, rest = self._rest.partition(b"\n")
            head = json.loads(line)
            size = head.get("n", 0) if "type" not in head else 0
            if len(rest) < size:
                return
            self._rest = rest[size:]
            yield head, rest[:size]

    def types(self) -> list[str]:
        """The types of the frames that are not log, in order."""
        return [frame["type"] for frame in self.frames if "type" in frame]
