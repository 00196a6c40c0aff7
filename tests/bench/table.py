"""Writes the table of figures between its marks in the pages: `python tests/bench/table.py [--check]`.

The figures are those of results.json, so a page never says a number that nobody measured. `--check` writes nothing
and fails when a page is behind.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")
MARKS = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.DOTALL)
HEAD = "| what | ours | peer | compared | aim |\n|---|---|---|---|---|\n"


def number(value: float) -> str:
    """Three digits, thousands set apart."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded == int(rounded) or rounded >= 100 else f"{rounded:g}"


def quantity(value: float, unit: str) -> str:
    return f"{number(value)} {unit}"


def compared(judged: dict[str, Any], unit: str) -> str:
    """The number that is judged, in words."""
    value = judged["value"]
    if value is None or judged["by"] == "ours":
        return "—"
    if judged["by"] == "worst":
        return f"{quantity(value, unit)} at worst"
    if judged["by"] == "difference":
        return f"{'+' if value > 0 else ''}{quantity(value, unit)}"
    return f"{number(value)}× {'the speed' if judged['by'] == 'speed' else 'the peer'}"


def aim(judged: dict[str, Any], unit: str) -> str:
    """The bound, and whether it is kept."""
    if "bound" not in judged:
        return "—"
    bound = judged["bound"]
    shown = quantity(bound, unit) if judged["by"] in ("ours", "worst", "difference") else f"{bound:g}×"
    sign = "+" if judged["by"] == "difference" else ""
    word = "at least" if judged["at_least"] else "at most"
    return f"{word} {sign}{shown}: {'kept' if judged['met'] else '**missed**'}"


def row(figure: dict[str, Any]) -> str:
    unit, judged, medians = figure["unit"], figure["judged"], figure["medians"]
    peer = f"{quantity(medians['peer'], unit)}: {figure['peer_name']}"
    cells = (figure["title"], quantity(medians["ours"], unit), peer, compared(judged, unit), aim(judged, unit))
    escaped = [cell.replace("|", "\\|") for cell in cells]  # a bar would begin another column
    return f"| {' | '.join(escaped)} |\n"


def table(results: dict[str, Any]) -> str:
    """The whole table, with when and of what it was measured."""
    measured = [figure["measured"] for figure in results.values()]
    newest = max(measured, key=lambda one: str(one["date"]))
    line = f"Measured {newest['date'][:10]} on {newest['cpus']} CPUs, Python {newest['python']}; medians.\n"
    return HEAD + "".join(row(figure) for figure in results.values()) + "\n" + line


def main(check: bool) -> int:
    content = table(json.loads(RESULTS.read_text(encoding="utf-8")))
    behind = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = MARKS.sub(lambda match: match[1] + content + match[2], text)
        if fresh != text:
            behind.append(page.name)
            if not check:
                page.write_text(fresh, encoding="utf-8")
    print(f"{'behind' if check else 'written'}: {', '.join(behind) or 'nothing'}")
    return 1 if check and behind else 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
