"""A server that may read a log mount and not write to it: what stays of a deleted job is told over REST."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from tornado.httpclient import HTTPResponse

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
SPEC = {"cluster": "lab", "image": "registry.local/aiarts-test:1", "cpu": 0.25, "memory_gb": 0.25}


@pytest.fixture
def seen() -> Iterator[tuple[Path, Path]]:
    """Storage as the nodes have it, and as this server has: mounted there, but read-only."""
    with TemporaryDirectory(prefix="aiarts-logs-") as made, TemporaryDirectory(prefix="aiarts-seen-") as mounted:
        Path(made).chmod(0o1777)
        subprocess.run(["mount", "--bind", made, mounted], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", mounted], check=True)
        try:
            yield Path(made), Path(mounted)
        finally:
            subprocess.run(["umount", mounted], check=True)


@pytest.fixture
def jp_server_config(
    jp_server_config: dict[str, Any], cluster: Cluster, seen: tuple[Path, Path]
) -> Iterator[dict[str, Any]]:
    with cluster.namespace() as namespace:
        mount = {"source": str(seen[0]), "path": str(seen[1])}
        entry = {"kubeconfig": str(cluster.kubeconfig("alice")), "namespaces": [namespace], "log_mount": mount}
        jp_server_config["AiartsApp"]["clusters"] = {"lab": entry}
        yield jp_server_config


async def test_a_delete_that_leaves_files_answers_204_and_says_which_and_why(
    ask: Ask, submitted: Submit, until: Submit, seen: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    job = (await submitted("print('from a pod')", **SPEC))["id"]
    await until(job, "succeeded")
    assert [line["text"] for line in json.loads((await ask(f"jobs/{job}/logs")).body)] == ["from a pod"]
    answer = await ask(f"jobs/{job}", "DELETE", params={"lang": "zh"})
    assert (answer.code, answer.body) == (204, b"")
    said = unquote(answer.headers["X-Aiarts-Left"])
    assert f"仍留在 {seen[1]}/{job}：" in said and "Read-only file system" in said and "管理员" in said
    assert any(f"stayed in {seen[1]}/{job}" in one.getMessage() for one in caplog.records)
    assert (await ask(f"jobs/{job}")).code == 404
    assert (seen[0] / job / "run-1/node-0").is_dir()
