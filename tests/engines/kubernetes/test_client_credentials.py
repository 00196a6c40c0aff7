"""Credentials are read again when they change or run out, and shown to nobody."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.kubernetes import credentials
from jupyter_aiarts.engines.kubernetes.client import Api, Forbidden
from jupyter_aiarts.engines.kubernetes.credentials import Credentials
from jupyter_aiarts.engines.kubernetes.rights import Rights
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.errors import ClusterUnreachable
from jupyter_aiarts.model.times import text_of
from tests.cluster.cluster import Cluster
from tests.cluster.users import token_of


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are looked at before every request, and a refused credential is asked for again at once."""
    monkeypatch.setattr(credentials, "CHECK", 0.0)
    monkeypatch.setattr(credentials, "AGAIN", 0.0)


@pytest_asyncio.fixture
async def opened() -> AsyncIterator[list[Api]]:
    """Ways that are closed at the end."""
    ways: list[Api] = []
    yield ways
    for api in ways:
        await api.aclose()


async def open_with(opened: list[Api], kubeconfig: Path) -> Api:
    api = await Api.open(ClusterSettings(name="test", kubeconfig=str(kubeconfig)))
    opened.append(api)
    return api


async def name_of(api: Api) -> str:
    """Who the cluster says we are, asked anew."""
    return await Rights(api).whoami()


@pytest.mark.cluster
async def test_a_token_file_is_read_again_when_it_changes(cluster: Cluster, tmp_path: Path, opened: list[Api]) -> None:
    file = tmp_path / "token"
    file.write_text(token_of(cluster.instance, "alice") + "\n")
    api = await open_with(opened, cluster.write_kubeconfig(tmp_path / "config", {"tokenFile": str(file)}))
    assert await name_of(api) == "alice"
    fresh = tmp_path / "fresh"
    fresh.write_text(token_of(cluster.instance, "bob"))
    fresh.rename(file)
    assert await name_of(api) == "bob"


@pytest.mark.cluster
async def test_a_kubeconfig_that_is_rewritten_counts(cluster: Cluster, tmp_path: Path, opened: list[Api]) -> None:
    file = tmp_path / "config"
    cluster.write_kubeconfig(file, {"token": token_of(cluster.instance, "alice")}, "team-a")
    api = await open_with(opened, file)
    assert (await name_of(api), api.namespace) == ("alice", "team-a")
    cluster.write_kubeconfig(file, {"token": token_of(cluster.instance, "bob")}, "team-b")
    assert (await name_of(api), api.namespace) == ("bob", "team-b")


PLUGIN = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
with (folder / "runs").open("a") as runs:
    runs.write("x")
told = json.loads((folder / "told").read_text())
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": told}))
"""


def exec_config(cluster: Cluster, folder: Path) -> Path:
    """A kubeconfig whose plugin gives what `told` says, and counts in `runs` how often it ran."""
    (folder / "plugin.py").write_text(PLUGIN)
    words = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "interactiveMode": "Never"}
    asked = {**words, "args": [str(folder / "plugin.py"), str(folder)]}
    return cluster.write_kubeconfig(folder / "config", {"exec": asked})


def tell(folder: Path, token: str, seconds: float | None = None) -> None:
    ends = datetime.now(timezone.utc) + timedelta(seconds=seconds or 0)
    more = {} if seconds is None else {"expirationTimestamp": text_of(ends)}
    (folder / "told").write_text(json.dumps({"token": token, **more}))


def runs(folder: Path) -> int:
    return len((folder / "runs").read_text())


@pytest.mark.cluster
async def test_a_plugin_is_asked_again_when_its_token_is_refused(
    cluster: Cluster, tmp_path: Path, opened: list[Api]
) -> None:
    tell(tmp_path, "worthless")
    api = await open_with(opened, exec_config(cluster, tmp_path))
    tell(tmp_path, token_of(cluster.instance, "alice"))
    assert await name_of(api) == "alice"
    assert await name_of(api) == "alice"
    assert runs(tmp_path) == 2


@pytest.mark.cluster
async def test_a_plugin_is_asked_again_when_its_token_runs_out_and_not_before(
    cluster: Cluster, tmp_path: Path, opened: list[Api]
) -> None:
    tell(tmp_path, token_of(cluster.instance, "alice"), seconds=3600)
    api = await open_with(opened, exec_config(cluster, tmp_path))
    for _ in range(3):
        assert await name_of(api) == "alice"
    assert runs(tmp_path) == 1
    known = api._credentials.known
    assert known is not None
    known.expires = datetime.now(timezone.utc) + timedelta(seconds=5)
    tell(tmp_path, token_of(cluster.instance, "bob"), seconds=3600)
    assert await name_of(api) == "bob"


@pytest.mark.cluster
async def test_a_plugin_that_gives_nothing_is_said_so_and_tried_again(
    cluster: Cluster, tmp_path: Path, opened: list[Api]
) -> None:
    (tmp_path / "told").write_text("{}")
    api = await open_with(opened, exec_config(cluster, tmp_path))
    with pytest.raises(ClusterUnreachable, match="credential plugin gave none"):
        await name_of(api)
    tell(tmp_path, token_of(cluster.instance, "alice"))
    assert await name_of(api) == "alice"


@pytest.mark.cluster
async def test_a_client_certificate_is_read_again_when_it_changes(
    cluster: Cluster, tmp_path: Path, opened: list[Api]
) -> None:
    pki = cluster.instance.folder / "pki"
    pairs = sorted(file.stem for file in pki.glob("*.key") if (pki / f"{file.stem}.crt").exists() and file.stem != "ca")
    user = {"client-certificate": str(tmp_path / "tls.crt"), "client-key": str(tmp_path / "tls.key")}
    names = []
    api = None
    for pair in pairs[:2]:
        for suffix in ("crt", "key"):
            (tmp_path / f"tls.{suffix}").write_bytes((pki / f"{pair}.{suffix}").read_bytes())
        api = api or await open_with(opened, cluster.write_kubeconfig(tmp_path / "config", user))
        try:
            names.append(await name_of(api))
        except Forbidden as error:
            names.append(str(error))
    assert len(set(names)) == 2, names


@pytest.mark.cluster
async def test_a_pod_needs_no_configuration(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in {
        "token": token_of(cluster.instance, "alice"),
        "ca.crt": (cluster.instance.folder / "pki" / "ca.crt").read_text(),
        "namespace": "team-a",
    }.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", cluster.instance.address(1))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    api = Api("cluster", Credentials(ClusterSettings(name="cluster"), tmp_path))
    assert (await name_of(api), api.namespace) == ("alice", "team-a")
    (tmp_path / "token").write_text(token_of(cluster.instance, "bob"))
    assert await name_of(api) == "bob"
    await api.aclose()


@pytest.mark.cluster
async def test_keys_are_in_no_file_of_ours_and_in_no_text(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: list[Api]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(os.listdir(tmp_path))
    api = await open_with(opened, cluster.kubeconfig("alice"))
    assert await name_of(api) == "alice"
    assert set(os.listdir(tmp_path)) == before
    secret = token_of(cluster.instance, "alice")
    assert secret not in repr(api._credentials.known) and secret not in repr(vars(api))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no such file"),
        ("", "no such file"),
        ("{", "no YAML"),
        ("[]", "list"),
        ("apiVersion: v1", "current-context"),
        (json.dumps({"current-context": "x", "contexts": [{"name": "y"}], "clusters": [], "users": []}), "name x"),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_is_said_so_when_it_is_needed(
    tmp_path: Path, content: str | None, why: str, opened: list[Api]
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    api = await open_with(opened, file)
    with pytest.raises(ClusterUnreachable, match="no usable credentials for the cluster “test”") as caught:
        await api.raw("/version")
    assert why in str(caught.value)
    assert api.namespace == "default"


async def test_outside_of_a_pod_there_is_no_cluster_without_configuration(tmp_path: Path) -> None:
    api = Api("cluster", Credentials(ClusterSettings(name="cluster"), tmp_path))
    with pytest.raises(ClusterUnreachable, match="the service account of this pod"):
        await api.raw("/version")
    await api.aclose()


@pytest.mark.parametrize(
    ("server", "proxy"),
    [
        ("https://10.1.2.3:6443", "http://proxy.example:3128"),
        ("https://api.cluster.example", None),
        ("http://10.1.2.3", None),
        ("https://127.0.0.1:6443", None),
        ("https://localhost", None),
        ("https://[::1]:6443", None),
    ],
)
def test_the_environments_proxy_is_used_as_kubectl_uses_it(
    server: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", ".cluster.example,10.9.9.9")
    assert credentials.environment_proxy(server) == proxy
