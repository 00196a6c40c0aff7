"""Templates and the state of the installation over REST."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado.httpclient import HTTPResponse

import jupyter_aiarts

Ask = Callable[..., Awaitable[HTTPResponse]]
Body = Callable[[HTTPResponse], Any]


async def test_a_template_is_saved_read_used_and_removed(ask: Ask, body: Body, script: Callable[[str], str]) -> None:
    saved = await ask("templates/mine", "PUT", {"spec": {"env": {"A": "1"}}, "description": "for tests"})
    assert saved.code == 200
    found = body(await ask("templates/mine"))
    assert found == body(saved)
    assert (found["name"], found["preset"], found["description"]) == ("mine", False, "for tests")
    assert "mine" in [template["name"] for template in body(await ask("templates"))]
    spec = {"script": script("0"), "template": "mine"}
    tried = await ask("jobs", "POST", spec, params={"dry_run": "1"})
    assert body(tried)["spec"]["env"] == {"A": "1"}
    assert (await ask("templates/mine", "DELETE")).code == 204
    gone = await ask("templates/mine")
    assert (gone.code, body(gone)["code"]) == (404, "template-not-found")


async def test_a_template_in_another_script_has_its_name(ask: Ask, body: Body) -> None:
    assert (await ask("templates/训练", "PUT", {"spec": {}})).code == 200
    assert body(await ask("templates/训练"))["name"] == "训练"


@pytest.mark.parametrize("wrong", [{}, {"spec": []}, {"spec": {}, "description": 1}, {"spec": {}, "more": 1}])
async def test_what_is_no_template_is_400(ask: Ask, wrong: dict[str, Any]) -> None:
    assert (await ask("templates/mine", "PUT", wrong)).code == 400


@pytest.mark.parametrize("name", [".hidden", "a b", "x" * 64, "..%2fx", "%2e%2e"])
async def test_a_hostile_name_is_refused(ask: Ask, name: str) -> None:
    assert (await ask(f"templates/{name}", "PUT", {"spec": {}})).code in (400, 404)
    assert (await ask(f"templates/{name}")).code == 404


async def test_health_tells_versions_and_clusters(ask: Ask, body: Body) -> None:
    health = body(await ask("health"))
    assert health["versions"]["server"] == health["version"] == jupyter_aiarts.__version__
    assert "labextension" in health["versions"]
    assert health["clusters"] == [{"name": "local", "stale_since": None}]
    assert health["jobs"] == 0
