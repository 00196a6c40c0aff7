"""Why a container cannot be made or started, in the runtime's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_aiarts.explain.rules.said import closer, first, text
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_EXEC = re.compile(r'exec: "([^"]{1,1000})": ([\w ./$:-]{1,200})')
_NO_FOLDER = re.compile(r"not a directory")
_PATH = re.compile(r"/[^\s\":]{1,400}")
_RESERVED = re.compile(r"failed to reserve (?:container|sandbox) name")
_NETWORK = (
    "failed to setup network",
    "failed to set up network",
    "networkplugin cni failed",
    "network plugin is not ready",
)
_CARDS = (
    "nvidia-container-cli",
    "libnvidia-ml",
    "ascend-docker-hook",
    "ascend-docker-runtime",
    "failed to inject cdi",
    "gathering device information",
)


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """What the node's runtime could not do."""
    said = text(cause)
    started = first(_EXEC, cause)
    if any(word in said for word in _CARDS):
        return closer(cause, "device-unhealthy", "cards-not-passed-in")
    if started is not None:
        return _not_started(cause, started[1], started[2].lower())
    folder = _no_folder(cause)
    if folder is not None:
        return closer(cause, "mount-missing", "mount-over-file", path=folder)
    if _RESERVED.search(said):
        return closer(cause, "node-unhealthy", "runtime-stuck")
    if any(word in said for word in _NETWORK):
        return closer(cause, "node-unhealthy", "network-missing")
    if "exec format error" in said:
        return closer(cause, "image-wrong-arch")
    return None


def _not_started(cause: Cause, what: str, why: str) -> Cause | None:
    """`exec: "torchrun": executable file not found in $PATH`."""
    if "permission denied" in why:
        return closer(cause, "image-user-permission", "start-denied", what=what)
    if "exec format error" in why:
        return closer(cause, "image-wrong-arch")
    if "not found" in why or "no such file" in why:
        if what.rpartition("/")[2].startswith("python3"):
            return closer(cause, "image-no-python")
        return closer(cause, "start-file-missing", "command-not-in-image", what=what)
    if "is a directory" in why:
        return closer(cause, "start-file-not-executable", "command-is-folder", what=what)
    return None


def _no_folder(cause: Cause) -> str | None:
    """The last path before `not a directory`, where something was to be mounted or a folder made for that."""
    found = first(_NO_FOLDER, cause)
    if found is None:
        return None
    before = found.string[max(0, found.start() - 400) : found.start()]
    paths = _PATH.findall(before) if "mkdir " in before or "mount" in before else []
    return paths[-1] if paths else None
