"""What a cell's output carries beside text and HTML: our own type for the page, widgets where only they run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupyter_aiarts as aiarts
from jupyter_aiarts.kernel import api
from jupyter_aiarts.kernel.live import MIME, MOST_IDS, drawn


def bundle(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = value._repr_mimebundle_()
    assert {"text/plain", "text/html"} <= set(found)
    json.dumps(found)
    return found


def test_a_job_is_drawn_by_its_id_alone(script: Callable[..., str]) -> None:
    """Nothing of the job is saved in the notebook for the page: it asks the server."""
    job = aiarts.submit(script("pass"), name="secret plans")
    assert bundle(job)[MIME] == {"kind": "job", "id": job.id}


def test_lists_usage_and_machines_are_drawn_as_they_were_asked_for(shell: Any) -> None:
    def shown(line: str) -> Any:
        return bundle(shell.run_line_magic("aiarts", line)).get(MIME)

    assert shown("usage") == {"kind": "usage"}
    assert shown("cluster") == {"kind": "cluster"}
    assert shown("cluster --cluster local") == {"kind": "cluster", "cluster": "local"}
    assert shown("jobs") == {"kind": "jobs", "mine": True}
    assert shown("jobs --phase running --all-users -q net --limit 3") == {
        "kind": "jobs", "phase": "running", "q": "net", "limit": 3,
    }  # fmt: skip
    assert shown("templates") is None


def test_a_list_that_only_its_ids_describe_names_them_if_they_are_few(shell: Any, script: Callable[..., str]) -> None:
    job = aiarts.submit(script("pass"), queue=None)
    found = shell.run_line_magic("aiarts", "jobs --cluster local")
    assert bundle(found)[MIME] == {"kind": "jobs", "ids": [job.id]}
    many = api.Jobs.of(job._client, [job.data] * (MOST_IDS + 1))
    assert MIME not in bundle(many)


def test_a_page_is_not_told_to_ask_its_server_about_another(tmp_path: Path) -> None:
    class There:
        class transport:
            where = "http://elsewhere:8888"

    runtime = tmp_path / "runtime"
    runtime.mkdir(exist_ok=True)
    pid = os.getpid()
    file = runtime / f"jpserver-{pid}.json"
    file.write_text(json.dumps({"url": "http://here:8888/", "pid": pid, "token": ""}))
    around = {"JPY_PARENT_PID": str(pid), "JUPYTER_RUNTIME_DIR": str(runtime)}
    client: Any = There()
    assert drawn(client, "usage", around) is None
    assert drawn(client, "usage", {**around, "AIARTS_SERVER": "http://elsewhere:8888"}) is None
    There.transport.where = "http://here:8888"
    assert drawn(client, "usage", around) == {"kind": "usage"}
    assert drawn(None, "usage", around) is None
