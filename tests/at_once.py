"""Writing a file that somebody may be reading at this moment."""

from __future__ import annotations

from pathlib import Path


def write_at_once(path: Path, text: str) -> None:
    """In one step, as the kubelet and careful programs do: a reader finds all of the old text or all of the new."""
    beside = path.with_name(f"..{path.name}")
    beside.write_text(text)
    beside.replace(path)
