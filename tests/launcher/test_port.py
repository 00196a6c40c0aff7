"""The launcher's port answers who has the token, and survives who has not."""

import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.ascend.lasttable import content

from .boards import boards
from .conftest import looks_until, wait_until
from .pods import TOKEN, Pods
from .reader import Reader, ask, dial, get, read_all, request, split

LINE = "echo begun; until [ -e go ]; do sleep 0.05; done"


@pytest.fixture
def pod(pods: Pods) -> Pods:
    """A pod that runs until a file says so."""
    pods.shell(LINE).start()
    wait_until(lambda: pods.phase() == "running" and pods.log())
    return pods


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a pod that all visitors of this file share: none of them may do it any harm."""
    pods = Pods(tmp_path_factory.mktemp("pod")).shell(LINE)
    pods.start()
    wait_until(lambda: pods.phase() == "running" and pods.log())
    yield pods.ports[0]
    end(pods)


def end(pods: Pods) -> None:
    (pods.folder / "go").touch()
    assert pods.wait() == 0


def test_the_status_of_this_node(port: int) -> None:
    status = get(port, "/v1/status")
    assert (status["phase"], status["node"], len(status["ranks"])) == ("running", 0, 1)


def test_no_summary_before_the_end_and_one_for_who_reads_to_it(pod: Pods) -> None:
    assert ask(pod.ports[0], "/v1/summary")[0] == 404
    reader = Reader(pod.ports[0])
    with reader.connect() as connection:
        (pod.folder / "go").touch()
        wait_until(lambda: pod.phase() == "ended")
        assert get(pod.ports[0], "/v1/summary")["result"] == "succeeded"  # it waits for its reader
        reader.read_on(connection)
    assert pod.wait() == 0
    assert reader.types()[-2:] == ["caught-up", "end"]
    assert next(frame for frame in reader.frames if frame.get("type") == "summary")["result"] == "succeeded"


def test_the_environment_of_a_rank_without_secrets(pods: Pods) -> None:
    secrets = pods.folder / "secrets.json"
    secrets.write_text(json.dumps({"PASSWORD": "hunter2"}))
    pods.shell("sleep 300", env={"COLOUR": "训练\udcff"}, secrets_file=str(secrets)).start()
    wait_until(lambda: pods.phase() == "running")
    variables = get(pods.ports[0], "/v1/environment?rank=0")
    assert (variables["COLOUR"], variables["RANK"]) == ("训练�", "0")
    assert "PASSWORD" not in variables
    for rank in ("1", "", "x", "00", "0%20", "../0"):
        assert ask(pods.ports[0], f"/v1/environment?rank={rank}")[0] == 404


def test_the_rank_table_of_its_ranks(pods: Pods) -> None:
    boards(pods, nodes=1, cards=2).shell("sleep 300").start()
    wait_until(lambda: pods.phase() == "running")
    table = get(pods.ports[0], "/v1/ranktable")
    assert [card["rank_id"] for card in table["server_list"][0]["device"]] == ["0", "1"]


def test_no_rank_table_where_there_is_none(port: int) -> None:
    assert ask(port, "/v1/ranktable")[0] == 404


def test_what_is_named_as_a_rank_table_and_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "table").write_bytes(b"{}")
    for name, found in (("table", b"{}"), ("fifo", None), ("missing", None), ("", None), ("x\0y", None)):
        assert content([{}, {"RANK_TABLE_FILE": str(tmp_path / name)}]) == found
    assert content([]) is None


@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "Ü", " "])
@pytest.mark.parametrize("path", ["/v1/status", "/v1/log", "/nowhere"])
def test_nothing_without_the_token(port: int, token: "str | None", path: str) -> None:
    status, body = ask(port, path, token)
    assert status == 403
    assert b"ranks" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH"])
def test_only_get(port: int, method: str) -> None:
    assert ask(port, "/v1/status", method=method)[0] == 405


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404), ("/v1", 404), ("/v1/status/", 404), ("/v1/../v1/status", 404), ("/etc/passwd", 404),
        ("/v1/log?at=0.stdout", 400), ("/v1/log?at=0.stdin.0", 400), ("/v1/log?at=9.stdout.0", 400),
        ("/v1/log?at=0.stdout.-1", 400), ("/v1/log?at=0.stdout.99999999999999999999", 400), ("/v1/log?at=%00", 400),
    ],
)  # fmt: skip
def test_what_is_not_there(port: int, path: str, status: int) -> None:
    assert ask(port, path)[0] == status


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"\r\n\r\n", 400), (b"hello\r\n\r\n", 400), (b"GET /v1/status\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\r\n\r\n", 400),
        (b"GET /v1/status HTTP/2.0\r\n\r\n", 400), (b"GET /v1/status HTTP/1.1\r\n folded: 1\r\n\r\n", 400),
        (b"GET /v1/status HTTP/1.1\r\nno colon\r\n\r\n", 400), (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        (b"GET /v1/status HTTP/1.1\r\nX: " + b"y" * 20_000, 431), (b"G" * 20_000, 431),
        (request("/v1/status", more="Content-Length: 2000000\r\n"), 413),
        (request("/v1/status", more="Content-Length: 99999999999999\r\n"), 413),
        (request("/v1/status", more="Content-Length: -1\r\n"), 413),
        (request("/v1/status", more="Transfer-Encoding: chunked\r\n"), 411),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused(port: int, words: bytes, status: int) -> None:
    with dial(port) as connection:
        connection.sendall(words)
        assert split(read_all(connection))[0] == status
    assert get(port, "/v1/status")["phase"] == "running"


def test_a_body_of_many_megabytes_is_cut_off(port: int) -> None:
    with dial(port) as connection:
        connection.sendall(request("/v1/log", more="Content-Length: 1000\r\n"))
        with pytest.raises(OSError):
            for _ in range(1000):
                connection.sendall(b"x" * 100_000)
    assert get(port, "/v1/status")["phase"] == "running"


def test_a_request_may_come_byte_by_byte_and_end_half_closed(port: int) -> None:
    with dial(port) as connection:
        for byte in request("/v1/status"):
            connection.sendall(bytes([byte]))
        connection.shutdown(socket.SHUT_WR)
        assert split(read_all(connection))[0] == 200


def test_a_half_closed_log_reader_is_served_to_the_end(pod: Pods) -> None:
    reader = Reader(pod.ports[0])
    with reader.connect() as connection:
        connection.shutdown(socket.SHUT_WR)
        (pod.folder / "go").touch()
        reader.read_on(connection)
    assert bytes(reader.bytes["0.stdout"]) == b"begun\n"
    assert reader.types()[-1] == "end"
    assert pod.wait() == 0


def test_a_half_closed_half_request_is_closed(port: int) -> None:
    with dial(port) as connection:
        connection.sendall(b"GET /v1/sta")
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection) == b""


def test_who_says_nothing_makes_room_for_who_does(pod: Pods) -> None:
    slow = [dial(pod.ports[0]) for _ in range(40)]
    for connection in slow:
        try:
            connection.sendall(b"GET /v1/log HTTP/1.1\r\nX-A: ")
        except OSError:
            pass  # it has been shown out already
    assert get(pod.ports[0], "/v1/status")["phase"] == "running"
    open_now = wait_until(lambda: _descriptors(pod) < 40 and _descriptors(pod))
    assert open_now < 40
    for connection in slow:
        connection.close()


def _descriptors(pods: Pods) -> int:
    return len(list(Path(f"/proc/{pods.launchers[0].pid}/fd").iterdir()))


def test_a_slow_request_is_given_up(port: int) -> None:
    begin = time.monotonic()
    with dial(port) as connection:
        connection.sendall(b"GET /v1/status HTTP/1.1\r\n")
        assert read_all(connection) == b""
    assert 5 < time.monotonic() - begin < 15


def test_too_many_readers_are_told(pod: Pods) -> None:
    readers = [Reader(pod.ports[0]) for _ in range(8)]
    connections = [reader.connect() for reader in readers]
    assert ask(pod.ports[0], "/v1/log")[0] == 503
    assert get(pod.ports[0], "/v1/status")["phase"] == "running"
    connections.pop().close()
    wait_until(lambda: ask_briefly(pod) == 200)
    for connection in connections:
        connection.close()


def ask_briefly(pods: Pods) -> int:
    """The status of a request for the log, read no further."""
    with dial(pods.ports[0]) as connection:
        connection.sendall(request("/v1/log"))
        return split(connection.recv(65536))[0]


def test_many_visitors_leave_nothing_open(pod: Pods) -> None:
    before = _descriptors(pod)
    for number in range(200):
        assert ask(pod.ports[0], "/v1/status", TOKEN if number % 2 else "wrong")[0] == (200 if number % 2 else 403)
    wait_until(lambda: _descriptors(pod) <= before + 1)
    end(pod)


def test_a_port_that_is_taken_costs_only_the_port(pods: Pods) -> None:
    with socket.socket() as other:
        other.bind(("0.0.0.0", 0))
        other.listen()
        pods.ports = {0: other.getsockname()[1]}
        pods.shell("echo ran").start()
        assert pods.wait() == 0
    assert pods.log() == b"ran\n"


def test_a_pod_of_some_age_waits_for_no_reader(pods: Pods) -> None:
    pods.shell("sleep 1", reader_seconds=0.5).start()
    assert looks_until(lambda: pods.launchers[0].poll() is not None, "its end") < 500
    assert pods.wait() == 0


def test_the_reader_of_a_short_job_may_still_be_on_its_way(pods: Pods) -> None:
    pods.shell("echo short", reader_seconds=15).start()
    wait_until(lambda: pods.phase() == "ended")
    reader = Reader(pods.ports[0]).read_to_end()
    assert bytes(reader.bytes["0.stdout"]) == b"short\n"
    assert reader.types()[-1] == "end"
    assert looks_until(lambda: pods.launchers[0].poll() is not None, "its end") < 500
    assert pods.wait() == 0


def test_a_reader_that_does_not_read_is_waited_for_ten_seconds_at_most(pods: Pods) -> None:
    pods.script("print('x' * 50_000_000)").start()
    wait_until(lambda: pods.status() is not None)
    reader = Reader(pods.ports[0])
    with reader.connect(receive_buffer=4096):
        assert looks_until(lambda: pods.launchers[0].poll() is not None, "its end") < 1500
        assert pods.wait() == 0
    assert len(pods.log()) == 50_000_001
