"""Logs of real pods, through a real API server: all of it, beyond what the kubelet keeps, and after the pod is gone."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shlex
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from jupyter_aiarts.engines.kubernetes import lacks
from jupyter_aiarts.engines.kubernetes.archive import Archive, PodFacts
from jupyter_aiarts.engines.kubernetes.client import Api, pods
from jupyter_aiarts.engines.kubernetes.lacks import Lack
from jupyter_aiarts.engines.kubernetes.recall import token
from jupyter_aiarts.engines.kubernetes.submit import create
from jupyter_aiarts.engines.logs import LogQuery, open_log
from jupyter_aiarts.model.names import new_id
from tests.engines.kubernetes.archiving import held_bytes, open_api
from tests.engines.kubernetes.making import make_order

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster
LINES = 2_000_000
HEARD = """
import os, sys, time, signal
def leave(*_):
    print("leaving", flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, leave)
print("out", flush=True)
print("err", file=sys.stderr, flush=True)
time.sleep(300)
"""


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    with cluster.namespace() as name:
        cluster.bind("noproxy", name, "aiarts-noproxy")
        yield name


class Lab:
    """One user's archive, and the pods of one job of alice's."""

    def __init__(self, cluster: Cluster, api: Api, mine: Api, namespace: str, state: Path) -> None:
        self.cluster, self.api, self.namespace = cluster, api, namespace
        self.job = new_id()
        self.name = ""
        self.archive = Archive(mine, state, "test", lambda place, name: token(mine, place, name))
        self.run = self.archive.log_folder(namespace, self.job, 1)

    async def start(self, script: str, **raw: Any) -> None:
        """A job that runs a Python text."""
        command = f"python3 -c {shlex.quote(script)}"
        order = make_order(raw={"command": command, "name": "talk", "grace_seconds": 5, **raw}, **self._order())
        self.name = (await create(self.api, order)).name

    def _order(self) -> dict[str, Any]:
        return {"namespace": self.namespace, "job_id": self.job, "token": "5ec2e7"}

    async def facts(self) -> list[PodFacts]:
        """The job's pods as the cluster has them."""
        found = await self.api.get(pods(self.namespace), dict, labelSelector=f"jupyter-aiarts/job={self.job}")
        return [self._fact(pod) for pod in found["items"]]

    def _fact(self, pod: dict[str, Any]) -> PodFacts:
        node = int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
        return PodFacts(
            namespace=self.namespace,
            job=self.job,
            run=1,
            node=node,
            name=pod["metadata"]["name"],
            phase=pod["status"]["phase"],
            secret=self.name,
            created=pod["metadata"]["creationTimestamp"],
            ranks=(node,),
        )

    async def until(self, true: Any, what: str, seconds: float = 60.0) -> None:
        """Keep telling the archive what the cluster says, until something is true."""
        end = time.monotonic() + seconds
        while True:
            facts = await self.facts()
            self.archive.keep(facts)
            if true(facts):
                return
            assert time.monotonic() < end, f"{what}: not within {seconds} s; held: {held_bytes(self.run)[-500:]!r}"
            await asyncio.sleep(0.1)

    async def until_held(self, text: bytes) -> None:
        await self.until(lambda facts: text in held_bytes(self.run), repr(text))

    async def until_done(self) -> None:
        def is_done(facts: list[PodFacts]) -> bool:
            return bool(facts) and all(pod.is_over for pod in facts) and not self.archive._shelves

        await self.until(is_done, "the end", 120)


@pytest_asyncio.fixture
async def lab(cluster: Cluster, namespace: str, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Lab]:
    """Parametrized by who looks; the job is always alice's."""
    alice = await open_api(cluster.kubeconfig("alice"), "test")
    mine = await open_api(cluster.kubeconfig(getattr(request, "param", "alice")), "test")
    made = Lab(cluster, alice, mine, namespace, tmp_path)
    yield made
    await made.archive.aclose()
    await mine.aclose()
    await alice.aclose()


@pytest.mark.timeout(300)
async def test_two_million_lines_arrive_to_the_byte(lab: Lab) -> None:
    """`kubectl logs` has the last tenth of them."""
    text = "line %d of a log that no kubelet keeps in full, since it is rotated away long before\n"
    await lab.start(f"import sys\nw = sys.stdout.write\nfor n in range({LINES}): w({text!r} % n)")
    await lab.until_done()
    expected, found = hashlib.sha256(), hashlib.sha256()
    for begin in range(0, LINES, 10_000):
        expected.update("".join(text % n for n in range(begin, begin + 10_000)).encode())
    count = 0
    for path in sorted((lab.run / "node-0/log/0").glob("stdout.*.log")):
        content = path.read_bytes()
        count += content.count(b"\n")
        found.update(content)
    assert (count, found.hexdigest()) == (LINES, expected.hexdigest())
    source = await lab.archive.source(lab.namespace, lab.job, 1)
    assert (source.source, source.complete, source.missing) == ("launcher", True, ())


@pytest.mark.timeout(300)
async def test_a_server_that_comes_late_catches_up(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """The kubelet has forgotten most of it; the launcher has not."""
    size = 100 << 20
    script = f"import sys, time\nfor n in range({size // 64}): sys.stdout.write('%063d\\n' % n)\n"
    await lab.start(script + "print('all', flush=True)\ntime.sleep(60)")
    while await _written(lab) < size + 4:
        await asyncio.sleep(0.2)
    facts = await lab.facts()
    begun = time.monotonic()
    lab.archive.keep(facts)
    while not (lab.archive._shelves and await lab.archive.complete(lab.job, 1, 60)):
        await asyncio.sleep(0.01)
    seconds = time.monotonic() - begun
    assert len(held_bytes(lab.run)) == size + 4
    with capsys.disabled():
        print(f" {size / seconds / 1e6:.0f} MB/s through the API server ", end="")


async def _written(lab: Lab) -> int:
    """How much the launcher itself has; the kubelet's newest file is empty for a while whenever it turned the log."""
    facts = await lab.facts()
    if not any(pod.is_up for pod in facts):
        return 0
    count = "import glob, os; print(sum(map(os.path.getsize, glob.glob('/aiarts/run/node-0/log/0/stdout.*.log'))))"
    words = ["-n", lab.namespace, "exec", facts[0].name, "-c", "main", "--", "python3", "-c", count]
    return int(await asyncio.to_thread(lab.cluster.kubectl, *words))


async def test_streams_variables_and_summary_outlive_the_pod(lab: Lab) -> None:
    """Suspending a Job deletes its pods; what they say when asked to leave is held too."""
    await lab.start(HEARD, env={"MINE": "yes"})
    await lab.until_held(b"out\n")
    assert await lab.archive.complete(lab.job, 1, 10)
    suspended = '{"spec":{"suspend":true}}'
    await asyncio.to_thread(lab.cluster.kubectl, "-n", lab.namespace, "patch", "job", lab.name, "-p", suspended)
    await lab.until(lambda facts: not facts, "the pod to go")
    assert held_bytes(lab.run) == b"out\nleaving\n"
    assert held_bytes(lab.run, stream="stderr") == b"err\n"
    assert (await lab.archive.environment(lab.namespace, lab.job, 1, 0))["MINE"] == "yes"
    assert json.loads((lab.run / "summary.json").read_text())["result"] == "stopped"
    assert (await lab.archive.source(lab.namespace, lab.job, 1)).complete


async def test_a_resumed_job_goes_on_in_the_same_log(lab: Lab) -> None:
    await lab.start(HEARD)
    await lab.until_held(b"out\n")
    for suspend in ("true", "false"):
        patch = f'{{"spec":{{"suspend":{suspend}}}}}'
        await asyncio.to_thread(lab.cluster.kubectl, "-n", lab.namespace, "patch", "job", lab.name, "-p", patch)
        wanted = 0 if suspend == "true" else 1
        await lab.until(lambda facts, wanted=wanted: len(facts) == wanted, "the pods")
    await lab.until_held(b"out\nleaving\nout\n")


async def test_a_pod_that_is_torn_away_leaves_a_mark(lab: Lab) -> None:
    await lab.start(HEARD)
    await lab.until_held(b"out\n")
    (pod,) = await lab.facts()
    await asyncio.to_thread(
        lab.cluster.kubectl, "-n", lab.namespace, "delete", "pod", pod.name, "--grace-period=0", "--force"
    )
    await lab.until(lambda facts: pod.name not in [fact.name for fact in facts], "the pod to go")
    await lab.until(lambda facts: (lab.run / "node-0/pods.json").read_text().count('"done":true') == 1, "its end")
    source = await lab.archive.source(lab.namespace, lab.job, 1)
    texts = [line.text for line in open_log(lab.run).walk(LogQuery(), ended=True)]
    lack = Lack(lacks.WENT_AWAY, pod.name)
    if "leaving" not in texts:  # the kubelet may be quick enough to ask it to leave
        assert lack in source.missing and f"… {lack.said()} …" in texts


@pytest.mark.parametrize("lab", ["noproxy"], indirect=True)
async def test_without_the_right_to_the_port_the_kubelets_log_does(lab: Lab) -> None:
    lines = 5000
    await lab.start(
        f"import time\nfor n in range({lines}): print('line', n, 'y' * (n % 300))\ntime.sleep(2)\nprint('z' * 70000)"
    )
    await lab.until_done()
    expected = [f"line {n} {'y' * (n % 300)}" for n in range(lines)] + ["z" * 70000]
    assert held_bytes(lab.run).decode().splitlines() == expected
    source = await lab.archive.source(lab.namespace, lab.job, 1)
    assert source.source == "kubelet"
    assert "pods/proxy" in source.missing[0].said()


@pytest.mark.parametrize("lab", ["noproxy"], indirect=True)
async def test_what_ended_before_anybody_looked_is_fetched(lab: Lab) -> None:
    await lab.start("print('quick')")
    end = time.monotonic() + 60
    while not all(pod.is_over for pod in await lab.facts()) or not await lab.facts():
        assert time.monotonic() < end
        await asyncio.sleep(0.1)
    await lab.until_done()
    assert held_bytes(lab.run) == b"quick\n"
