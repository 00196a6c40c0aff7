"""The table of spec keys in the users' guide, made from the spec itself: `python tests/docs/keys.py` rewrites it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_type_hints

from msgspec import Meta, structs

from jupyter_aiarts.model.spec import JobSpec

GUIDE = Path(__file__).parent.parent.parent / "docs" / "users.md"
HEAD = "<!-- keys: made by `python tests/docs/keys.py`, held by tests/test_docs.py -->"
FOOT = "<!-- end of keys -->"
CLUSTERS_ONLY = {"image", "image_pull_secret", "memory_gb", "shm_gb", "run_as", "preemptible"}


def table() -> str:
    """One row per key, in the spec's own order and words."""
    hints = get_type_hints(JobSpec, include_extras=True)
    rows = [_row(one, hints[one.name]) for one in structs.fields(JobSpec)]
    return "\n".join(["| key | default | meaning |", "|---|---|---|", *rows])


def _row(one: structs.FieldInfo, hint: Any) -> str:
    description = next(meta.description for meta in reversed(hint.__metadata__) if isinstance(meta, Meta))
    cloud = " ☁" if one.name in CLUSTERS_ONLY else ""
    return f"| `{one.name}`{cloud} | {_default(one)} | {description} |"


def _default(one: structs.FieldInfo) -> str:
    # A default that the description tells better ("the start file's name") is left to it.
    if one.name in ("name", "devices") or one.default is None or not isinstance(one.default, bool | int | str):
        return ""
    return f"`{str(one.default).lower() if isinstance(one.default, bool) else one.default}`"


def shown(guide: str) -> str:
    """The table that a guide holds."""
    return guide.split(HEAD)[1].split(FOOT)[0].strip()


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    whole = re.compile(re.escape(HEAD) + ".*" + re.escape(FOOT), re.DOTALL)
    GUIDE.write_text(whole.sub(lambda _: f"{HEAD}\n{table()}\n{FOOT}", text), encoding="utf-8")
