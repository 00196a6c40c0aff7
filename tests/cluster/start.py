"""Bring a cluster up, with a line about each step, and take it down."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from tests.cluster import control_plane, dns, images, kueue, nodes, pki, users
from tests.cluster.api import Api, until
from tests.cluster.build import Say, all_built, build_all, missing
from tests.cluster.cells import Cell
from tests.cluster.cleanup import cells_of, remove
from tests.cluster.network import connect
from tests.cluster.paths import NODES, Instance, Unavailable, locked

# cell → the programs that run in it
PROGRAMS = {
    "control": ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns", "kueue"),
    **dict.fromkeys(NODES, ("containerd", "kubelet")),
}


def up(instance: Instance, say: Say) -> bool:
    """Start it; False when it ran already. What a crashed or broken one left is removed first."""
    absent = list(missing())
    if absent:
        raise Unavailable(f"a cluster needs {'; '.join(absent)}")
    with locked(instance.lock):
        if is_whole(instance):
            _renew(instance, say)
            return False
        prepare(say)
        remove(instance)
        _start(instance, _clocked(say))
        return True


def prepare(say: Say) -> None:
    """Build and make what is missing: minutes on a new machine, nothing on others."""
    build_all(say)
    kueue.keep_manifests()
    images.make_images(say)


def is_prepared() -> bool:
    """Whether a start would find everything in the cache."""
    return all_built() and all(images.archive_of(image).exists() for image in images.IMAGES)


def down(instance: Instance) -> None:
    with locked(instance.lock):
        remove(instance)


def is_whole(instance: Instance) -> bool:
    """Whether every program of a cluster that once was ready runs."""
    return instance.ready.exists() and not any(True for _ in dead(instance))


def dead(instance: Instance) -> Iterator[str]:
    """The programs that should run and don't."""
    for name, cell in cells_of(instance).items():
        for program in PROGRAMS[name]:
            if cell.find(program) is None:
                yield f"{name}/{program}"


def admin(instance: Instance) -> Api:
    """A connection that may do anything."""
    return Api(instance.api_url, instance.folder / "pki" / "ca.crt", users.token_of(instance, "admin"))


def wait_for_api(instance: Instance) -> None:
    """Until it answers; not longer than it runs."""
    control = cells_of(instance)["control"]
    with admin(instance) as api:
        until("the API server", lambda: api.get("readyz"), while_true=lambda: control.find("kube-apiserver"))


def wait_for_node(instance: Instance, node: str) -> None:
    """Until the node takes pods and has its cards."""
    with admin(instance) as api:
        nodes.declare_cards(api, node)  # first: a kubelet that takes pods and knows of no cards fails them for good
        until(f"{node} to be ready", lambda: nodes.is_ready(api, node))


def _renew(instance: Instance, say: Say) -> None:
    """Whoever changes a role finds it changed; whoever changes this code is told what that takes."""
    with admin(instance) as api:
        users.renew_roles(api)
    if instance.ready.read_text() != _code():
        say("note: the cluster was started by other code than this; `make cluster-down` first to have this")


def _code() -> str:
    """Changes when something that starts the cluster does."""
    files = [file for file in sorted(Path(__file__).parent.glob("*.py")) if not file.name.startswith("test_")]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _start(instance: Instance, say: Say) -> None:
    """The API server takes longest and everybody needs it; meanwhile the nodes get their images."""
    instance.folder.mkdir(mode=0o700, parents=True)
    cells = cells_of(instance)
    control = cells["control"]
    with _explained(instance, cells), ThreadPoolExecutor() as pool:
        _lay_out(instance, cells, pool)
        say("cells, certificates and network are there")
        imports = {node: pool.submit(_containers, cells[node]) for node in NODES}
        control_plane.start_etcd(instance, control)
        control_plane.start_api_server(instance, control)
        wait_for_api(instance)
        say("the API server is ready")
        steps = {pool.submit(_controllers, instance, control): "controllers, scheduler and DNS run"}
        steps[pool.submit(_people, instance)] = "namespaces, roles and users are there"
        steps[pool.submit(_queues, instance, control)] = "Kueue is ready"
        for node in NODES:
            steps[pool.submit(_kubelet, instance, cells[node], imports[node])] = f"{node} is ready, with its images"
        for step in as_completed(steps):
            step.result()
            say(steps[step])
        instance.ready.write_text(_code())


def _lay_out(instance: Instance, cells: dict[str, Cell], pool: ThreadPoolExecutor) -> None:
    """Files first, then the cells that mount them, then the links between the cells."""
    for cell in cells.values():
        cell.folder.mkdir()
    pki.make_certificates(instance)
    users.make_credentials(instance)
    control_plane.make_files(instance)
    mounts = {node: nodes.make_files(instance, cells[node]) for node in NODES}
    mounts["control"] = kueue.mounts(instance, cells["control"])
    list(pool.map(lambda name: cells[name].start(mounts[name]), cells))
    connect(instance, cells["control"], {node: cells[node] for node in NODES})


def _containers(cell: Cell) -> None:
    nodes.start_containerd(cell)
    for image in images.IMAGES:
        nodes.import_image(cell, images.archive_of(image))
    nodes.require_images(cell, list(images.IMAGES))


def _controllers(instance: Instance, cell: Cell) -> None:
    control_plane.start_controllers(instance, cell)
    control_plane.start_scheduler(instance, cell)
    dns.start_dns(instance, cell)


def _kubelet(instance: Instance, cell: Cell, imported: Future[None]) -> None:
    imported.result()
    nodes.start_kubelet(instance, cell)
    wait_for_node(instance, cell.name)


def _people(instance: Instance) -> None:
    with admin(instance) as api:
        users.make_namespaces(api)


def _queues(instance: Instance, cell: Cell) -> None:
    with admin(instance) as api:
        kueue.define(instance, api)
        kueue.start_kueue(instance, cell)
        kueue.make_queues(api)


@contextmanager
def _explained(instance: Instance, cells: dict[str, Cell]) -> Iterator[None]:
    """When a start fails, say which program has ended and with what last words."""
    try:
        yield
    except Exception as error:
        ends = {name: cells[name.split("/")[0]].tail(name.split("/")[1]) for name in dead(instance)}
        words = [f"{name} has ended:\n{text}" for name, text in ends.items() if text]
        raise Unavailable("\n\n".join([f"the cluster did not come up: {error}", *words])) from error


def _clocked(say: Say) -> Say:
    began = time.monotonic()
    return lambda text: say(f"{time.monotonic() - began:5.1f} s  {text}")
