"""Make the virtual environment FOLDER with pip in it; called by the Makefile with the system's Python.

Debian's python3 comes without ensurepip, so three ways are tried in order; when none works nothing is left and
the message names the package to install.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ADVICE = "no ensurepip, pip or virtualenv that an environment can be made with; run: apt-get install python3-venv"


def has_module(name: str) -> bool:
    """Whether this Python could import `name`."""
    return importlib.util.find_spec(name) is not None


def by_venv(folder: Path) -> None:
    """The usual way."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)


def by_system_pip(folder: Path) -> None:
    """An empty environment, filled by the pip that this Python has."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "pip"], check=True)


def by_virtualenv(folder: Path) -> None:
    """virtualenv brings its own pip."""
    command = [sys.executable, "-m", "virtualenv"] if has_module("virtualenv") else ["virtualenv"]
    subprocess.run([*command, "--clear", str(folder)], check=True)


def works(way: Callable[[Path], None], folder: Path) -> bool:
    """Whether the folder could be made this way: what it needs may be there and broken, or too old."""
    try:
        way(folder)
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"failed: {' '.join(error.cmd)}\n")
        return False
    return True


def main(folder: Path) -> None:
    """Use the first way that this machine offers and that works."""
    offered = {
        by_venv: has_module("ensurepip"),
        by_system_pip: has_module("pip"),
        by_virtualenv: has_module("virtualenv") or shutil.which("virtualenv") is not None,
    }
    if not any(there and works(way, folder) for way, there in offered.items()):
        shutil.rmtree(folder, ignore_errors=True)  # a half-made one would pass for an environment the next time
        sys.exit(ADVICE)


if __name__ == "__main__":
    if sys.version_info < (3, 10):
        sys.exit("Python 3.10 or later needed, this is {}.{}; say: make PYTHON=…".format(*sys.version_info))
    main(Path(sys.argv[1]))
