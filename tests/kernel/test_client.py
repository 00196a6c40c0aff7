"""The client's verbs on the real local engine, with no server between: what people type, and what comes
back."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from jupyter_aiarts.kernel.api import Job
from jupyter_aiarts.kernel.client import Client, overlaid
from jupyter_aiarts.kernel.errors import Ambiguous, RequestFailed

Script = Callable[..., str]
WAITS = "import time; print('up', flush=True); time.sleep(60)"


def submit(client: Client, **keys: object) -> Job:
    return Job(client, client.submit(keys).job)


def until_up(job: Job) -> None:
    """Return when the job has written its first line."""
    assert next(iter(line for line in job.logs(follow=True) if line.stream == "stdout"), None) == "up"


def test_a_job_is_found_by_id_prefix_and_name(client: Client, script: Script) -> None:
    job = submit(client, script=script("pass"), name="训练 one")
    for text in (job.id, job.id[:4], "训练 one"):
        assert client.resolve(text) == job.id


def test_an_ambiguous_name_lists_who_it_could_be(client: Client, script: Script) -> None:
    jobs = [submit(client, script=script("pass"), name="twin") for _ in range(2)]
    with pytest.raises(Ambiguous) as caught:
        client.resolve("twin")
    assert all(job.id in str(caught.value) for job in jobs)
    assert {one["id"] for one in caught.value.candidates} == {job.id for job in jobs}


def test_a_name_that_looks_like_an_id_is_still_a_name(client: Client, script: Script) -> None:
    job = submit(client, script=script("pass"), name="training01")
    assert client.resolve("training01") == job.id


@pytest.mark.parametrize("text", ["", "nobody", "zzzzzzzzzz", "../..", "a/b"])
def test_what_nobody_is_called_is_not_found(client: Client, text: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        client.resolve(text)
    assert (caught.value.code, caught.value.exit_code) == ("job-not-found", 3)


def test_relative_paths_mean_the_callers_folder(client: Client, script: Script, nothing_around: object) -> None:
    job = submit(client, script=script("import os; print(os.getcwd())")).wait(30)
    assert list(job.logs()) == [str(nothing_around)]


def test_a_templates_folder_is_not_overruled_by_the_callers(client: Client, nothing_around: object) -> None:
    client.save_template("here", {"workdir": "/usr", "command": "pwd"})
    assert list(submit(client, template="here").wait(30).logs()) == ["/usr"]


def test_a_known_submission_is_the_same_job(client: Client, script: Script) -> None:
    spec = {"script": script("pass"), "submission_id": "mine"}
    first, second = client.submit(spec), client.submit(spec)
    assert (first.created, second.created) == (True, False)
    assert first.job["id"] == second.job["id"]


def test_two_submissions_of_one_spec_are_two_jobs(client: Client, script: Script) -> None:
    spec = {"script": script("pass")}
    assert client.submit(spec).job["id"] != client.submit(spec).job["id"]


def test_a_job_is_stopped_run_again_edited_cloned_and_deleted(client: Client, script: Script) -> None:
    job = submit(client, script=script(WAITS), grace_seconds=1)
    until_up(job)
    assert job.stop().wait(30).phase == "stopped"
    job.edit(params={"x": 1}, script=script("import sys; print(sys.argv[1:])", "second.py"))
    assert job.rerun().wait(30).phase == "succeeded"
    assert (job.run, list(job.logs())) == (2, ["['--x', '1']"])
    copy = job.clone(name="copy", params={"y": None})
    assert copy.id != job.id
    assert list(copy.wait(30).logs()) == ["['--x', '1', '--y']"]
    job.delete()
    with pytest.raises(RequestFailed, match=job.id):
        job.refresh()


def test_a_move_the_phase_does_not_offer_says_what_it_offers(client: Client, script: Script) -> None:
    job = submit(client, script=script("pass")).wait(30)
    with pytest.raises(RequestFailed) as caught:
        job.resume()
    assert (caught.value.status, caught.value.code, caught.value.exit_code) == (409, "wrong-phase", 2)


def test_all_problems_of_a_spec_come_at_once(client: Client) -> None:
    with pytest.raises(RequestFailed) as caught:
        client.submit({"nodes": 0, "devcies": 1})
    assert {"nodes", "devcies"} <= {one["key"] for one in caught.value.problems}


def test_waiting_can_be_limited(client: Client, script: Script) -> None:
    job = submit(client, script=script(WAITS), grace_seconds=1)
    with pytest.raises(TimeoutError, match=job.id):
        job.wait(0.3)
    job.stop().wait(30)


def test_a_followed_log_ends_with_the_run_and_carries_ranks(client: Client, script: Script) -> None:
    job = submit(client, script=script("import os; print('rank', os.environ['RANK'])"), nodes=2)
    lines = [line for line in job.logs(follow=True) if line.stream == "stdout"]
    assert sorted((line.rank, str(line)) for line in lines) == [(0, "rank 0"), (1, "rank 1")]
    assert "[1] rank 1" in repr(job.logs())


def test_no_log_says_why(client: Client, script: Script) -> None:
    job = submit(client, script=script("pass")).wait(30)
    log = job.logs()
    assert list(log) == [] and repr(log).strip() not in ("", "[]")


def test_an_explanation_speaks_the_language_asked_for(client: Client, script: Script) -> None:
    job = submit(client, script=script("raise SystemExit(3)")).wait(30)
    chinese = Client(client.transport, "zh").explain(job.id)
    assert job.explain().code == chinese["code"] == "exit-code"
    assert any("\u4e00" <= char <= "\u9fff" for char in chinese["title"])


def test_secrets_come_back_as_none(client: Client, script: Script) -> None:
    job = submit(client, script=script("import os; print(os.environ['API_TOKEN'])"), secret_env={"API_TOKEN": "hush"})
    job.wait(30)
    assert list(job.logs()) == ["hush"]
    assert job.spec["secret_env"] == {"API_TOKEN": None}
    assert "hush" not in str(job.env()) + str(job.data)


def test_dry_runs_make_nothing(client: Client, script: Script) -> None:
    answer = client.try_out({"script": script("pass")})
    assert answer["fits"] is True and answer["spec"]["script"]
    assert client.jobs() == []


def test_the_text_of_a_params_file_is_submitted_as_it_is(client: Client) -> None:
    done = client.submit('name=dlc\nkind=PyTorchJob\nworker_count=1\ncommand=echo "a = b"\n')
    job = Job(client, done.job).wait(30)
    assert (job.name, list(job.logs())) == ("dlc", ["a = b"])


def test_requests_may_come_from_several_threads(client: Client, script: Script) -> None:
    """Completion asks beside the main thread."""
    submit(client, script=script("pass"))
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.append(len(client.jobs()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [1] * 8


def test_overlaying_keeps_a_null_parameter_and_takes_a_null_key_away() -> None:
    base = {"params": {"a": 1}, "image": "x", "args": ["1"]}
    assert overlaid(base, {"params": {"b": None}, "image": None, "args": []}) == {
        "params": {"a": 1, "b": None},
        "args": [],
    }
