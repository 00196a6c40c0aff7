"""A launcher as a child of this process: its output as it comes, interrupts passed on, nothing left behind."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type

from jupyter_aiarts.kernel.session import Session
from jupyter_aiarts.kernel.terminal import log_text

LAUNCHER = Path(__file__).parent.parent / "launcher" / "__main__.py"
LONGEST_LINE = 64 * 1024
PROGRESS_SECONDS = 2.0
"""How often a line that only redraws itself is shown."""
Stream = Tuple[int, str]


class Frames:
    """The launcher's frames out of chunks that may end anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, data: bytes) -> Iterator[Tuple[int, str, bytes]]:
        """Rank, stream and bytes, for every frame that is whole by now; empty bytes end a stream."""
        self._rest += data
        while True:
            head, newline, body = self._rest.partition(b"\n")
            if not newline:
                return
            rank, stream, count = head.split(b" ")
            if len(body) < int(count):
                return
            self._rest = body[int(count) :]
            yield int(rank), stream.decode("ascii"), body[: int(count)]


class Screen:
    """Lines of several ranks, whole and each with its rank before it; a progress bar now and then."""

    def __init__(self, session: Session, tagged: bool) -> None:
        self._session = session
        self._tagged = tagged
        self._partial: Dict[Stream, bytes] = {}
        self._drawn: Dict[Stream, float] = {}
        self._batch: List[Tuple[str, str]] = []

    def take(self, rank: int, stream: str, data: bytes) -> None:
        """Show the lines that are whole now."""
        key = (rank, stream)
        *lines, rest = (self._partial.pop(key, b"") + data).split(b"\n")
        if rest and (not data or len(rest) > LONGEST_LINE):
            lines, rest = [*lines, rest], b""
        if rest:
            self._partial[key] = rest
        for line in lines:
            self._add(key, line)

    def draw(self) -> None:
        """Show how far lines are that redraw themselves, at most every few seconds."""
        now = time.monotonic()
        for key, partial in self._partial.items():
            if b"\r" in partial and now - self._drawn.get(key, 0.0) >= PROGRESS_SECONDS:
                self._drawn[key] = now
                last = [part for part in partial.split(b"\r") if part][-1:]
                self._partial[key] = b"\r" + b"".join(last)
                self._add(key, b"".join(last))

    def flush(self) -> None:
        """Hand over what was gathered, in order, with as few calls as possible."""
        while self._batch:
            stream = self._batch[0][0]
            count = next((i for i, one in enumerate(self._batch) if one[0] != stream), len(self._batch))
            text = "\n".join(text for _, text in self._batch[:count])
            del self._batch[:count]
            (self._session.write if stream == "stdout" else self._session.notice)(text)

    def _add(self, key: Stream, line: bytes) -> None:
        text = line.decode("utf-8", "replace")
        if self._session.style.colour or self._session.notebook:
            text = log_text(text, True)
        tagged = self._tagged and key[1] != "aiarts"  # the launcher's own words are nobody's
        self._batch.append((key[1], f"[rank {key[0]}] {text}" if tagged else text))


class Interrupts:
    """While it is entered, Ctrl-C and a notebook's stop button call `heard` instead of raising somewhere."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard
        self._before: Any = None
        self._ours = threading.current_thread() is threading.main_thread()  # others cannot have handlers

    def __enter__(self) -> Interrupts:
        if self._ours:
            self._before = signal.signal(signal.SIGINT, lambda *_: self._heard())
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, self._before)


class Watched:
    """One launcher and its ranks, from start to end. However `follow` is left, all of them have ended by then."""

    def __init__(self, plan: Mapping[str, Any], folder: str) -> None:
        self._folder = folder
        self._plan = os.path.join(folder, "plan.json")
        self._interrupts = 0
        self._process: Optional[subprocess.Popen[bytes]] = None
        with open(os.open(self._plan, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            json.dump(plan, file)

    def follow(self, screen: Screen, told: Callable[[], None]) -> bool:
        """Show everything until the end; True when somebody interrupted, and `told` was called at the first time."""
        with Interrupts(self._interrupted):
            self._process = self._start()
            try:
                self._pass_on(self._process, screen, told)
            finally:
                self._let_go(self._process)
        return self._interrupts > 0

    def summary(self) -> Dict[str, Any]:
        """How it ended; where the launcher could not even say that, its own last words."""
        try:
            with open(os.path.join(self._folder, "summary.json"), encoding="utf-8") as file:
                found: Dict[str, Any] = json.load(file)
            return found
        except (OSError, ValueError):
            with open(self._errors, encoding="utf-8", errors="replace") as file:
                said = file.read().strip()
            return {"result": "lost", "problem": {"message": said or "the launcher was killed", "hint": ""}}

    @property
    def _errors(self) -> str:
        return os.path.join(self._folder, "launcher.err")

    def _start(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-I", "-S", str(LAUNCHER), "watched", self._plan, "0", self._folder + "/node-0"]
        with open(self._errors, "wb") as errors:
            # A session of its own: a Ctrl-C in the terminal is this process's to pass on.
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, bufsize=0
            )

    def _pass_on(self, process: subprocess.Popen[bytes], screen: Screen, told: Callable[[], None]) -> None:
        assert process.stdout is not None
        frames, said = Frames(), False
        while True:
            ready, _, _ = select.select([process.stdout], [], [], PROGRESS_SECONDS / 4)
            if self._interrupts and not said:
                said = True
                process.terminate()  # again, if the first word came before it could hear
                told()
            data = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if ready and not data:
                return screen.flush()
            for frame in frames.take(data):
                screen.take(*frame)
            screen.draw()
            screen.flush()

    def _interrupted(self) -> None:
        """The first time ask, after that force."""
        self._interrupts += 1
        process = self._process
        if process is None or process.poll() is not None:
            return
        if self._interrupts == 1:
            process.terminate()
        else:
            self._force(process)

    def _force(self, process: subprocess.Popen[bytes]) -> None:
        try:
            assert process.stdin is not None
            process.stdin.write(b"!")
        except (OSError, ValueError):
            pass  # it has just ended

    def _let_go(self, process: subprocess.Popen[bytes]) -> None:
        """Leave only when it has ended, which it does when its ranks and all that they started have."""
        assert process.stdin is not None and process.stdout is not None
        failing = sys.exc_info()[0] is not None  # whoever reads us went away, or a fault of ours
        process.stdout.close()
        if failing and process.poll() is None:
            process.terminate()
        process.wait()
        process.stdin.close()
