"""A server that only mirrors one pod, for tests that kill it: `python mirroring.py KUBECONFIG STATE FACTS`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from jupyter_aiarts.engines.kubernetes.archive import Archive, PodFacts
from jupyter_aiarts.engines.kubernetes.client import Api
from jupyter_aiarts.engines.kubernetes.settings import read_settings


async def token(namespace: str, secret: str) -> str:
    """What the tests' launchers know."""
    return "5ec2e7"


async def main(kubeconfig: str, state: str, facts: str) -> None:
    """Mirror until killed."""
    api = await Api.open(read_settings("k8s", {"kubeconfig": kubeconfig}))
    archive = Archive(api, Path(state), "k8s", token)
    archive.keep([msgspec.json.decode(facts, type=PodFacts)])
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
