"""What jobs look like as text; pure functions from the JSON of spec section 10 and a `Style`."""

from __future__ import annotations

import shlex
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.errors import ClientError, RequestFailed
from jupyter_aiarts.kernel.terminal import Style, log_text, pad, plain, table, width, wrapped
from jupyter_aiarts.kernel.words import head, local_time, phase_word, running_time, say

Data = Mapping[str, Any]


def devices_text(spec: Data) -> str:
    """`2 x 8 huawei_npu_arm64`, `cpu`: what a job takes."""
    nodes, cards, device = spec.get("nodes") or 1, spec.get("devices") or 0, spec.get("device") or "cpu"
    if not cards:
        return device if nodes == 1 else f"{nodes} x {device}"
    return f"{cards} {device}" if nodes == 1 else f"{nodes} x {cards} {device}"


def jobs_text(jobs: Sequence[Data], style: Style) -> str:
    """The table of `aiarts jobs`; owners only where there is more than one."""
    if not jobs:
        return say(style.lang, "no-jobs")
    owners = len({job["owner"] for job in jobs}) > 1
    columns = ["id", "name", "phase", "devices", "created", "time", *(["owner"] if owners else [])]
    rows = [[*(_cell(job, column, style) for column in columns), job["phase"]] for job in jobs]
    return table([head(style.lang, column) for column in columns], rows, style, columns.index("phase"))


def _cell(job: Data, column: str, style: Style) -> str:
    if column == "phase":
        return phase_word(style.lang, job["phase"])
    if column == "devices":
        return devices_text(job["spec"])
    if column == "created":
        return local_time(job["created"])
    if column == "time":
        return running_time(job.get("started"), job.get("ended"))
    return str(job[column])


def job_text(job: Data, style: Style) -> str:
    """All of one job: what `aiarts show` prints and a cell shows where there is no HTML."""
    title = "{} ({})  {}".format(
        style.paint(plain(job["name"]), "bold"),
        job["id"],
        style.paint(phase_word(style.lang, job["phase"]), job["phase"]),
    )
    parts = [title, _facts(job, style)]
    parts += [plain(note) for note in job.get("notes") or ()]
    if job.get("explanation"):
        parts.append(explanation_text(job["explanation"], style))
    if len(job.get("ranks") or ()) > 1:
        parts.append(ranks_text(job["ranks"], style))
    return "\n".join(parts)


def facts(job: Data) -> List[Tuple[str, str]]:
    """The rows about a job that have something to say, for text and HTML alike."""
    spec = job["spec"]
    rows = [
        ("cluster", job["cluster"]),
        ("devices", devices_text(spec)),
        ("queue", spec.get("queue") or ""),
        ("script", spec.get("script") or spec.get("command") or ""),
        ("run", str(job.get("run", ""))),
        ("owner", job["owner"]),
        ("created", local_time(job["created"])),
        ("started", local_time(job.get("started"))),
        ("ended", local_time(job.get("ended"))),
        ("time", running_time(job.get("started"), job.get("ended"))),
        ("progress", (job.get("progress") or {}).get("text", "")),
    ]
    return [(key, value) for key, value in rows if value]


def _facts(job: Data, style: Style) -> str:
    rows = [(head(style.lang, key), value) for key, value in facts(job)]
    columns = max(width(key) for key, _ in rows)
    return "\n".join(f"  {style.paint(pad(key, columns), 'dim')}  {plain(value)}" for key, value in rows)


def ranks_text(ranks: Sequence[Data], style: Style) -> str:
    """The ranks as a table."""
    rows = [
        [
            str(rank["rank"]),
            str(rank["node"]),
            phase_word(style.lang, rank["phase"]),
            "" if rank.get("exit_code") is None else str(rank["exit_code"]),
            ",".join(str(card) for card in rank.get("devices") or ()),
            rank["phase"],
        ]
        for rank in ranks
    ]
    return table([head(style.lang, key) for key in ("rank", "node", "phase", "exit_code", "devices")], rows, style, 2)


def explanation_text(explanation: Data, style: Style) -> str:
    """Title, reason, what was seen, what to do: the same words everywhere."""
    lines = [style.paint(wrapped(plain(explanation["title"]), style), "bold")]
    if explanation.get("why") and explanation["why"] != explanation["title"]:
        lines.append(wrapped(plain(explanation["why"]), style, "  "))
    lines += ["  | " + log_text(str(seen), style.colour) for seen in explanation.get("evidence") or ()]
    for count, action in enumerate(explanation.get("actions") or (), 1):
        lines.append(wrapped(plain(action["label"]), style, f"  {count}. "))
        if action.get("command"):
            lines.append("     $ " + plain(action["command"]))
    return "\n".join(lines)


def submitted_text(job: Data, created: bool, style: Style) -> str:
    """What `submit` says: the id, the phase, everything worth knowing, and where to go from here."""
    known = {"name": plain(job["name"]), "id": job["id"]}
    lines = [
        say(style.lang, "submitted" if created else "known", **known) + ": " + phase_word(style.lang, job["phase"])
    ]
    lines += [plain(note) for note in job.get("notes") or ()]
    if job.get("explanation"):
        lines.append(explanation_text(job["explanation"], style))
    commands = "   ".join(f"aiarts {verb} {job['id']}" for verb in ("logs -f", "explain", "stop"))
    lines.append(style.paint(say(style.lang, "next", commands=commands), "dim"))
    return "\n".join(lines)


def moved_text(job: Data, move: str, style: Style) -> str:
    """ "Stopped name (id)", or "Stopping …" while it is not there yet."""
    waiting = {"stop": "stopping", "pause": "pausing"}.get(move)
    reached = job["phase"] in ("stopped", "paused", "succeeded", "failed", "lost")
    text = say(
        style.lang,
        waiting if waiting and not reached else move,
        name=plain(job["name"]),
        id=job["id"],
        run=job.get("run"),
    )
    return text + (": " + phase_word(style.lang, job["phase"]) if move in ("resume", "rerun") else "")


def ended_text(job: Data, style: Style) -> str:
    """How a job that was waited for came out, and why."""
    phase = style.paint(phase_word(style.lang, job["phase"]), job["phase"])
    lines = [f"{plain(job['name'])} ({job['id']}): {phase}"]
    if job.get("explanation"):
        lines.append(explanation_text(job["explanation"], style))
    return "\n".join(lines)


def dry_run_text(answer: Data, style: Style) -> str:
    """What a dry run found: whether it fits, why not, and the spec as it would be used."""
    fits = {True: "fits", False: "fits-not"}.get(answer.get("fits"), "fits-unknown")  # type: ignore[arg-type]
    lines = [say(style.lang, fits), *(plain(note) for note in answer.get("notes") or ())]
    if answer.get("explanation"):
        lines.append(explanation_text(answer["explanation"], style))
    return "\n".join([*lines, spec_text(answer["spec"])])


def spec_text(spec: Data) -> str:
    """A spec's keys that say something, one per line."""
    given = {key: value for key, value in spec.items() if value not in (None, [], {}, False)}
    columns = max((width(key) for key in given), default=0)
    return "\n".join(f"  {pad(key, columns)}  {plain(value_text(value))}" for key, value in given.items())


def value_text(value: Any) -> str:
    """A value of a spec on one line."""
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def env_text(variables: Mapping[str, Optional[str]], style: Style) -> str:
    """`NAME=value` lines a shell could read; a secret says that it is one."""
    return "\n".join(f"{name}={_quoted(value, style)}" for name, value in sorted(variables.items()))


def env_diff(a: Mapping[str, Optional[str]], b: Mapping[str, Optional[str]]) -> Dict[str, List[Optional[str]]]:
    """The variables that differ, as `{name: [in a, in b]}`; one that is missing on a side is None there."""
    return {
        name: [a.get(name), b.get(name)]
        for name in sorted({*a, *b})
        if (name in a, a.get(name)) != (name in b, b.get(name))
    }


def env_diff_text(a: Mapping[str, Optional[str]], b: Mapping[str, Optional[str]], style: Style) -> str:
    """The difference as `-` and `+` lines."""
    lines = []
    for name in env_diff(a, b):
        lines += [style.paint(f"- {name}={_quoted(a[name], style)}", "failed")] if name in a else []
        lines += [style.paint(f"+ {name}={_quoted(b[name], style)}", "running")] if name in b else []
    return "\n".join(lines) or say(style.lang, "same")


def _quoted(value: Optional[str], style: Style) -> str:
    return say(style.lang, "secret") if value is None else shlex.quote(value)


def line_text(line: Data, style: Style, tagged: bool) -> str:
    """One log line; `tagged` puts the rank before it. Without colours, and so in files, the text is exactly
    itself."""
    text = log_text(line["text"], True) if style.colour else line["text"]
    if line["stream"] == "aiarts":
        return style.paint(text, "dim")
    if line["stream"] == "stderr" and style.colour and "\x1b" not in text:
        text = style.paint(text, "error")
    tag = f"[{line['rank']}] " if tagged else ""
    count, harmless = line.get("folded", 0), str(line.get("harmless") or "")
    more = "\n" + tag + repeated_text(count, style, harmless) if count or harmless else ""
    return tag + text + more


def repeated_text(count: int, style: Style, harmless: str = "") -> str:
    """The mark that stands for lines not shown, and says of a known flood why it means nothing."""
    name = ("harmless" if count else "harmless-one") if harmless else "repeated"
    return style.paint(say(style.lang, name, count=count, why=plain(harmless)), "dim")


def same_line(a: Data, b: Data) -> bool:
    """Whether folding takes two neighbouring lines for one."""
    return all(a[key] == b[key] for key in ("text", "rank", "stream"))


def folded(lines: Iterable[Data]) -> List[Dict[str, Any]]:
    """Runs of the same line of one rank and stream as one line, whose `folded` counts the others."""
    result: List[Dict[str, Any]] = []
    for line in lines:
        if result and same_line(result[-1], line):
            result[-1]["folded"] = result[-1].get("folded", 0) + 1
        else:
            result.append(dict(line))
    return result


def folded_live(lines: Iterable[Data], style: Style, tagged: bool) -> Iterator[str]:
    """The same for a log that is still being written: a line at once, how often it came again when another
    comes."""
    last: Optional[Data] = None
    again = 0
    for line in lines:
        if last is not None and same_line(last, line):
            again += 1 + line.get("folded", 0)
            continue
        if again:
            yield repeated_text(again, style)
        last, again = line, 0
        yield line_text(line, style, tagged)
    if again:
        yield repeated_text(again, style)


def templates_text(templates: Sequence[Data], style: Style) -> str:
    """The table of templates."""
    if not templates:
        return say(style.lang, "no-templates")
    rows = [
        [
            one["name"],
            say(style.lang, "preset") if one.get("preset") else "",
            devices_text(one["spec"]),
            one.get("description") or "",
        ]
        for one in templates
    ]
    return table(
        [head(style.lang, "name"), "", head(style.lang, "devices"), head(style.lang, "description")],
        rows,
        style,
    )


def error_text(error: ClientError) -> str:
    """An error for people: the message, each problem with its key, and what to do."""
    lines = [str(error)]
    if isinstance(error, RequestFailed) and error.problems:
        lines = [_problem(one["key"], one["message"]) for one in error.problems]
    return "\n".join([plain_lines(line) for line in lines] + ([plain_lines(error.hint)] if error.hint else []))


def _problem(key: str, message: str) -> str:
    """A problem with its key, which most messages name themselves."""
    return message if not key or message.startswith(key) else f"{key}: {message}"


def plain_lines(text: str) -> str:
    """`plain`, but with its own line breaks kept."""
    return "\n".join(plain(line) for line in text.split("\n"))
