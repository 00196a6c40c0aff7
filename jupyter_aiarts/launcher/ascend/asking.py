"""Asking a tool of the driver that may hang, never stop printing, or be no program at all."""

import atexit
import os
import select
import signal
import subprocess
import time
from typing import Dict, List, Mapping, Optional, Sequence, Set

_ENOUGH = 256 * 1024  # bytes of one answer: 64 cards with two chips each, and their programs
_ENDS = 1.0  # seconds in which whatever can be ended has ended
_running: "Set[subprocess.Popen[bytes]]" = set()
_stuck: "Dict[str, List[subprocess.Popen[bytes]]]" = {}  # by tool, what could not be ended


def ask(commands: Sequence[Sequence[str]], environ: Mapping[str, str], seconds: float) -> List[str]:
    """What each command printed on stdout until `seconds` were over for all of them; whatever still runs is ended.

    A tool of which a run could not be ended is not started while that is there, and says nothing: the next run would
    hang beside it, and another one with every question.
    """
    stuck = {words[0] for words in commands if _is_stuck(words[0])}
    children = [None if words[0] in stuck else _start(words, environ) for words in commands]
    started = [child for child in children if child is not None]
    _running.update(started)
    try:
        heard = _listen(started, time.monotonic() + seconds)
    finally:
        _end(started)
        for words, child in zip(commands, children):
            if child is not None and child.returncode is None:
                _stuck.setdefault(words[0], []).append(child)
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


def _end(children: "Sequence[subprocess.Popen[bytes]]") -> None:
    for child in children:
        assert child.stdout is not None
        child.stdout.close()
        _kill(child)
    deadline = time.monotonic() + _ENDS
    for child in children:
        try:
            child.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            pass  # stuck inside a driver call, or not ours to end: nobody is to wait for it


def _is_stuck(tool: str) -> bool:
    """Whether a run of this tool that could not be ended is still there; those that have ended are taken note of."""
    _stuck[tool] = [child for child in _stuck.get(tool, ()) if child.poll() is None]
    return bool(_stuck[tool])


def _kill(child: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass  # all of it has ended
