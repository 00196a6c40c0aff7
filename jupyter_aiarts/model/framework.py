"""Which framework a start file uses, guessed from what it imports."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

_FRAMEWORKS = {
    "torch": "pytorch",
    "torch_npu": "pytorch",
    "torchvision": "pytorch",
    "lightning": "pytorch",
    "pytorch_lightning": "pytorch",
    "accelerate": "pytorch",
    "deepspeed": "pytorch",
    "transformers": "pytorch",
    "tensorflow": "tensorflow",
    "keras": "tensorflow",
    "npu_bridge": "tensorflow",
    "npu_device": "tensorflow",
    "mindspore": "mindspore",
    "mindformers": "mindspore",
}

_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)


def guess_framework(source: str) -> str:
    """`pytorch`, `tensorflow`, `mindspore` or `none`: the framework that the source imports first.

    Engines call it for a spec that names none, and show what they found. Of a notebook the code cells count;
    what Python cannot parse (magics, Python 2) is searched line by line.
    """
    code = _cells(source) if source.lstrip()[:1] == "{" else source
    return next((_FRAMEWORKS[name] for name in _imports(code) if name in _FRAMEWORKS), "none")


def _cells(source: str) -> str:
    """The code of a notebook, or the text itself when it is none. JSON would pass for a Python expression."""
    try:
        cells = json.loads(source)["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    except (ValueError, KeyError, TypeError, RecursionError):
        return source


def _imports(source: str) -> Iterator[str]:
    """The top names of imported packages, in the order of the lines."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for match in _IMPORT.finditer(source):
            yield from (part.strip().split(".")[0].split(" ")[0] for part in (match[1] or match[2]).split(","))
        return
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    for node in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif node.module and not node.level:  # `from .torch import x` is a neighbour, not the framework
            yield node.module.split(".")[0]
