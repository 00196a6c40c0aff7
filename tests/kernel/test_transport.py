"""HTTP by the standard library: connections kept, refusals kept whole, broken streams told from ended
ones."""

from __future__ import annotations

import base64
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.kernel.client import Client
from jupyter_aiarts.kernel.errors import BrokenOff, RequestFailed, Unreachable, WrongUsage
from jupyter_aiarts.kernel.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB = {"id": "a123456789", "name": "x", "phase": "queued", "run": 1, "spec": {}}


@pytest.fixture
def wire(http: Any) -> Iterator[HttpTransport]:
    transport = HttpTransport(http.url, "t0ken", timeout=30)
    yield transport
    transport.close()


def line(seq: str, text: str) -> dict[str, Any]:
    return {"seq": seq, "t": "", "node": 0, "rank": 0, "stream": "stdout", "text": text}


def test_requests_share_one_connection_and_carry_the_token(http: Any, wire: HttpTransport) -> None:
    for _ in range(3):
        http.answer(200, [])
        assert wire.request("GET", "jobs", {"q": "a b&c", "phase": None, "limit": 3}).body == []
    assert http.connections == 1
    assert http.requests[0]["path"] == "/base/aiarts/jobs?q=a+b%26c&limit=3"
    assert http.requests[0]["headers"]["Authorization"] == "token t0ken"


def test_a_kept_connection_that_died_is_replaced(http: Any, wire: HttpTransport) -> None:
    """Servers close idle connections; asking again where that is safe hides it."""
    http.answer(200, [1])
    wire.request("GET", "jobs")
    http.hang_up()
    http.answer(200, [2])
    assert wire.request("GET", "jobs").body == [2]
    assert http.connections == 2


def test_a_move_is_never_sent_twice(http: Any, wire: HttpTransport) -> None:
    """A POST whose answer is lost may have been done; only the person can tell."""
    http.answer(200, [])
    wire.request("GET", "jobs")
    http.hang_up()
    with pytest.raises(BrokenOff):
        wire.request("POST", "jobs/a123456789/rerun")
    assert [one["method"] for one in http.requests] == ["GET", "POST"]


def test_a_submission_whose_answer_was_lost_is_asked_again_under_the_same_id(http: Any, wire: HttpTransport) -> None:
    """One job comes of it, because both requests carry one `submission_id`."""
    http.hang_up()
    http.answer(200, JOB)
    job, created = Client(wire).submit({"script": "a.py"})
    assert (job["id"], created) == ("a123456789", False)
    first, second = (json.loads(one["body"])["submission_id"] for one in http.requests)
    assert first == second


def test_a_submission_tells_its_python_its_variables_and_its_folder(
    http: Any, wire: HttpTransport, monkeypatch: pytest.MonkeyPatch, nothing_around: Any
) -> None:
    monkeypatch.setenv("CONDA_PREFIX", "/conda")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "never")
    http.answer(201, JOB)
    assert Client(wire).submit({"script": "a.py"}).created
    said = json.loads(base64.b64decode(http.requests[0]["headers"]["X-Aiarts-Caller"]))
    assert said["environ"]["CONDA_PREFIX"] == "/conda"
    assert "AWS_SECRET_ACCESS_KEY" not in said["environ"]
    assert said["python"].startswith("/")
    assert json.loads(http.requests[0]["body"])["workdir"] == str(nothing_around)


def test_a_refusal_keeps_its_code_hint_and_problems(http: Any, wire: HttpTransport) -> None:
    problems = [{"key": "devices", "message": "too many"}]
    http.answer(400, {"code": "invalid-spec", "message": "no", "hint": "less", "problems": problems})
    with pytest.raises(RequestFailed) as caught:
        wire.request("POST", "jobs", body={})
    error = caught.value
    assert (error.status, error.code, error.hint, error.problems) == (400, "invalid-spec", "less", problems)
    assert error.to_json()["problems"] == problems


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (404, {"code": "job-not-found", "message": "m"}, RequestFailed, 3),
        (403, {"message": "Forbidden", "reason": None}, RequestFailed, 4),
        (302, None, RequestFailed, 4),
        (409, {"code": "wrong-phase", "message": "m"}, RequestFailed, 2),
        (503, {"code": "cluster-unreachable", "message": "m"}, RequestFailed, 5),
        (404, b"<html>404</html>", Unreachable, 5),
        (502, b"<html>bad gateway</html>", Unreachable, 5),
        (200, b"<html>a login page</html>", Unreachable, 5),
    ],
)
def test_every_kind_of_no_has_its_exit_code(
    http: Any, wire: HttpTransport, status: int, body: Any, kind: type[Exception], code: int
) -> None:
    http.answer(status, body, {"Location": "/login"} if status == 302 else None)
    with pytest.raises(kind) as caught:
        wire.request("GET", "jobs")
    assert caught.value.exit_code == code  # type: ignore[attr-defined]


def test_nobody_there_is_unreachable_with_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unreachable, match=url):
        HttpTransport(url).request("GET", "health")


@pytest.mark.parametrize("url", ["ftp://x", "localhost", "http://", "file:///etc/passwd"])
def test_only_web_addresses_are_taken(url: str) -> None:
    with pytest.raises(WrongUsage, match="not an http"):
        HttpTransport(url)


def test_text_that_is_not_utf8_is_refused_before_it_is_sent(http: Any, wire: HttpTransport) -> None:
    with pytest.raises(WrongUsage, match="is not UTF-8"):
        wire.request("POST", "jobs", body={"args": ["\udcff"]})
    assert http.requests == []


def test_an_id_can_never_become_another_path(http: Any, wire: HttpTransport) -> None:
    http.answer(404, {"code": "job-not-found", "message": "m"})
    with pytest.raises(RequestFailed):
        Client(wire).show("../../api/contents?x=#")
    assert http.requests[0]["path"] == "/base/aiarts/jobs/..%2F..%2Fapi%2Fcontents%3Fx%3D%23"


def test_a_broken_stream_goes_on_after_the_last_line_seen(http: Any, wire: HttpTransport) -> None:
    """Nothing is told twice and nothing is missed when a server restarts under a followed log."""
    http.stream([line("1", "a"), line("2", "b")], whole=False)
    http.stream([line("3", "c")])
    told = [one["text"] for one in Client(wire).follow("a123456789", tail=10)]
    assert told == ["a", "b", "c"]
    assert "tail=10" in http.requests[0]["path"]
    assert "after=2" in http.requests[1]["path"] and "tail" not in http.requests[1]["path"]


def test_a_stream_that_ended_is_not_asked_for_again(http: Any, wire: HttpTransport) -> None:
    http.stream([line("1", "a")])
    assert len(list(Client(wire).follow("a123456789"))) == 1
    assert len(http.requests) == 1


def test_other_requests_go_on_beside_a_stream(http: Any, wire: HttpTransport) -> None:
    http.stream([line("1", "a"), line("2", "b")])
    stream = Client(wire).follow("a123456789")
    assert next(stream)["text"] == "a"
    http.answer(200, [])
    assert Client(wire).jobs() == []
    assert [one["text"] for one in stream] == ["b"]


def test_no_log_comes_with_its_sentence(http: Any, wire: HttpTransport) -> None:
    http.answer(200, [], {"X-Aiarts-No-Log": "%E5%B0%9A%E6%9C%AA%E5%BC%80%E5%A7%8B"})
    assert Client(wire).logs("a123456789") == ([], "尚未开始")


def test_the_language_asked_for_goes_with_every_request(http: Any, wire: HttpTransport) -> None:
    http.answer(200, {"code": "x", "title": "t"})
    Client(wire, "zh").explain("a123456789")
    assert http.requests[0]["path"].endswith("explain?lang=zh")


def test_a_server_that_keeps_breaking_off_is_given_up(
    http: Any, wire: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reconnecting has growing pauses and an end."""
    pauses: list[float] = []
    monkeypatch.setattr("jupyter_aiarts.kernel.client.time.sleep", pauses.append)
    for _ in range(7):
        http.stream([], whole=False)
    with pytest.raises(BrokenOff):
        list(Client(wire).follow("a123456789"))
    assert pauses == [0.5, 1, 2, 4, 8, 8]
