"""The text for kubectl that a dry run gives: of the run that submitting would make, in the form that is accepted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml
from aiohttp import web

from jupyter_aiarts.engines.kubernetes.foresight import manifest
from jupyter_aiarts.engines.kubernetes.orders import Orders
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.archiving import StandIn, open_api
from tests.engines.kubernetes.making import IMAGE, make_settings

RESTRICTED = 'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'


class Admission(StandIn):
    """An API server of which only the admission of pods answers; it may insist on the strict form."""

    strict = False
    asked: list[dict[str, Any]]

    async def admit(self, request: web.Request) -> web.Response:
        pod = await request.json()
        self.asked.append({"dry": request.query.get("dryRun"), "pod": pod})
        if self.strict and "'runAsNonRoot': True" not in str(pod):
            status = {"kind": "Status", "status": "Failure", "message": RESTRICTED, "reason": "Forbidden", "code": 403}
            return web.json_response(status, status=403)
        return web.json_response(pod, status=201)


@pytest_asyncio.fixture
async def admission(tmp_path: Path) -> AsyncIterator[Admission]:
    made = Admission()
    made.asked = []
    app = web.Application()
    app.router.add_post("/api/v1/namespaces/{namespace}/pods", made.admit)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"  # type: ignore[misc]
    yield made
    await runner.cleanup()


@pytest.mark.parametrize("strict", [False, True])
async def test_the_text_is_of_one_run_without_secret_values_and_asked_of_the_cluster_first(
    admission: Admission, tmp_path: Path, strict: bool
) -> None:
    admission.strict = strict
    (tmp_path / "train.py").write_text("print(1)\n")
    raw = {"cluster": "k8s", "image": IMAGE, "script": "train.py", "name": "训练", "secret_env": {"TOKEN": "hush-hush"}}
    api = await open_api(admission.kubeconfig(tmp_path))
    try:
        text = await manifest(Orders(api, make_settings(), ("team-a",)), read_spec(raw), tmp_path, "alice")
    finally:
        await api.aclose()
    documents = list(yaml.safe_load_all(text))
    assert [one["kind"] for one in documents][-1] == "Job"
    assert {one["metadata"]["namespace"] for one in documents} == {"team-a"}
    assert documents[-1]["spec"]["suspend"] is False
    assert "hush" not in text
    assert ("'runAsNonRoot': True" in str(documents[-1])) is strict
    assert {one["dry"] for one in admission.asked} == {"All"}


async def test_what_cannot_be_submitted_has_no_text(admission: Admission, tmp_path: Path) -> None:
    api = await open_api(admission.kubeconfig(tmp_path))
    raw = {"cluster": "k8s", "image": IMAGE, "script": "no-such.py"}
    try:
        with pytest.raises(InvalidSpec):
            await manifest(Orders(api, make_settings(), ("team-a",)), read_spec(raw), tmp_path, "alice")
    finally:
        await api.aclose()
