"""Why a job could not be run at all: what is wrong, and what would put it right."""

import errno
from typing import Dict, NamedTuple


class Problem(NamedTuple):
    """One cause, as `summary.json` carries it; `code` is one of the explanation codes where one exists."""

    code: str
    message: str
    hint: str = ""

    def as_json(self) -> Dict[str, str]:
        """The shape that summaries and the meeting's messages have."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class Refused(Exception):
    """The job cannot start (or go on) because of `problem`; nobody is to try again by themselves."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


FULL = (errno.ENOSPC, errno.EDQUOT)


def from_oserror(error: OSError, what: str) -> Problem:
    """The problem behind a failed call on a file; `what` says what we were doing, e.g. "write pod.env"."""
    where = "" if error.filename is None else f" ({error.filename})"
    sentence = f"cannot {what}: {error.strerror or error}{where}"
    if error.errno in FULL:
        return Problem("disk-full", sentence, "free some space on that disk, then run the job again")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem("permission-denied", sentence, "check the owner and the mode of that path")
    return Problem("io-error", sentence, "")
