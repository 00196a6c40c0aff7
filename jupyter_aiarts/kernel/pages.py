"""What jobs look like as HTML in a cell, where no widget runs. Everything from outside is escaped: a job's
name, its log and its explanation are other people's text. No script, no link, no style sheet: it also lives
in saved notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, List, Mapping, Sequence

from jupyter_aiarts.kernel.display import devices_text, facts
from jupyter_aiarts.kernel.terminal import log_text, plain
from jupyter_aiarts.kernel.words import head, local_time, phase_word, running_time, say

Data = Mapping[str, Any]
# Jupyter's own colours where it defines them, so that dark themes stay readable.
COLOURS = {
    "queued": "var(--jp-warn-color1, #b26a00)",
    "starting": "var(--jp-info-color1, #00767c)",
    "running": "var(--jp-success-color1, #2e7d32)",
    "paused": "var(--jp-accent-color1, #7b1fa2)",
    "succeeded": "var(--jp-success-color1, #2e7d32)",
    "failed": "var(--jp-error-color1, #c62828)",
    "lost": "var(--jp-error-color1, #c62828)",
}


def job_html(job: Data, lang: str) -> str:
    """One job."""
    title = f"<b>{text(job['name'])}</b> <code>{text(job['id'])}</code> {phase_html(job['phase'], lang)}"
    rows = [[head(lang, key), value] for key, value in facts(job)]
    notes = "".join(f"<div>{text(note)}</div>" for note in job.get("notes") or ())
    why = explanation_html(job["explanation"]) if job.get("explanation") else ""
    return f"<div><div>{title}</div>{notes}{why}{table_html([], rows)}</div>"


def jobs_html(jobs: Sequence[Data], lang: str) -> str:
    """A list of jobs."""
    if not jobs:
        return f"<div>{text(say(lang, 'no-jobs'))}</div>"
    body = "".join(_job_row(job, lang) for job in jobs)
    heads = "".join(_head(head(lang, key)) for key in ("id", "name", "phase", "devices", "created", "time"))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _job_row(job: Data, lang: str) -> str:
    cells = [
        f"<code>{text(job['id'])}</code>",
        text(job["name"]),
        phase_html(job["phase"], lang),
        text(devices_text(job["spec"])),
        text(local_time(job["created"])),
        text(running_time(job.get("started"), job.get("ended"))),
    ]
    return "<tr>" + "".join(_cell(cell) for cell in cells) + "</tr>"


def phase_html(phase: str, lang: str) -> str:
    """A phase: its word, and a colour that only repeats what the word says."""
    colour = COLOURS.get(phase, "inherit")
    return f'<span style="color: {colour}; font-weight: bold">{text(phase_word(lang, phase))}</span>'


def explanation_html(explanation: Data) -> str:
    """Title, reason, evidence, actions."""
    parts: List[str] = [
        f"<div><b>{text(explanation['title'])}</b></div>",
        f"<div>{text(explanation.get('why') or '')}</div>",
    ]
    seen = explanation.get("evidence") or ()
    if seen:
        parts.append(log_html(str(one) for one in seen))
    if explanation.get("actions"):
        parts.append("<ol>" + "".join(map(_action_html, explanation["actions"])) + "</ol>")
    return "<div>" + "".join(parts) + "</div>"


def _action_html(action: Data) -> str:
    command = f" <code>{text(action['command'])}</code>" if action.get("command") else ""
    return f"<li>{text(action['label'])}{command}</li>"


def log_html(lines: Iterable[str]) -> str:
    """Log lines as text; escape codes are dropped."""
    return "<pre>" + "\n".join(escape(log_text(line, colour=False)) for line in lines) + "</pre>"


def table_html(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A plain table of texts."""
    top = "<thead><tr>" + "".join(_head(one) for one in heads) + "</tr></thead>" if heads else ""
    body = "".join("<tr>" + "".join(_cell(text(cell)) for cell in row) + "</tr>" for row in rows)
    return f"<table>{top}<tbody>{body}</tbody></table>"


def text(value: Any) -> str:
    """Anything from outside, as text and nothing else."""
    return escape(plain(value))


def _head(value: str) -> str:
    return f'<th style="text-align: left">{text(value)}</th>'


def _cell(html: str) -> str:
    return f'<td style="text-align: left">{html}</td>'
