"""Starting one rank: argv and environ only, a session of its own, nothing of the launcher inherited."""

import errno
import os
import signal
from typing import List, Mapping, NamedTuple, Optional, Tuple

from . import linux
from .octets import to_bytes


class Pipes(NamedTuple):
    """The launcher's ends of a rank's output."""

    stdout: int
    stderr: int


class NotStarted(Exception):
    """The rank's program could not be run; `step` is "workdir" or "exec"."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(f"{step}: {os.strerror(number)}")
        self.step = step
        self.number = number


_STEPS = (b"workdir", b"exec")
_FROM_DEFAULT = ("SIGPIPE", "SIGXFSZ", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCHLD")


def spawn(argv: List[str], environ: Mapping[str, str], workdir: str) -> Tuple[int, Pipes]:
    """Start `argv` in `workdir` with just `environ`: its pid and pipes. Raises `NotStarted`, `OSError`.

    The rank reads /dev/null, leads its own session and process group, and is killed when the launcher dies.
    """
    words = [to_bytes(word) for word in argv]
    variables = {to_bytes(name): to_bytes(value) for name, value in environ.items()}
    folder = to_bytes(workdir)
    ends: List[int] = []
    try:
        for _ in range(3):
            ends.extend(os.pipe())  # close-on-exec, all of them
        pid = _fork(words, variables, folder, ends)
    except BaseException:
        _close(ends)
        raise
    _close([ends[1], ends[3], ends[5]])
    failure = _read_failure(ends[4])
    if failure is None:
        return pid, Pipes(ends[0], ends[2])
    os.waitpid(pid, 0)
    _close([ends[0], ends[2]])
    raise failure


def exit_code(status: int) -> int:
    """A wait status as one number: the exit code, or 128 + the signal."""
    if os.WIFSIGNALED(status):
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def signal_name(code: int) -> Optional[str]:
    """The signal an exit code of 128 + n stands for, e.g. SIGKILL."""
    try:
        return signal.Signals(code - 128).name
    except ValueError:
        return None


def _fork(words: List[bytes], variables: Mapping[bytes, bytes], folder: bytes, ends: List[int]) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    report = ends[5]
    step = 0
    try:
        _become_rank(parent, ends[1], ends[3])
        os.chdir(folder)
        step = 1
        os.execve(words[0], words, variables)
    except OSError as error:
        os.write(report, b"%d %d" % (step, error.errno or errno.EIO))
    except ValueError:  # a NUL inside a word
        os.write(report, b"%d %d" % (step, errno.EINVAL))
    finally:
        os._exit(127)  # never back into the launcher's code


def _become_rank(parent: int, stdout: int, stderr: int) -> None:
    os.setsid()
    linux.die_with_parent()
    if os.getppid() != parent:
        os._exit(127)  # the launcher died before the promise was made
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout, 1), (stderr, 2)):
        os.dup2(source, target)
    signal.set_wakeup_fd(-1)
    for name in _FROM_DEFAULT:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _read_failure(pipe: int) -> Optional[NotStarted]:
    """Empty when exec closed the pipe, that is, when the program runs."""
    try:
        words = os.read(pipe, 64).split()
    finally:
        os.close(pipe)
    if not words:
        return None
    return NotStarted(_STEPS[int(words[0])].decode("ascii"), int(words[1]))


def _close(ends: List[int]) -> None:
    for end in ends:
        os.close(end)
