"""The page of all explanations, made from their texts: `python tests/docs/explanations.py` rewrites it."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from jupyter_aiarts.explain.codes import Meaning, meanings

PAGE = Path(__file__).parent.parent.parent / "docs" / "explanations.md"
HEAD = """# Explanations

<!-- made by `python tests/docs/explanations.py` from `jupyter_aiarts/explain/`, held by tests/test_docs.py -->

What `aiarts explain JOB`, the sidebar and the API can say about a job, in English and Chinese. … stands for what is
filled in; `JOB` is the job's id or name. Where one code has several sentences, the one that fits is shown.

`aiarts explain JOB --fix 1` does the first thing of the list, after showing what changes; lines for your own shell are
shown and never run. `aiarts explain --list` prints the codes of this page.
"""


def page() -> str:
    """The whole page: a section for each family, below it a heading for each code, which can be linked."""
    pairs = list(zip(meanings("en"), meanings("zh"), strict=True))
    parts = [HEAD]
    for (family, chinese), found in groupby(pairs, key=lambda pair: (pair[0].family, pair[1].family)):
        parts.append(f"## {family} · {chinese}\n")
        for code, sentences in groupby(found, key=lambda pair: pair[0].code):
            rows = [f"| {_told(english)} | {_told(chinese)} |" for english, chinese in sentences]
            parts.append("\n".join([f"### {code}", "", "| English | 中文 |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


def _told(one: Meaning) -> str:
    """What it means and what to do, in one language."""
    lines = [f"**{_plain(one.title)}**", _plain(one.why)]
    lines += [f"{count}. {_plain(action.label)}{_line(action.command)}" for count, action in enumerate(one.actions, 1)]
    return "<br>".join(lines)


def _line(command: str | None) -> str:
    return ": `{}`".format(command.replace("|", "\\|")) if command else ""


def _plain(text: str) -> str:
    """Text in which Markdown finds nothing to do."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
