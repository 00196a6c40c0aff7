"""What can be known to be wrong before a job is accepted on this machine: said at once, each with its key."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import structs

from jupyter_aiarts.engines.base import Caller
from jupyter_aiarts.engines.local.machine import memory_gb
from jupyter_aiarts.engines.local.plan import Site, plan_of, script_of, workdir_of
from jupyter_aiarts.engines.local.records import CallerFile, JobFile, Placed, RunFile
from jupyter_aiarts.engines.local.slots import Machine, cpus_of
from jupyter_aiarts.engines.surroundings import fault_of
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.launcher.environment import Places, process_environment, seats
from jupyter_aiarts.launcher.plan import Plan, from_json
from jupyter_aiarts.launcher.problem import Refused
from jupyter_aiarts.launcher.startfile import command
from jupyter_aiarts.launcher.substitution import UnknownName, substitute
from jupyter_aiarts.model.framework import guess_framework
from jupyter_aiarts.model.reading import Reading
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.wording import worded

LARGEST_SOURCE = 1 << 20
GB_PER_CPU = 10


def settle_spec(spec: JobSpec, caller: Caller, machine: Machine) -> JobSpec:
    """The spec with what only this machine can fill in: the working folder, the framework, the share of the machine."""
    folder = Path(os.path.abspath(caller.folder / os.path.expanduser(spec.workdir or ".")))
    environment = spec.environment and os.path.abspath(folder / os.path.expanduser(spec.environment))
    placed = structs.replace(spec, workdir=str(folder), environment=environment)
    cpu = spec.cpu or cpus_of(spec, machine) / spec.nodes
    memory = spec.memory_gb or min(GB_PER_CPU * cpu, memory_gb())
    return structs.replace(
        placed,
        framework=spec.framework or framework_of(placed),
        cpu=round(cpu, 2),
        memory_gb=round(memory, 1),
        shm_gb=spec.shm_gb if spec.shm_gb is not None else round(memory / 2, 1),
    )


def framework_of(spec: JobSpec) -> str:
    """Guessed from the imports of the start file; `none` for what cannot be read here."""
    script = script_of(spec)
    if script is None or script.suffix not in (".py", ".ipynb"):
        return "none"
    try:
        with open(script, encoding="utf-8", errors="replace") as file:
            return guess_framework(file.read(LARGEST_SOURCE))
    except OSError:
        return "none"


def check_here(reading: Reading, caller: Caller) -> None:
    """Raise `InvalidSpec` with everything this machine already knows to be wrong."""
    plan = rehearsal(reading.spec, caller)
    secrets = dict.fromkeys(reading.spec.secret_env, "") | reading.secrets
    environ = process_environment(plan, seats(plan, 0)[0], Places("/", "/"), secrets)
    problems = [
        *folder_problems(reading.spec),
        *(environment_problems(reading.spec) or start_problems(plan, environ)),
        *mount_problems(reading.spec),
        # What activating sets is known when it is done; until then the launcher refuses a name that nobody has.
        *([] if reading.spec.environment is not None else name_problems(reading.spec, environ)),
    ]
    if problems:
        raise InvalidSpec(problems)


def folder_problems(spec: JobSpec) -> list[dict[str, str]]:
    folder = workdir_of(spec)
    try:
        if stat.S_ISDIR(os.stat(folder).st_mode):
            return []
        message = worded("The working folder {folder} is not a folder.", folder=folder)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        message = worded("The working folder {folder} cannot be used: {why}.", folder=folder, why=why)
    return [{"key": "workdir", "message": message}]


def environment_problems(spec: JobSpec) -> list[dict[str, str]]:
    """An environment that is none, or has no Python for a start file that needs one."""
    if spec.environment is None:
        return []
    message = fault_of(spec.environment, spec.script)
    return [{"key": "environment", "message": message}] if message else []


def start_problems(plan: Plan, environ: dict[str, str]) -> list[dict[str, str]]:
    """What the launcher itself would say about the start file."""
    try:
        command(plan._replace(args=[]), environ, "")
    except Refused as refused:
        key = "script" if plan.start.path else "command"
        return [{"key": key, "message": _sentence(refused.problem.message, refused.problem.hint)}]
    return []


def _sentence(message: str, hint: str = "") -> str:
    """The launcher's words as a sentence; its hint may be a command and is left as it is."""
    return f"{message[:1].upper()}{message[1:]}" + (f" – {hint}" if hint else ".")


def mount_problems(spec: JobSpec) -> list[dict[str, str]]:
    """Mounts are not mounted here, but a path that is missing will be missing for the script too."""
    return [
        {
            "key": f"mounts[{index}].source",
            "message": worded("{path} does not exist on this machine.", path=mount.source),
        }
        for index, mount in enumerate(spec.mounts)
        if mount.source.startswith("/") and not os.path.exists(mount.source)
    ]


def name_problems(spec: JobSpec, environ: dict[str, str]) -> list[dict[str, str]]:
    """`${NAME}` in arguments that no rank's environment will have."""
    texts = [("args", text) for text in spec.args]
    texts += [("params", text) for value in spec.params.values() for text in _texts(value)]
    problems = []
    for key, text in texts:
        try:
            substitute(text, environ)
        except UnknownName as error:
            problems.append({"key": key, "message": _sentence(str(error))})
    return problems


def _texts(value: object) -> list[str]:
    many = value if isinstance(value, list) else [value]
    return [text for text in many if isinstance(text, str)]


def rehearsal(spec: JobSpec, caller: Caller) -> Plan:
    """The plan this spec would get, on cards and ports that do not matter: for asking the launcher's own functions."""
    origin = CallerFile(python=caller.python, environ=dict(caller.environ))
    job = JobFile(id="a000000000", owner=caller.owner, host="", created="", spec=spec, queued="")
    run = RunFile(run=1, created="", spec=spec, caller=origin)
    cards = tuple(tuple(range(spec.devices)) for _ in range(spec.nodes))
    placed = Placed(attempt=1, placed="", cpus=1.0, devices=cards)
    site = Site(folder=Path("/"), runtime=Path("/"), secrets=None, port=1, token="", log_limit=1)
    return from_json(plan_of(job, run, placed, site))
