"""Every text by its id, in both languages; one file per family, imported when one of its texts is wanted."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Mapping

from jupyter_aiarts.explain.words.text import Text

# Asked in this order: most jobs of a list have ended.
ROOMS = (
    "end", "wait", "start", "cluster", "images", "room", "queue", "program", "memory", "libraries", "cards", "talk",
    "usage", "kernels",
    "placing", "quota", "refusals", "mounts",
    "nodes",
)  # fmt: skip


class _Texts(Mapping[str, Text]):
    """The next room is imported only for an id that those before it do not have."""

    def __getitem__(self, key: str) -> Text:
        for name in ROOMS:
            if key in (texts := _room(name)):
                return texts[key]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for name in ROOMS for key in _room(name))

    def __len__(self) -> int:
        return sum(len(_room(name)) for name in ROOMS)


@functools.cache
def _room(name: str) -> Mapping[str, Text]:
    texts: Mapping[str, Text] = importlib.import_module(f"{__name__}.{name}").TEXTS
    return texts


TEXTS = _Texts()
