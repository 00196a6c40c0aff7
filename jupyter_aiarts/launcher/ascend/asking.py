"""Asking a tool of the driver that may hang, never stop printing, or be no program at all."""

import atexit
import os
import select
import signal
import subprocess
import time
from typing import Dict, List, Mapping, Optional, Sequence, Set

_ENOUGH = 256 * 1024  # bytes of one answer: 64 cards with two chips each, and their programs
_running: "Set[subprocess.Popen[bytes]]" = set()


def ask(commands: Sequence[Sequence[str]], environ: Mapping[str, str], seconds: float) -> List[str]:
    """What each command printed on stdout until `seconds` were over for all of them; whatever still runs is ended."""
    children = [_start(words, environ) for words in commands]
    started = [child for child in children if child is not None]
    _running.update(started)
    try:
        heard = _listen(started, time.monotonic() + seconds)
    finally:
        for child in started:
            _end(child)
        _running.difference_update(started)
    return [heard.get(child.pid, b"").decode("utf-8", "replace") if child else "" for child in children]


def end_all() -> None:
    """End whatever still runs: nobody will hear it. Threads that wait for it do not outlive the program."""
    for child in tuple(_running):
        _kill(child)


atexit.register(end_all)


def _start(words: Sequence[str], environ: Mapping[str, str]) -> "Optional[subprocess.Popen[bytes]]":
    try:
        return subprocess.Popen(
            list(words),
            bufsize=0,  # it is read by its number
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            start_new_session=True,  # so that its children can be ended with it
        )
    except (OSError, ValueError):  # gone, not executable, for another machine; a NUL byte in a variable
        return None


def _listen(children: "Sequence[subprocess.Popen[bytes]]", deadline: float) -> Dict[int, bytes]:
    heard: Dict[int, bytes] = {}
    speaking = {child.stdout.fileno(): child.pid for child in children if child.stdout is not None}
    poll = select.poll()  # and no selector, which would be another file to open every second
    for end in speaking:
        poll.register(end, select.POLLIN)
    while speaking and time.monotonic() < deadline:
        for end, _ in poll.poll(max(deadline - time.monotonic(), 0) * 1000):
            piece, pid = os.read(end, _ENOUGH), speaking[end]
            heard[pid] = heard.get(pid, b"") + piece
            if not piece or len(heard[pid]) >= _ENOUGH:
                poll.unregister(end)
                del speaking[end]
    return heard


def _end(child: "subprocess.Popen[bytes]") -> None:
    assert child.stdout is not None
    child.stdout.close()
    _kill(child)
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        pass  # stuck inside a driver call: nobody can end it, and nobody is to wait for it


def _kill(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass  # all of it has ended
