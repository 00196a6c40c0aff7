"""Asking a tool of the driver that may hang, never stop printing, or be no program at all."""

import os
import selectors
import signal
import subprocess
import time
from typing import Dict, List, Mapping, Optional, Sequence

_ENOUGH = 64 * 1024  # bytes of one answer


def ask(commands: Sequence[Sequence[str]], environ: Mapping[str, str], seconds: float) -> List[str]:
    """What each command printed on stdout until `seconds` were over for all of them; whatever still runs is ended."""
    children = [_start(words, environ) for words in commands]
    try:
        heard = _listen([child for child in children if child is not None], time.monotonic() + seconds)
    finally:
        for child in children:
            if child is not None:
                _end(child)
    return [heard.get(child.pid, b"").decode("utf-8", "replace") if child else "" for child in children]


def _start(words: Sequence[str], environ: Mapping[str, str]) -> "Optional[subprocess.Popen[bytes]]":
    try:
        return subprocess.Popen(
            list(words),
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
    with selectors.DefaultSelector() as selector:
        for child in children:
            assert child.stdout is not None
            selector.register(child.stdout, selectors.EVENT_READ, child.pid)
        while selector.get_map() and time.monotonic() < deadline:
            for key, _ in selector.select(max(deadline - time.monotonic(), 0)):
                piece = os.read(key.fd, _ENOUGH)
                heard[key.data] = heard.get(key.data, b"") + piece
                if not piece or len(heard[key.data]) >= _ENOUGH:
                    selector.unregister(key.fileobj)
    return heard


def _end(child: "subprocess.Popen[bytes]") -> None:
    assert child.stdout is not None
    child.stdout.close()
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass  # all of it has ended
    try:
        child.wait(1)
    except subprocess.TimeoutExpired:
        pass  # stuck inside a driver call: nobody can end it, and nobody is to wait for it
