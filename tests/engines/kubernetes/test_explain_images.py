"""Images that do not become containers, made to happen with a real registry: who refuses, where, and what helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.model.phase import Phase
from tests.cluster.cleanup import cells_of
from tests.cluster.nodes import REGISTRY, ctr
from tests.cluster.registry import PASSWORD, USER
from tests.engines.kubernetes.engines import BARE, FOREVER, IMAGE, laboratory
from tests.engines.kubernetes.telling import told

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster


async def test_a_wrong_pull_secret_a_missing_tag_and_other_machines_are_told_apart(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        with cluster.registry(locked=True) as registry:
            image = registry.push(BARE, "team/private:1")
            foreign = registry.push(BARE, "team/foreign:1", architecture="s390x")
            for name, password in (("wrong", "guessed"), ("right", PASSWORD)):
                login = json.dumps({"auths": {REGISTRY: {"username": USER, "password": password}}})
                cluster.kubectl("create", "secret", "generic", name, "-n", lab.namespace,
                                "--type=kubernetes.io/dockerconfigjson",
                                f"--from-literal=.dockerconfigjson={login}")  # fmt: skip
            wrong = await lab.submit(image=image, image_pull_secret="wrong")
            tag = await lab.submit(image=image.replace(":1", ":2"), image_pull_secret="right")
            other = await lab.submit(image=foreign, image_pull_secret="right")
            found = await told(lab, wrong.id, "image-no-access", "wants a login", "401")
            assert found.actions[0].command == f"aiarts edit {wrong.id} image_pull_secret=NAME"
            missing = await told(lab, tag.id, "image-not-found", "team/private:2")
            assert missing.actions[0].command == f"aiarts edit {tag.id} image=IMAGE"
            await told(lab, other.id, "image-wrong-arch", "team/foreign:1")
            right = await lab.submit(image=image, image_pull_secret="right")
            await told(lab, right.id, "image-no-python")  # it came through: the image itself is a bare one


async def test_an_image_that_one_node_lacks_names_that_node_and_those_that_are_up(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with laboratory(cluster, tmp_path, gang_timeout=60) as lab:
        image = f"{REGISTRY}/only-here:1"
        node = cells_of(cluster.instance)["node-a"]
        ctr(node, "--namespace=k8s.io", "images", "tag", IMAGE, image)
        try:
            with cluster.registry():
                job = await lab.submit(FOREVER, image=image, nodes=2)
                found = await told(lab, job.id, "image-not-found", "only-here:1", "2 nodes these are up", "(node-a)")
                assert any("not found" in line for line in found.evidence)
                record = await lab.engine.get(job.id)
                assert record.cause.values["node"] == "node-b"
        finally:
            ctr(node, "--namespace=k8s.io", "images", "rm", image)


async def test_a_slow_pull_is_told_with_the_node_and_since_when(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        with cluster.registry() as registry:
            image = registry.push(BARE, f"{lab.namespace}/slow:1")  # a name that no node has seen
            registry.pause()
            try:
                job = await lab.submit(image=image)
                found = await told(lab, job.id, "image-pulling", "/slow:1", "since 20")
                assert lab.pods()[0]["spec"]["nodeName"] in found.why
                assert (await lab.engine.get(job.id)).phase is Phase.STARTING
            finally:
                registry.resume()
            await told(lab, job.id, "image-no-python")  # it came, and has none
