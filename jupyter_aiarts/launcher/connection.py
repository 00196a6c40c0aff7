"""One HTTP connection: reads a small head, sends an answer when there is room, never waits for anybody."""

import socket
from collections import deque
from itertools import islice
from typing import Callable, Deque, List, Optional

from . import tcp
from .loop import Loop
from .request import LARGEST_BODY, LONGEST_HEAD, TITLES, Refusal

HEAD_SECONDS = 10.0
ANSWER_SECONDS = 30.0
LINGER_SECONDS = 5.0
SILENCE_SECONDS = 30.0
ENOUGH = 512 * 1024
"""Bytes of a stream that wait to be sent; no more are read from disk meanwhile."""
_TURN = 4 * 1024 * 1024
"""Bytes that one connection may send before others have their turn."""
_FRAME = 16 * 1024
"""What a frame costs beside its bytes, in bytes that could have been sent in the same time."""
_GATHERED = 64 * 1024
"""Bytes of small frames that are sent together."""
_TOGETHER = 256
_HEAD, _ANSWER, _STREAM, _LINGER = "head", "answer", "stream", "linger"
_LIMITS = {_HEAD: HEAD_SECONDS, _ANSWER: ANSWER_SECONDS, _LINGER: LINGER_SECONDS}


class Connection:
    """From accept to close. `asked` is given the head and calls one of the answers; `gone` is called once."""

    def __init__(
        self, loop: Loop, connection: socket.socket,
        asked: Callable[["Connection", bytes], None], gone: Callable[["Connection"], None],
    ) -> None:  # fmt: skip
        self._loop = loop
        self._socket = connection
        self._asked = asked
        self._gone = gone
        self.trusted = False
        """Whether it has shown the token; who has not makes room for others."""
        self._state = _HEAD
        self._since = loop.clock()
        self._head = b""
        self._discarded = 0
        self._deaf = False
        self._crowded = False
        self._queue: Deque[memoryview] = deque()
        self._waiting = 0
        self._more: Optional[Callable[[], Optional[List[bytes]]]] = None
        connection.setblocking(False)
        tcp.watch_over(connection, SILENCE_SECONDS)
        loop.watch(connection.fileno(), self._listen)

    @property
    def overdue(self) -> bool:
        """Whether it has taken longer than anybody needs."""
        return self._loop.clock() - self._since > _LIMITS.get(self._state, float("inf"))

    def refuse(self, refusal: Refusal) -> None:
        """Answer that there will be no answer."""
        self.answer(refusal.status, refusal.sentence.encode("utf-8") + b"\n", "text/plain; charset=utf-8")

    def answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        """Answer with `body`, then close."""
        self._enter(_ANSWER)
        self._put([_response(status, kind, len(body)), body])
        self._flush()

    def stream(self, more: Callable[[], Optional[List[bytes]]]) -> None:
        """Answer with whatever `more` gives, each time there is room for it, until `end`."""
        self._enter(_STREAM)
        self._more = more
        self._put([_response(200, "application/octet-stream", None)])
        self.pump()

    def pump(self) -> None:
        """There may be more to send."""
        turn, parts = _TURN, None
        while self._more is not None and self._waiting < ENOUGH and turn > 0:
            parts = self._more()
            if parts is None:
                break
            turn -= _FRAME + sum(map(len, parts))
            self._put(parts)
            if self._waiting >= _GATHERED:
                self._send()
        self._flush(unfinished=parts is not None or self._waiting >= ENOUGH)

    def say(self, parts: List[bytes]) -> None:
        """Send these parts of a stream besides what `more` gives, if it is not far behind."""
        if self._waiting < ENOUGH and parts:
            self._put(parts)
            self._flush()

    def end(self) -> None:
        """The stream is complete: close when all of it has been sent."""
        self._more = None
        if self._state == _STREAM:
            self._enter(_ANSWER)
            self._loop.soon(self._flush)

    def close(self) -> None:
        """At once, whatever is left."""
        if self._socket.fileno() < 0:
            return
        self._more = None
        self._queue.clear()
        self._hear_no_more()
        self._wait_for_room(False)
        self._socket.close()
        self._gone(self)

    def _enter(self, state: str) -> None:
        self._state, self._since = state, self._loop.clock()

    def _listen(self) -> None:
        try:
            data = self._socket.recv(64 * 1024)
        except BlockingIOError:
            return
        except OSError:
            return self.close()
        if self._state == _HEAD:
            self._read_head(data)
        elif not data and self._state != _LINGER:
            self._hear_no_more()  # it says no more but may still listen
        else:
            self._discarded += len(data)
            if not data or self._discarded > LARGEST_BODY:
                self.close()

    def _read_head(self, data: bytes) -> None:
        head, found, _ = (self._head + data).partition(b"\r\n\r\n")
        if len(head) > LONGEST_HEAD:
            self.refuse(Refusal(431, f"a request may have {LONGEST_HEAD} bytes of headers"))
        elif found:
            self._head = b""
            self._asked(self, head)
        elif not data:
            self.close()
        else:
            self._head = head

    def _hear_no_more(self) -> None:
        if not self._deaf:
            self._deaf = True
            self._loop.unwatch(self._socket.fileno())

    def _put(self, parts: List[bytes]) -> None:
        self._queue.extend(memoryview(part) for part in parts if part)
        self._waiting += sum(map(len, parts))

    def _send(self) -> None:
        """Send what the kernel takes; on an error the connection is closed."""
        try:
            while self._queue:
                self._forget(self._socket.sendmsg(list(islice(self._queue, _TOGETHER))))
        except BlockingIOError:
            pass  # later
        except OSError:
            self.close()

    def _forget(self, sent: int) -> None:
        self._waiting -= sent
        while sent:
            first = self._queue.popleft()
            if len(first) > sent:
                self._queue.appendleft(first[sent:])
            sent -= min(sent, len(first))

    def _flush(self, unfinished: bool = False) -> None:
        self._send()
        if self._socket.fileno() < 0:
            return
        self._wait_for_room(bool(self._queue) or unfinished)
        if not self._queue and self._state == _ANSWER:
            self._linger()

    def _wait_for_room(self, wanted: bool) -> None:
        if wanted and not self._crowded:
            self._loop.watch_room(self._socket.fileno(), self.pump)
        elif self._crowded and not wanted:
            self._loop.unwatch_room(self._socket.fileno())
        self._crowded = wanted

    def _linger(self) -> None:
        """Everything is sent: let the other side read it and close, since closing first could cut it off."""
        self._enter(_LINGER)
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return self.close()
        if self._deaf:
            self.close()


def _response(status: int, kind: str, length: Optional[int]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {TITLES[status]}", f"Content-Type: {kind}", "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff", "Connection: close",
    ]  # fmt: skip
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("ascii")
