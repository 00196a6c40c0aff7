"""The engine for Kubernetes clusters; imported only when one is configured, because it brings an HTTP client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.engine import KubernetesEngine


def open_cluster(name: str, raw: Mapping[str, Any], state: Path) -> KubernetesEngine:
    """The engine of one entry of `AiartsApp.clusters`; raises `InvalidSettings` with all that is wrong with it."""
    from jupyter_aiarts.engines.kubernetes.engine import KubernetesEngine
    from jupyter_aiarts.engines.kubernetes.settings import read_settings

    return KubernetesEngine(read_settings(name, raw), state)


def open_own_cluster(state: Path) -> KubernetesEngine | None:
    """The cluster that this server itself is a pod of, where it has a service account; else None."""
    from jupyter_aiarts.engines.kubernetes.engine import KubernetesEngine
    from jupyter_aiarts.engines.kubernetes.settings import in_cluster

    settings = in_cluster()
    return KubernetesEngine(settings, state) if settings is not None else None
