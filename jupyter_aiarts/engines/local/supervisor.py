"""The one process per host and state folder that moves the queue, with no server or with three.

It starts queued jobs in order, passes on what their owners want, notices what ended and writes it down, and ends when
there is nothing to do. It may be killed at any moment: everything it knows is in the folder, launchers live on without
it, and the next one (started by whoever needs it) goes on where it was.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_aiarts.engines.local.folder import StateFolder, this_host
from jupyter_aiarts.engines.local.process import is_held, take_lock

if TYPE_CHECKING:
    from jupyter_aiarts.engines.local.round import Round
    from jupyter_aiarts.engines.local.runtime import Bell

LINGER = 10.0  # seconds it waits for more work, so that a second job starts without starting Python first
HOUR = 3600.0  # between looks for jobs that the admin does not want kept any longer
GLANCE = 30.0  # seconds between looks at the folder while jobs live: the bell is quick, but may be lost


def lock_of(state: Path) -> Path:
    return state / f"supervisor.{this_host()}.lock"


def ensure_supervisor(state: Path) -> None:
    """Start this host's supervisor unless one lives. Called after a job was written, never before."""
    if is_held(lock_of(state)):
        return
    kept = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_RUNTIME_DIR", "PYTHONPATH", "VIRTUAL_ENV")
    environ = {name: os.environ[name] for name in kept if name in os.environ}
    starter = subprocess.Popen(
        [sys.executable, "-m", "jupyter_aiarts.engines.local", str(state)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=environ,
    )
    starter.wait()  # it forks and returns at once


class Alarm:
    """Wakes the loop: the bell, the end of a launcher, a signal, or the hour."""

    def __init__(self, bell: Bell) -> None:
        self.selector = selectors.DefaultSelector()
        self.selector.register(bell, selectors.EVENT_READ)
        self.pidfds: dict[int, int] = {}  # pid → handle
        reader, self.writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.selector.register(reader, selectors.EVENT_READ)
        self.reader = reader
        signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)

    def watch(self, pid: int, handle: int | None) -> None:
        """Wake when this process ends."""
        if handle is None:
            return
        if pid in self.pidfds:
            os.close(handle)
            return
        self.pidfds[pid] = handle
        self.selector.register(handle, selectors.EVENT_READ, data=pid)

    def wait(self, seconds: float | None) -> None:
        """Sleep until something happens; processes that ended are forgotten."""
        for key, _ in self.selector.select(seconds):
            if key.data is not None:
                handle = self.pidfds.pop(key.data)
                self.selector.unregister(handle)
                os.close(handle)
        with contextlib.suppress(BlockingIOError):
            os.read(self.reader, 512)


def serve(state: Path) -> None:
    """Be the supervisor until there is nothing left to do; returns at once when another one lives."""
    from jupyter_aiarts.engines.local.round import Round
    from jupyter_aiarts.engines.local.runtime import Bell, runtime_folder

    folder = StateFolder.open(state)
    runtime = runtime_folder(folder.root)
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    signal.signal(signal.SIGINT, lambda *_: ended.append(1))
    while not ended:
        lock = take_lock(lock_of(folder.root))
        if lock is None:
            return
        bell = Bell(runtime)
        try:
            folder.sweep()
            _rounds(Round(folder, runtime), Alarm(bell), bell, ended)
        finally:
            bell.close()
            os.close(lock)
        # Who wrote a job while we held the lock did not start another supervisor: look once more without it.
        if not Round(folder, runtime).has_work():
            return


def _rounds(work: Round, alarm: Alarm, bell: Bell, ended: list[int]) -> None:
    idle_since: float | None = None
    cleaned = -HOUR
    while not ended:
        if time.monotonic() - cleaned >= HOUR:
            work.clean()
            cleaned = time.monotonic()
        bell.drain()
        wake = work.go(alarm)
        now = time.monotonic()
        if work.busy:
            idle_since = None
        elif idle_since is None:
            idle_since = now
        elif now - idle_since >= LINGER:
            return
        alarm.wait(min(wake, GLANCE) if work.busy else LINGER)
