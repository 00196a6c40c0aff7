"""`%%aiarts submit`: the cell becomes a start file of its own, beside the notebook.

Why a file and not the cell's text in the spec: a job is run again, cloned and read weeks later, so its start
file has to be something one can open. Files are named by their content; the same cell never makes two.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import os
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Set

from jupyter_aiarts.kernel.errors import WrongUsage

FOLDER = Path(".aiarts") / "cells"


def check_cell(cell: str) -> ast.Module:
    """The cell as Python; `%` and `!` lines mean something to a notebook only, and are refused."""
    try:
        return ast.parse(cell)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        text = (cell.splitlines() or [""])[min(line, len(cell.splitlines()) or 1) - 1].strip()
        hint = "Lines that begin with % or ! run in a notebook only; leave them out." if text[:1] in "%!" else None
        raise WrongUsage(f"Line {line} of the cell is not Python: {text}", hint) from None


def notebook_names(tree: ast.Module, known: Mapping[str, Any]) -> List[str]:
    """Names the cell uses and never sets, but the notebook has: the job will not know them."""
    used: Set[str] = set()
    made: Set[str] = set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return sorted(name for name in used - made if name in known)


def write_cell(cell: str, folder: Path) -> Path:
    """The start file with this content, readable by its owner alone; written whole or not at all."""
    home = folder / FOLDER
    source = cell if cell.endswith("\n") else cell + "\n"
    path = home / (hashlib.sha256(source.encode()).hexdigest()[:16] + ".py")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(source)
        draft.replace(path)
    except OSError as error:
        hint = "Save the cell with %%writefile where you can write, and submit that file."
        raise WrongUsage(f"The cell cannot be written to {home}: {error.strerror}.", hint) from None
    return path


def cell_spec(spec: Mapping[str, Any], path: Path, folder: Path) -> Dict[str, Any]:
    """`spec` with the cell as its start file. Python looks for modules beside the start file, and those of a
    cell lie beside the notebook, so that folder goes on PYTHONPATH."""
    if spec.get("script") or spec.get("command"):
        raise WrongUsage("The cell is the start file; another start file or command makes no sense beside it.")
    env = dict(spec.get("env") or {})
    before: Optional[str] = env.get("PYTHONPATH") or os.environ.get("PYTHONPATH")
    env["PYTHONPATH"] = os.pathsep.join([str(folder), before]) if before else str(folder)
    return {"name": "cell-" + path.stem[:8], **spec, "script": str(path), "env": env}
