"""What can go wrong between a person and their job, and the exit code that says so.

ClientError                 the root; `exit_code` is what the command line ends with (spec section 10)
├── WrongUsage              the command or a value in it makes no sense here            2
│   └── Ambiguous           a name or id prefix that several jobs share                 2
├── RequestFailed           the server (or the service in-process) refused              by its status
└── Unreachable             nobody answered                                             5
    ├── BrokenOff           the other side stopped in the middle of its answer          5
    └── NoServer            there is nobody to ask                                      5
HelpShown                   not a failure: `--help` was asked for, here is the text
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

Problem = Dict[str, str]


class HelpShown(Exception):
    """Carries a help text out of argparse, which would otherwise print it and end the kernel."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class ClientError(Exception):
    """Anything the doors show as one short message instead of a traceback."""

    exit_code = 1
    code = "error"
    hint: Optional[str] = None

    def to_json(self) -> Dict[str, Any]:
        """The shape of a REST error, which `--json` prints for every failure."""
        return {"code": self.code, "message": str(self), "hint": self.hint}


class WrongUsage(ClientError):
    """The command makes no sense; `hint` says what would."""

    exit_code = 2
    code = "usage"

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.hint = hint


class Ambiguous(WrongUsage):
    """A name or id prefix fits several jobs; the message lists them."""

    code = "ambiguous"

    def __init__(self, text: str, candidates: Sequence[Mapping[str, Any]]) -> None:
        rows = ["  {}  {}  {}".format(job["id"], job.get("phase", ""), job.get("name", "")) for job in candidates[:20]]
        more = len(candidates) - len(rows)
        if more > 0:
            rows.append(f"  … and {more} more")
        super().__init__("{!r} fits {} jobs; use an id:\n{}".format(text, len(candidates), "\n".join(rows)))
        self.candidates = list(candidates)


class RequestFailed(ClientError):
    """A REST error: status, machine code, message, hint and the problems of a spec, all as they were sent."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: Optional[str] = None,
        problems: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.hint = hint
        self.problems: List[Problem] = [
            {"key": str(one.get("key", "")), "message": str(one.get("message", ""))} for one in problems
        ]

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # a constant in the root, here it follows the status
        """3 not found, 4 not allowed, 5 the server's or the cluster's fault, 2 anything else that was
        refused."""
        if self.status == 404:
            return 3
        if self.status in (401, 403):
            return 4
        return 5 if self.status >= 500 else 2

    def to_json(self) -> Dict[str, Any]:
        """As sent, `problems` only where there are some."""
        answer = super().to_json()
        if self.problems:
            answer["problems"] = self.problems
        return answer


class Unreachable(ClientError):
    """Nobody answered at this address, or what answered is not us."""

    exit_code = 5
    code = "unreachable"

    def __init__(self, message: str, hint: Optional[str] = None) -> None:
        super().__init__(message)
        self.hint = hint


class BrokenOff(Unreachable):
    """The request was sent, its answer or stream stopped before the end. `Client.follow` goes on after the
    last line it has; `Client.submit` asks again with the same `submission_id`."""


class NoServer(Unreachable):
    """There is no server to ask and the package is not complete enough to do without one."""

    code = "no-server"
