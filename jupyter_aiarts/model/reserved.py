"""Variables that the platform sets itself, so that a user's value would be a lie or a theft."""

from __future__ import annotations

from jupyter_aiarts.launcher.environment import GRANT_VARIABLES, RANK_VARIABLES
from jupyter_aiarts.model.spec import LOCAL
from jupyter_aiarts.model.wording import worded

IN_POD_FREE = frozenset(["CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"])
"""In a pod these only choose among its own cards; on this machine they keep two jobs off one card."""


def why_reserved(name: str, cluster: str) -> str:
    """Why a user may not set this variable on this cluster, as sentences; empty when they may."""
    if name in RANK_VARIABLES:
        return worded("{name} is reserved: the launcher gives every rank its own value. Remove it.", name=name)
    if name in GRANT_VARIABLES | IN_POD_FREE and (cluster == LOCAL or name not in IN_POD_FREE):
        return worded(
            "{name} is reserved: it decides which cards a job sees. Remove it; `devices` is how to ask for cards.",
            name=name,
        )
    return ""
