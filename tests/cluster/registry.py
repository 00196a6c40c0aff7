"""A real registry inside the cluster's network: nodes pull from it by the name `registry.local:5000`."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil

from tests.cluster.api import until
from tests.cluster.build import program
from tests.cluster.cells import Cell
from tests.cluster.images import archive_of, image_config
from tests.cluster.nodes import REGISTRY
from tests.cluster.paths import Instance, Unavailable

USER, PASSWORD = "puller", "let-me-pull"
HASHED = "$2b$04$oKWiRsPQGtagnrQJB2kefOFn7MYXun2U9UBI55tbw0Wgrwlw3f7cm"
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"


@dataclass(frozen=True)
class Registry:
    """A running registry; `pause` makes a pull hang half-way, `resume` lets it go on."""

    instance: Instance
    cell: Cell
    locked: bool

    @property
    def pull_secret(self) -> str:
        """The content of a secret of type kubernetes.io/dockerconfigjson."""
        return json.dumps({"auths": {REGISTRY: {"username": USER, "password": PASSWORD}}})

    def push(self, image: str, name: str, architecture: str | None = None) -> str:
        """Put one of our images there under `name` (such as `team/train:1`); gives what a pod has to ask for.

        With an architecture the name stands for a list that has this one only, as multi-platform images are stored.
        """
        repository, tag = name.rsplit(":", 1)
        with TemporaryDirectory() as scratch:
            layer = _layer_of(image, Path(scratch))
            config = image_config(layer, ["/bin/sh"], architecture)
            parts = [self._upload(repository, content) for content in (config, layer.read_bytes())]
        kinds = ("application/vnd.docker.container.image.v1+json", "application/vnd.docker.image.rootfs.diff.tar")
        described, content = ({"mediaType": kind, **part} for kind, part in zip(kinds, parts, strict=True))
        manifest: dict[str, Any] = {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": [content]}
        if architecture:
            entry = self._name(repository, "only", manifest)
            platform = {"architecture": architecture, "os": "linux"}
            manifest = {"schemaVersion": 2, "mediaType": LIST, "manifests": [{**entry, "platform": platform}]}
        self._name(repository, tag, manifest)
        return f"{REGISTRY}/{name}"

    def pause(self) -> None:
        self._process().suspend()

    def resume(self) -> None:
        self._process().resume()

    def _process(self) -> psutil.Process:
        found = self.cell.find("registry")
        if found is None:
            raise Unavailable(f"the registry has ended:\n{self.cell.tail('registry')}")
        return found

    def _upload(self, repository: str, content: bytes) -> dict[str, object]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        where = self._ask("POST", f"/v2/{repository}/blobs/uploads/")
        self._ask("PUT", f"{where}&digest={digest}", content, "application/octet-stream")
        return {"digest": digest, "size": len(content)}

    def _name(self, repository: str, tag: str, manifest: dict[str, Any]) -> dict[str, Any]:
        """Store a manifest under a tag; gives how a list refers to it."""
        content, kind = json.dumps(manifest).encode(), manifest["mediaType"]
        self._ask("PUT", f"/v2/{repository}/manifests/{tag}", content, kind)
        return {"mediaType": kind, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}

    def _ask(self, method: str, path: str, content: bytes = b"", kind: str = "application/json") -> str:
        """Gives the Location of the answer."""
        secret = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        connection = http.client.HTTPConnection(self.instance.address(1), 5000, timeout=60)
        try:
            connection.request(method, path, content, {"Content-Type": kind, "Authorization": f"Basic {secret}"})
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status >= 400:
            raise Unavailable(f"registry: {method} {path}: {answer.status} {text}")
        return answer.headers.get("Location", "")


@contextmanager
def registry(instance: Instance, cell: Cell, locked: bool) -> Iterator[Registry]:
    """Run it for the block; with `locked` it wants `USER` and `PASSWORD`."""
    folder = cell.folder / "registry"
    folder.mkdir()
    (folder / "htpasswd").write_text(f"{USER}:{HASHED}\n")
    (folder / "config.json").write_text(json.dumps(_configuration(folder, instance, locked)))
    cell.spawn("registry", [str(program("registry")), "serve", str(folder / "config.json")])
    running = Registry(instance, cell, locked)
    try:
        until("the registry", lambda: running._ask("GET", "/v2/") == "")
        yield running
    finally:
        cell.kill("registry")
        shutil.rmtree(folder)


def _configuration(folder: Path, instance: Instance, locked: bool) -> dict[str, object]:
    auth = {"htpasswd": {"realm": "registry", "path": str(folder / "htpasswd")}}
    return {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(folder / "content")}},
        "http": {"addr": f"{instance.address(1)}:5000", "secret": "test", "relativeurls": True},
        **({"auth": auth} if locked else {}),
    }


def _layer_of(image: str, scratch: Path) -> Path:
    layer = scratch / "layer.tar"
    with tarfile.open(archive_of(image)) as archive, layer.open("wb") as target:
        content = archive.extractfile("layer.tar")
        assert content is not None
        shutil.copyfileobj(content, target)
    return layer
