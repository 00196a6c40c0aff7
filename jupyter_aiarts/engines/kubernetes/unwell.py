"""Which cards of a node are unwell, as Huawei's device plugin writes it into a ConfigMap of `kube-system`."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from jupyter_aiarts.engines.kubernetes.nodes import NodeMeta, named_cards

TELLS = "mindx-dl-deviceinfo-"
"""How the ConfigMap of a node begins in which Huawei's device plugin says which of its cards are unwell."""


class _HealthData(Struct, gc=False):
    told: str = field(default="", name="DeviceInfoCfg")


class HealthObject(Struct, gc=False):
    """A ConfigMap in which Huawei's device plugin tells of a node's cards; others of the namespace say nothing."""

    metadata: NodeMeta
    data: _HealthData = field(default_factory=_HealthData)

    @property
    def node(self) -> str | None:
        name = self.metadata.name
        return name[len(TELLS) :] if name.startswith(TELLS) else None

    def unwell(self) -> dict[str, frozenset[int]]:
        """By resource, the cards that are broken or cut off from the others."""
        try:
            told = msgspec.json.decode(self.data.told, type=_DeviceInfo).info.cards
        except (msgspec.DecodeError, UnicodeEncodeError):
            return {}
        found: dict[str, frozenset[int]] = {}
        for key, value in told.items():
            resource, _, what = key.rpartition("-")
            if what in ("Unhealthy", "NetworkUnhealthy") and isinstance(value, str):
                found[resource] = found.get(resource, frozenset()) | (named_cards(value) or set())
        return found


class _DeviceList(Struct):
    cards: dict[str, Any] = field(default_factory=dict, name="DeviceList")


class _DeviceInfo(Struct):
    info: _DeviceList = field(default_factory=_DeviceList, name="DeviceInfo")
