"""What is filled in and what is refused before a job is submitted to a cluster: all problems at once, with their keys.

`prepare` is the one door: the engine's `submit`, `edit` and `fits` call it in a thread, because it looks at the
start file. The rest is pure.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, structs

from jupyter_aiarts.engines.kubernetes import manifest
from jupyter_aiarts.engines.kubernetes.code import Shipment, ship
from jupyter_aiarts.engines.kubernetes.mounts import admin_volume, pod_mounts
from jupyter_aiarts.engines.kubernetes.names import LONGEST_LABEL
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.pathchecks import path_findings
from jupyter_aiarts.engines.kubernetes.resources import priority_class
from jupyter_aiarts.engines.kubernetes.settings import PREEMPTIBLE, ClusterSettings, NodeSize
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.engines.kubernetes.variables import name_notes, name_problems
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model import imagename
from jupyter_aiarts.model.checking import shown
from jupyter_aiarts.model.framework import guess_framework
from jupyter_aiarts.model.quantity import human_size
from jupyter_aiarts.model.reading import Reading
from jupyter_aiarts.model.spec import CPU, JobSpec
from jupyter_aiarts.model.wording import worded

LARGEST_SOURCE = 1 << 20
LARGEST_OBJECT = 900 * 1024
"""Of the 1 MiB that a ConfigMap or Secret may hold."""

GB_PER_CPU = 10

Problems = list[dict[str, str]]


class Prepared(Struct, frozen=True, kw_only=True):
    """A job that may be submitted: the spec with everything filled in, and how its code gets there."""

    reading: Reading
    shipment: Shipment


def prepare(
    reading: Reading,
    folder: Path,
    settings: ClusterSettings,
    person: Person,
    *,
    node: NodeSize | None = None,
    same_code: Shipment | None = None,
) -> Prepared:
    """The job as it would run, or `InvalidSpec` with all that is wrong with it here.

    `folder` is the caller's. `node` is what a node of the device has, where that is known. `same_code` is that of an
    earlier run, for one that is run again as it was.
    """
    settled = settle(reading, folder, settings, node)
    wanted = pod_mounts(settled.spec, settings, person)
    shipment = same_code or ship(settled.spec, wanted.mounts)
    problems = [
        *image_problems(settled.spec),
        *queue_problems(settled.spec),
        *device_problems(settled.spec, settings),
        *limit_problems(settled.spec, settings),
        *run_as_problems(settled.spec, settings, person),
        *wanted.problems,
        *log_problems(settings, person),
        *shipment.problems,
    ]
    misplaced, told = ([], []) if same_code else path_findings(settled.spec, shipment, settings, person)
    problems += misplaced
    tried = rehearsal(settled, shipment, settings, person)
    if not problems:
        problems += [*name_problems(tried), *size_problems(tried)]
    if problems:
        raise InvalidSpec(problems)
    # a run that is run again brings the notes of the last one
    said = [*settled.notes, *shipment.notes, *told, *effect_notes(settled, settings), *name_notes(tried)]
    notes = dict.fromkeys(said)
    return Prepared(reading=structs.replace(settled, notes=list(notes)), shipment=shipment)


# -- filling in ----------------------------------------------------------------------------------------------------


def settle(reading: Reading, folder: Path, settings: ClusterSettings, node: NodeSize | None = None) -> Reading:
    """The spec with what only this server and this cluster can fill in."""
    spec = reading.spec
    workdir = os.path.abspath(folder / os.path.expanduser(spec.workdir or "."))
    around = spec.environment and os.path.abspath(Path(workdir) / os.path.expanduser(spec.environment))
    placed = structs.replace(spec, workdir=workdir, environment=around)
    cpu = spec.cpu or round(default_cpu(spec, settings, node), 3)
    memory = spec.memory_gb or round(default_memory(spec, settings, node, cpu), 1)
    filled = structs.replace(
        placed,
        framework=spec.framework or framework_of(placed),
        cpu=cpu,
        memory_gb=memory,
        shm_gb=spec.shm_gb if spec.shm_gb is not None else round(memory / 2, 3),
        max_hours=spec.max_hours or settings.limits.hours,
    )
    notes = [*reading.notes, *_hours_note(spec, settings)]
    return structs.replace(reading, spec=filled, notes=notes)


def _hours_note(spec: JobSpec, settings: ClusterSettings) -> list[str]:
    if spec.max_hours or not settings.limits.hours:
        return []
    return [f"max_hours is {settings.limits.hours:g}, the longest that a job may run on {settings.name}."]


def default_cpu(spec: JobSpec, settings: ClusterSettings, node: NodeSize | None) -> float:
    """The cards' fair share of a node, where its size is known; else a CPU per card. A CPU job has one."""
    size = settings.profile(spec.device).node or node
    share = float(max(spec.devices, 1))
    if size is not None and size.cards and spec.devices:
        share = size.cpu * min(spec.devices / size.cards, 1.0)
    return max(min(share, _each(settings.limits.cpu, spec, share)), 0.001)


def default_memory(spec: JobSpec, settings: ClusterSettings, node: NodeSize | None, cpu: float) -> float:
    """10 GB per CPU, within the share of the node that the CPUs are, where its size is known."""
    size = settings.profile(spec.device).node or node
    wanted = GB_PER_CPU * cpu
    if size is not None:
        wanted = min(wanted, size.memory_gb * min(cpu / size.cpu, 1.0))
    return max(min(wanted, _each(settings.limits.memory_gb, spec, wanted)), 0.1)


def _each(limit: float | None, spec: JobSpec, otherwise: float) -> float:
    """A node's part of what a whole job may have."""
    return otherwise if limit is None else limit / spec.nodes


def framework_of(spec: JobSpec) -> str:
    """Guessed from the imports of the start file; `none` for what is not on this server."""
    path = os.path.join(spec.workdir or "/", os.path.expanduser(spec.script or ""))
    if spec.script is None or os.path.splitext(path)[1] not in (".py", ".ipynb"):
        return "none"
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return guess_framework(file.read(LARGEST_SOURCE))
    except OSError:
        return "none"


def effect_notes(reading: Reading, settings: ClusterSettings) -> list[str]:
    """What was asked for and has no effect here, or another one than might be thought."""
    spec, notes = reading.spec, []
    if "priority" in reading.given and priority_class(spec, settings) is None:
        notes.append(f"priority has no effect: {settings.name} maps no priorities.")
    if spec.preemptible and PREEMPTIBLE not in settings.priorities:
        notes.append(f"preemptible has no effect: {settings.name} maps no class for it.")
    if spec.image and imagename.is_reference(spec.image) and not imagename.is_tagged(spec.image):
        notes.append(f"The image {spec.image} has no tag: it is whatever latest is when a pod starts. Name a version.")
    if spec.output_path is None and settings.log_mount is None:
        notes.append("SAVE_PATH is a folder in the pod and goes with it; set output_path to keep results.")
    return notes


# -- refusing ------------------------------------------------------------------------------------------------------


def image_problems(spec: JobSpec) -> Problems:
    """A pod without an image is none, and one whose image no runtime can name never starts."""
    if not spec.image:
        message = "Jobs on {cluster} run in a container. Set image to one that has python3."
        return [{"key": "image", "message": worded(message, cluster=spec.cluster)}]
    found = imagename.fault(spec.image)
    if found is None:
        return []
    what, meant = found
    advice = f" Did you mean {meant}?" if meant else ""
    return [{"key": "image", "message": f"The image {shown(spec.image)} {what}.{advice}"}]


def queue_problems(spec: JobSpec) -> Problems:
    """A queue is named by a label, which is shorter than other names."""
    if len(spec.queue or "") <= LONGEST_LABEL:
        return []
    message = "queue may have at most {most} characters here, and it has {have}."
    return [{"key": "queue", "message": worded(message, most=LONGEST_LABEL, have=len(spec.queue or ""))}]


def device_problems(spec: JobSpec, settings: ClusterSettings) -> Problems:
    if spec.device == CPU or settings.profile(spec.device).resource:
        return []
    offered = ", ".join(sorted(settings.devices))
    message = "{cluster} has no device {device}. It offers {offers}."
    known = {"cluster": settings.name, "device": spec.device, "offers": offered}
    return [{"key": "device", "message": worded(message, **known)}]


def limit_problems(spec: JobSpec, settings: ClusterSettings) -> Problems:
    """More than the admin lets one job have."""
    limits = settings.limits
    asked = [
        ("cpu", "CPUs", (spec.cpu or 0) * spec.nodes, limits.cpu),
        ("memory_gb", "GB of memory", (spec.memory_gb or 0) * spec.nodes, limits.memory_gb),
        ("devices", "cards", spec.devices * spec.nodes, limits.devices),
        ("max_hours", "hours", spec.max_hours or 0, limits.hours),
    ]
    message = "A job on {cluster} may have {limit} {what}, and this asks for {have}."
    return [
        {
            "key": key,
            "message": worded(message, cluster=settings.name, limit=f"{limit:g}", what=what, have=f"{have:g}"),
        }
        for key, what, have, limit in asked
        if limit is not None and have > limit + 1e-9
    ]


def run_as_problems(spec: JobSpec, settings: ClusterSettings, person: Person) -> Problems:
    """As whom a pod may run is the admin's word, never the client's."""
    if spec.run_as == "image":
        return []
    if spec.run_as == "user":
        if person.uid:
            return []
        message = worded(
            "run_as is user, and this server runs as root: an admin can say which uid and gid are yours "
            "under users in the configuration of {cluster}.",
            cluster=settings.name,
        )
    elif spec.run_as in settings.allow_run_as or ("*" in settings.allow_run_as and int(spec.run_as.split(":")[0])):
        return []
    else:
        allowed = ", ".join(["image", "user", *settings.allow_run_as])
        known = {"value": spec.run_as, "cluster": settings.name, "allowed": allowed}
        message = worded("run_as is {value}, and {cluster} allows {allowed}.", **known)
    return [{"key": "run_as", "message": message}]


def log_problems(settings: ClusterSettings, person: Person) -> Problems:
    """A log mount that has no folder for this owner."""
    try:
        if settings.log_mount is not None:
            admin_volume(settings.log_mount.source, person)
    except ValueError as error:
        return [{"key": "mounts", "message": f"The log mount of {settings.name} {error}."}]
    return []


def size_problems(order: Order) -> Problems:
    """What would not go into one object."""
    described, secret = manifest.config_size(order), manifest.secret_size(order)
    problems = []
    if described > LARGEST_OBJECT:
        message = worded(
            "The job's description and code are {size}, and at most {most} can be kept in the cluster. "
            "Put long arguments, variables or code into files on a mount.",
            size=human_size(described),
            most=human_size(LARGEST_OBJECT),
        )
        problems.append({"key": _largest(order), "message": message})
    if secret > LARGEST_OBJECT:
        message = worded(
            "The secret variables are {size}, and at most {most} can be kept.",
            size=human_size(secret),
            most=human_size(LARGEST_OBJECT),
        )
        problems.append({"key": "secret_env", "message": message})
    return problems


def _largest(order: Order) -> str:
    """The key that takes the most of a job's description."""
    spec = order.spec
    sizes = {
        "args": sum(len(text) for text in spec.args),
        "params": sum(len(str(value)) + len(key) for key, value in spec.params.items()),
        "env": sum(len(text) for text in spec.env.values()),
        "command": len(spec.command or ""),
        "script": len(order.shipment.zip or b""),
    }
    return max(sizes, key=lambda key: sizes[key])


def rehearsal(reading: Reading, shipment: Shipment, settings: ClusterSettings, person: Person) -> Order:
    """An order like the one that will be made, under an id that does not matter: for asking how large it is."""
    return Order(
        settings=settings,
        reading=reading,
        shipment=shipment,
        person=person,
        namespace="default",
        job_id="a000000000",
        token="0" * 64,
    )
