"""Everything that can go wrong, as one tree.

Each class carries the HTTP status and the machine code under which every door shows it::

    AiartsError                      500  internal
    ├── BadRequest                   400  bad-request          the request itself cannot be read
    │   └── InvalidSpec              400  invalid-spec         carries every problem of a job spec
    ├── NotAllowed                   403  not-allowed
    ├── NotFound                     404  not-found
    │   ├── JobNotFound              404  job-not-found
    │   ├── RunNotFound              404  run-not-found
    │   ├── TemplateNotFound         404  template-not-found
    │   ├── ClusterNotFound          404  cluster-not-found
    │   └── NoSuchRoute              404  no-such-route
    ├── Conflict                     409  conflict
    │   ├── SubmissionConflict       409  submission-conflict  a known submission_id, another spec
    │   ├── WrongPhase               409  wrong-phase          a move that this phase does not offer
    │   ├── FixGone                  409  fix-gone             an action of an explanation that is no longer true
    │   └── JobUnreadable            409  job-unreadable       the job's record is damaged or too new
    ├── TooLarge                     413  too-large
    ├── UnsupportedType              415  unsupported-media-type
    └── Unavailable                  503  unavailable
        ├── Abandoned                503  search-abandoned     a search whose time is over
        ├── ClusterUnreachable       503  cluster-unreachable
        └── StateUnusable            503  state-unusable       read-only, full, or somebody else's

Messages are complete sentences: what happened and why. The hint says what to do.
Standard library only: the launcher, the models and every door import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

Told = TypeVar("Told", bound="AiartsError")


class AiartsError(Exception):
    """The root of the tree; only its subclasses are meant to be raised."""

    status = 500
    code = "internal"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self._chinese: tuple[str, str] | None = None

    def in_chinese(self: Told, message: str, hint: str = "") -> Told:
        """The same error, with what it says to whoever reads Chinese."""
        self._chinese = (message, hint)
        return self

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The body of the answer that tells a client about this error; in English where it has nothing else."""
        message, hint = self._chinese if lang == "zh" and self._chinese is not None else (str(self), self.hint)
        return {"code": self.code, "message": message, "hint": hint}


class BadRequest(AiartsError):
    """The request cannot be understood: broken JSON, a parameter that is not a number."""

    status, code = 400, "bad-request"


class InvalidSpec(BadRequest):
    """A job spec was refused; `problems` holds all its faults as `{"key", "message"}`."""

    code = "invalid-spec"

    def __init__(self, problems: Iterable[Mapping[str, str]], hint: str = "") -> None:
        told = list(problems)
        self.sentences = [problem["message"] for problem in told]  # as they were made: other languages need that
        self.problems = [{"key": problem["key"], "message": str(problem["message"])} for problem in told]
        super().__init__(_headline(self.problems), hint or "Change the named keys and submit again.")

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        return {**super().as_dict(lang), "problems": self.problems}

    def __reduce__(self) -> tuple[type[InvalidSpec], tuple[list[dict[str, str]], str]]:
        # Exception's own would call the class with the message, which is not what it takes.
        return type(self), (self.problems, self.hint)


def _headline(problems: list[dict[str, str]]) -> str:
    """One sentence for a person who sees only the message."""
    if not problems:
        return "The job spec was refused."
    first = problems[0]["message"]
    return first if len(problems) == 1 else f"The job spec has {len(problems)} problems. The first: {first}"


class NotAllowed(AiartsError):
    """This user may not do this here."""

    status, code = 403, "not-allowed"


class NotFound(AiartsError):
    """What was named does not exist; the subclasses say what kind of thing."""

    status, code = 404, "not-found"


class JobNotFound(NotFound):
    """No job has this id, prefix or name."""

    code = "job-not-found"


class RunNotFound(NotFound):
    """The job exists, but not with this run number."""

    code = "run-not-found"


class TemplateNotFound(NotFound):
    """Neither a saved template nor a preset has this name."""

    code = "template-not-found"


class ClusterNotFound(NotFound):
    """No engine is configured under this name."""

    code = "cluster-not-found"


class NoSuchRoute(NotFound):
    """Nothing answers at this address."""

    code = "no-such-route"


class Conflict(AiartsError):
    """The request is well formed, but the present state contradicts it."""

    status, code = 409, "conflict"


class SubmissionConflict(Conflict):
    """The submission_id is taken by a job with another spec."""

    code = "submission-conflict"


class WrongPhase(Conflict):
    """The job's phase does not offer this move."""

    code = "wrong-phase"


class FixGone(Conflict):
    """The situation that an action was offered for is another one now."""

    code = "fix-gone"


class JobUnreadable(Conflict):
    """The job's record exists and cannot be read: damaged, or written by a newer version."""

    code = "job-unreadable"


class TooLarge(AiartsError):
    """The body of a request is larger than any job spec can be."""

    status, code = 413, "too-large"


class UnsupportedType(AiartsError):
    """The body is of a kind this route does not read."""

    status, code = 415, "unsupported-media-type"


class Unavailable(AiartsError):
    """Something this needs is away; the same request may succeed later."""

    status, code = 503, "unavailable"


class Abandoned(Unavailable):
    """The caller no longer wants the answer, or its time is over."""

    code = "search-abandoned"

    def __init__(self) -> None:
        super().__init__(
            "The search in the log took too long and was ended.",
            "Ask for one rank or stream, or go on from an earlier line with before=.",
        )


class ClusterUnreachable(Unavailable):
    """The cluster's API server does not answer."""

    code = "cluster-unreachable"


class StateUnusable(Unavailable):
    """The state folder cannot be used: read-only, full, or owned by or open to somebody else."""

    code = "state-unusable"
