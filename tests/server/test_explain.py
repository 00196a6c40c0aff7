"""Explanations over REST: what an action would change is shown, then done; all that can be said is listed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.auth.authorizer import Authorizer
from tornado.httpclient import HTTPResponse

from jupyter_aiarts.server.app import AiartsApp

Ask = Callable[..., Awaitable[HTTPResponse]]
Submit = Callable[..., Awaitable[dict[str, Any]]]
Body = Callable[[HTTPResponse], Any]
GPU = "nvidia_gpu_amd64"
FOREVER = "import time\ntime.sleep(600)\n"
# Fails as long as its folder has no mark, so that running it again comes out differently.
FAILS_ONCE = """import pathlib
if not pathlib.Path("mark").exists():
    pathlib.Path("mark").touch()
    raise SystemExit(3)
"""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """A machine with four declared cards, so that more than four never fit."""
    jp_server_config["LocalEngine"] = {"devices": {GPU: 4}, "cpus": 16}
    return jp_server_config


def number_of(explanation: dict[str, Any], command: str) -> str:
    """The id of the action whose command holds this."""
    return next(str(one["id"]) for one in explanation["actions"] if command in one.get("command", ""))


async def test_a_failed_job_is_run_again_by_its_action(ask: Ask, submitted: Submit, until: Submit, body: Body) -> None:
    job = await submitted(FAILS_ONCE)
    await until(job["id"], "failed")
    explanation = body(await ask(f"jobs/{job['id']}/explain"))
    again = number_of(explanation, "rerun")
    answer = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": again})
    assert answer.code == 200
    done = body(answer)
    assert (done["kind"], done["changes"], done["move"], done["command"]) == ("move", [], "rerun", None)
    assert done["done"] is True and done["job"]["run"] == 2 and done["action"]["id"] == again
    assert (await until(job["id"], "succeeded", "failed"))["phase"] == "succeeded"


async def test_a_job_that_never_fits_is_changed_while_it_waits(
    ask: Ask, submitted: Submit, until: Submit, body: Body
) -> None:
    job = await submitted(device=GPU, devices=8)
    explanation = body(await ask(f"jobs/{job['id']}/explain"))
    assert explanation["code"] == "never-fits"
    action = number_of(explanation, "devices=4")
    ahead = body(await ask(f"jobs/{job['id']}/explain", "POST", {"fix": action, "dry_run": True}))
    assert ahead["changes"] == [{"key": "devices", "before": 8, "after": 4}]
    assert (ahead["move"], ahead["done"], ahead["job"]["spec"]["devices"]) == (None, False, 8)
    assert body(await ask(f"jobs/{job['id']}"))["spec"]["devices"] == 8
    done = body(await ask(f"jobs/{job['id']}/explain", "POST", {"fix": action}))
    assert done["changes"] == ahead["changes"] and done["done"] is True
    ended = await until(job["id"], "succeeded", "failed")
    assert (ended["phase"], ended["run"], ended["spec"]["devices"]) == ("succeeded", 1, 4)


async def test_a_suggested_value_may_be_another_one(ask: Ask, submitted: Submit, until: Submit, body: Body) -> None:
    job = await submitted(device=GPU, devices=8)
    action = number_of(body(await ask(f"jobs/{job['id']}/explain")), "devices=4")
    refused = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": action, "values": {"devices": "many"}})
    assert (refused.code, [one["key"] for one in body(refused)["problems"]]) == (400, ["devices"])
    done = body(await ask(f"jobs/{job['id']}/explain", "POST", {"fix": action, "values": {"devices": 2}}))
    assert done["changes"] == [{"key": "devices", "before": 8, "after": 2}]


async def test_an_action_that_is_gone_is_409_and_a_wrong_one_400_with_the_right_ones(
    ask: Ask, submitted: Submit, until: Submit, body: Body
) -> None:
    job = await submitted("raise SystemExit(3)\n")
    await until(job["id"], "failed")
    known = [one["id"] for one in body(await ask(f"jobs/{job['id']}/explain"))["actions"]]
    gone = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": "never-fits-1"})
    assert (gone.code, body(gone)["code"]) == (409, "fix-gone")
    assert "again" in body(gone)["hint"]
    wrong = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": "first"})
    assert (wrong.code, body(wrong)["code"]) == (400, "bad-request")
    assert all(one in body(wrong)["hint"] for one in known)


@pytest.mark.parametrize(
    "sent", [{}, {"fix": 1}, {"fix": None}, {"fix": "a-1", "dry_run": "yes"}, {"fix": "a-1", "values": []}, {"fxi": ""}]
)
async def test_a_body_of_another_form_is_400_and_says_which_form(ask: Ask, body: Body, sent: dict[str, Any]) -> None:
    answer = await ask("jobs/a123456789/explain", "POST", sent)
    assert answer.code == 400
    assert "dry_run" in body(answer)["hint"]


async def test_an_unknown_job_is_404(ask: Ask, body: Body) -> None:
    answer = await ask("jobs/a123456789/explain", "POST", {"fix": "exit-code-1"})
    assert (answer.code, body(answer)["code"]) == (404, "job-not-found")


async def test_a_move_that_the_phase_does_not_offer_is_409(
    ask: Ask, submitted: Submit, until: Submit, body: Body
) -> None:
    """Somebody else was quicker: the explanation's action is gone with the phase."""
    job = await submitted(FAILS_ONCE + FOREVER)
    await until(job["id"], "failed")
    again = number_of(body(await ask(f"jobs/{job['id']}/explain")), "rerun")
    assert (await ask(f"jobs/{job['id']}/explain", "POST", {"fix": again})).code == 200
    await until(job["id"], "running")
    answer = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": again})
    assert (answer.code, body(answer)["code"]) == (409, "fix-gone")


async def test_a_secret_is_in_no_answer(ask: Ask, submitted: Submit, body: Body) -> None:
    secrets = {"secret_env": {"API_TOKEN": "hunter2-value"}, "env": {"A_PASSWORD": "hunter3"}}
    job = await submitted(device=GPU, devices=8, **secrets)
    action = number_of(body(await ask(f"jobs/{job['id']}/explain")), "devices=4")
    for dry in (True, False):
        answer = await ask(f"jobs/{job['id']}/explain", "POST", {"fix": action, "dry_run": dry})
        assert answer.code == 200
        assert b"hunter" not in answer.body
        assert [one["key"] for one in body(answer)["changes"]] == ["devices"]


async def test_what_is_done_is_noted_and_what_is_only_shown_is_not(
    ask: Ask, app: AiartsApp, submitted: Submit, until: Submit, body: Body, state_dir: Path
) -> None:
    job = await submitted("raise SystemExit(3)\n")
    await until(job["id"], "failed")
    again = number_of(body(await ask(f"jobs/{job['id']}/explain")), "rerun")
    for sent in ({"fix": again, "dry_run": True}, {"fix": again}, {"fix": "wrong"}, {}):
        await ask(f"jobs/{job['id']}/explain", "POST", sent)
    await until(job["id"], "failed")
    await app.stop_extension()
    lines = [json.loads(line) for line in (state_dir / "audit.log").read_text().splitlines()]
    noted = [(one["subject"], one["status"]) for one in lines if one["action"] == "fix"]
    assert noted == [(job["id"], 200), (job["id"], 400), (job["id"], 400)]


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_all_that_can_be_said_is_listed(ask: Ask, body: Body, lang: str) -> None:
    found = body(await ask("explanations", params={"lang": lang}))
    codes = {one["code"] for one in found}
    assert codes >= {"exit-code", "no-node-fits", "image-not-found", "time-limit", "unknown"}
    assert all(one["title"] and one["family"] for one in found)
    assert any("一" <= char <= "鿿" for char in found[0]["title"]) == (lang == "zh")


class ReadOnly(Authorizer):
    """A Lab where one may look."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


class TestReadOnly:
    """An authorizer that lets one look."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"]["authorizer_class"] = ReadOnly
        return jp_server_config

    async def test_the_list_is_read_and_nothing_is_fixed(self, ask: Ask) -> None:
        assert (await ask("explanations")).code == 200
        assert (await ask("jobs/a123456789/explain", "POST", {"fix": "exit-code-1"})).code == 403
        assert (await ask("jobs/a123456789/explain", "POST", {"fix": "exit-code-1", "dry_run": True})).code == 403
