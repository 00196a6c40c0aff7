"""`aiarts doctor path P` beyond this machine: where pods and nodes see a path, by the server's path map.

The rules and their sentences are the server's, in the reader's language; here they are asked for and laid out.
"""

from __future__ import annotations

import argparse
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from jupyter_aiarts.kernel.errors import ClientError
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import Said
from jupyter_aiarts.kernel.terminal import Style, plain, table

MARKS = {True: "ok", False: "NO", None: "??"}
TEXTS: Dict[str, Tuple[str, str]] = {
    "write": ("write instead: {path}", "请改写为：{path}"),
    "place": ("PLACE", "位置"),
    "cluster": ("CLUSTER", "集群"),
    "here": ("ON THIS SERVER", "本服务器"),
    "pod": ("IN A POD", "Pod 中"),
    "source": ("COMES FROM", "来源"),
    "unseen": ("not seen", "看不到"),
    "same": ("the same path", "路径相同"),
}


def look_for(session: Session, given: argparse.Namespace, checked: Mapping[str, Any]) -> Dict[str, Any]:
    """What this machine said about a path, with what the path map says of pods; `ok` is about what was asked for.

    A server that cannot be asked only matters to somebody who asks about one of its clusters.
    """
    job = session.find(given.job) if given.job else None
    asked = given.cluster is not None or job is not None
    try:
        found = session.client.places(given.path, given.cluster, job)["report"]
    except ClientError:
        if asked:
            raise
        return dict(checked)
    if not asked:
        told = [one for one in found["views"] if one["where"] != "server"]
        return {**checked, "views": told, "reasons": found["reasons"], "write": found["write"]}
    parts = {key: found[key] for key in ("views", "reasons", "write")}
    return {"path": found["path"], "ok": found["visible"] is not False, "checks": [], **parts}


def lines_of(report: Mapping[str, Any], style: Style) -> List[str]:
    """The views, then why, then what to write instead."""
    lines = [f"{_mark(one)}  {plain(one['message'])}" for one in report.get("views") or ()]
    lines += [f"    {plain(one['message'])}" for one in report.get("reasons") or ()]
    if report.get("write"):
        lines.append("    " + _say(style, "write", path=plain(report["write"])))
    return lines


def _mark(view: Mapping[str, Any]) -> str:
    return "  " if view["where"] == "node" else MARKS[view["visible"]]


def all_places(session: Session, given: argparse.Namespace) -> Outcome:
    """The whole path map."""
    job = session.find(given.job) if given.job else None
    found = session.client.places(None, given.cluster, job)["places"]
    text = places_text(found, session.style)
    return Outcome(Said(text), found, text)


def places_text(found: Sequence[Mapping[str, Any]], style: Style) -> str:
    """One row for each place; what this server does not see is said."""
    heads = [_say(style, name) for name in ("cluster", "place", "here", "pod", "source")]
    rows = [[one["cluster"], one["name"], _here(one, style), _pod(one, style), one["source"]] for one in found]
    return table(heads, rows, style)


def _here(one: Mapping[str, Any], style: Style) -> str:
    return str(one["here"]) if one["here"] is not None else _say(style, "unseen")


def _pod(one: Mapping[str, Any], style: Style) -> str:
    return _say(style, "same") if one["kind"] == "machine" else str(one["pod"])


def _say(style: Style, text: str, **values: Any) -> str:
    return TEXTS[text][style.lang == "zh"].format(**values)
