"""A failed program's last lines, sorted: which of them is its own last statement, which only tells something beside.

Programs print much that is not why they ended: warnings, errors they got over, what other processes said about the
first. So the last uncaught exception stands first, with what Python says was its direct cause; wrappers that only
report another process's end are looked through; and chatter counts for nothing. Where the last exception's own line is
missing nothing earlier takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from jupyter_aiarts.model.harmless import harmless_among

LONGEST = 1000
"""Characters of a line that are read; the launcher keeps 500."""
MOST = 60

_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SPEAKER = re.compile(
    r"^(?:\[(?:rank|default)?\d{1,6}\]:\s?"  # torch ≥ 2.2, torchrun's redirects
    r"|\[\d{1,6},\d{1,6}\]<std(?:err|out)>:\s?"  # mpirun
    r"|\([\w<>. -]{1,60}pid=\d{1,9}(?:, ip=[\d.]{1,40})?\)\s"  # ray
    r"|\s{0,12}\| "  # a group of exceptions
    r"|\d{1,5}: (?=\S+Error\b|Traceback))"  # srun --label
)
_CHATTER = re.compile(
    r"\W{0,3}(?:\d{4}-\d\d-\d\d[T ]?[\d:., -]{0,30}\W{0,3}(?:\S{1,60} - )?)?"
    r"(?:INFO|DEBUG|WARN(?:ING)?|TRACE|NOTICE|I|W|D)\b[:\]\s(/]"
    r"|[IWD]\d{4} \d\d:\d\d"  # glog
    r"|\[[WI] ?\d{0,6}[ \d:.]{0,24}[\w/]{1,80}\.(?:cpp|cc|h|py|ts):\d"  # c10's own log
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [WI] "  # TensorFlow
)
_GOES_ON = re.compile(
    r"Warning: |warnings\.warn\(|\b(?:retry(?:ing)?|falling back|fall back|ignored|ignoring|skipping|be skipped)\b",
    re.IGNORECASE,
)
_NCCL = re.compile(r"\bNCCL WARN\b|\bnccl.{0,40}\b(?:error|fail)", re.IGNORECASE)
_TRACEBACK = re.compile(r"^\s*(?:\w{1,20} )?Traceback \(most recent call last\):")
_FRAME = re.compile(r'^\s+File "[^"]{1,400}", line \d+|^\s+(?:\^|~){2,}')
_SAID = re.compile(r"(?P<kind>[A-Za-z_][\w.]{0,200})(?:: ?(?P<said>.*)|\s*)$")
_KINDS = (
    *("Error", "Exception", "Interrupt", "Exit", "Fault", "Failure", "Timeout", "Iteration", "Expired", "Aborted"),
    *("NotFound", "Closed", "Group"),
)
"""How names of exceptions end; one of another name must stand right below a traceback's frames."""
_DIRECT = "The above exception was the direct cause of the following exception"
_DURING = "During handling of the above exception, another exception occurred"
_THREADS = ("Exception in thread ",)  # ends a thread only: never the last word where there is another
_ASIDES = ("Exception ignored ", "Error in atexit._run_exitfuncs")
_WRAPPERS = (
    "ChildFailedError",
    "CalledProcessError",
    "ProcessExitedException",
    "DeepSpeedError",
    "SignalException",
    "SystemExit",
)


class Statement(Struct, frozen=True):
    """One line, by its place among those given."""

    place: int
    text: str
    kind: str = ""  # the exception's class, without its module; empty for a line that is none
    said: str = ""  # what the exception says

    @property
    def small(self) -> str:
        return self.text.lower()


class Account(Struct, frozen=True):
    """What lines there are to decide by, the most telling first."""

    raised: tuple[Statement, ...] = ()  # the last exception, then those that it was raised from
    more: tuple[Statement, ...] = ()  # what stands beside the exception's line as a part of its message
    beside: tuple[Statement, ...] = ()  # everything else that is no chatter, the last first
    is_cut: bool = False  # the last exception's own line is missing


def cleaned(line: str) -> str:
    """A line without colours and without the tag of the process that wrote it."""
    return _parted(line)[1]


def _parted(line: str) -> tuple[str, str]:
    text = _ANSI.sub("", line[:LONGEST]).rstrip()
    tag = _SPEAKER.match(text)
    return (text[: tag.end()].strip(), text[tag.end() :]) if tag is not None else ("", text)


def account(lines: Sequence[str]) -> Account:
    """The lines, sorted."""
    parted = [_parted(line) for line in lines[-MOST:]]
    tags, texts = [tag for tag, _ in parted], [text for _, text in parted]
    first = len(lines) - len(texts)
    texts = _without_asides(
        ["" if kind else text for kind, text in zip(harmless_among(texts), texts, strict=True)], _ASIDES
    )
    alone = _without_asides(texts, _THREADS)
    texts = alone if any(_raised(alone)) else texts
    end = _before_wrapper(texts)
    raised = [one for one in _raised(texts) if one.place < end]
    last = raised[-1].place if raised else -1
    speaker = tags[last] if raised else None
    is_cut = any(_is_frame(texts[place]) and speaker in (None, tags[place]) for place in range(last + 1, end))
    chain = tuple(_chain(texts, raised)) if raised and not is_cut else ()
    known = {one.place for one in raised}
    rest = [
        Statement(place, text)
        for place, text in enumerate(texts[:end])
        if text.strip() and place not in known and not is_chatter(text) and not _is_frame(text)
    ]
    more = tuple(one for one in rest if one.place > last >= 0) if chain else ()
    beside = tuple(one for one in reversed(rest) if one not in more)
    raised_at, more_at, beside_at = (tuple(_moved(one, first) for one in part) for part in (chain, more, beside))
    return Account(raised_at, more_at, beside_at, is_cut)


def is_chatter(text: str) -> bool:
    """Whether a line says of itself that the program went on after it."""
    talks = _CHATTER.match(text) is not None or _GOES_ON.search(text) is not None
    return talks and _NCCL.search(text) is None


def _moved(one: Statement, by: int) -> Statement:
    return one if not by else Statement(one.place + by, one.text, one.kind, one.said)


def _is_frame(text: str) -> bool:
    return bool(_TRACEBACK.match(text) or _FRAME.match(text))


def _raised(texts: Sequence[str]) -> Iterator[Statement]:
    """Every line that is an exception's own."""
    for place, text in enumerate(texts):
        found = _exception(text, place > 0 and _is_below_frames(texts, place))
        if found is not None:
            yield Statement(place, text, found["kind"].rpartition(".")[2], found["said"] or "")


def _exception(text: str, is_below: bool = False) -> re.Match[str] | None:
    found = _SAID.match(text)
    return found if found is not None and (is_below or found["kind"].endswith(_KINDS)) else None


def _is_below_frames(texts: Sequence[str], place: int) -> bool:
    return texts[place - 1].startswith("    ") and any(_FRAME.match(text) for text in texts[max(0, place - 4) : place])


def _chain(texts: Sequence[str], raised: Sequence[Statement]) -> Iterator[Statement]:
    """The last exception, and before it those that Python says it came from."""
    last = raised[-1]
    yield last
    for earlier in reversed(raised[:-1]):
        between = texts[earlier.place + 1 : last.place]
        if any(_DIRECT in text for text in between):
            yield earlier
        elif any(_DURING in text for text in between):
            if not _is_named(earlier, last) and "exited unexpectedly" not in last.said:
                return
            yield earlier
        elif not (earlier.kind == last.kind and earlier.said == last.said):
            return
        last = earlier


def _is_named(earlier: Statement, last: Statement) -> bool:
    """Whether an exception speaks of what went wrong while the earlier one was handled: a name that was quoted."""
    names = re.findall(r"['\"]([\w./-]{2,100})['\"]|(\blib[\w.+-]{1,60}\.so[\w.]{0,20})", earlier.said)
    return any(name and name in last.said for pair in names for name in pair)


def _before_wrapper(texts: Sequence[str]) -> int:
    """Where the report of a program that only started others begins; the number of lines where there is none."""
    end = len(texts)
    for place in range(len(texts) - 1, -1, -1):
        found = _exception(texts[place])
        if found is None:
            continue
        if found["kind"].rpartition(".")[2] not in _WRAPPERS:
            break
        end = place
        while end and (texts[end - 1].startswith(" ") or _is_frame(texts[end - 1]) or not texts[end - 1]):
            end -= 1
    return end


def _without_asides(texts: list[str], beginnings: tuple[str, ...]) -> list[str]:
    """Without tracebacks that begin so: what Python could not clean up, or what ended another thread."""
    kept, aside = list(texts), False
    for place, text in enumerate(texts):
        if text.startswith(beginnings):
            aside = True
        elif aside and _exception(text):
            aside, kept[place] = False, ""
        elif aside and text and not text.startswith(" ") and not _TRACEBACK.match(text):
            aside = False
        if aside:
            kept[place] = ""
    return kept
