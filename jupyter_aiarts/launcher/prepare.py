"""Everything that is made and checked before any rank starts: folders, pod.env files, commands."""

import os
from typing import Dict, List, NamedTuple

from . import access, podenv, record
from .environment import Places, Seat, exported, process_environment, seats
from .octets import to_bytes, to_text
from .plan import Plan, secrets
from .problem import Refused, from_oserror
from .startfile import command


class Prepared(NamedTuple):
    """One rank, ready to be started."""

    seat: Seat
    argv: List[str]
    environ: Dict[str, str]
    workdir: str
    log_folder: str
    exported: Dict[str, str]

    @property
    def marker(self) -> bytes:
        """The variable by which this rank's processes are known wherever they went."""
        return b"AIARTS_POD_ENV=" + to_bytes(self.environ["AIARTS_POD_ENV"])


def prepare(plan: Plan, node: int, folder: str) -> List[Prepared]:
    """The ranks of this node with their files in place; raises `Refused` before anything has started."""
    secret = secrets(plan.secrets_file)
    try:
        os.makedirs(to_bytes(plan.save_path), exist_ok=True)
        runner = _notebook_runner(folder) if plan.start.kind == "notebook" else ""
        return [_prepare_rank(plan, seat, folder, secret, runner) for seat in seats(plan, node)]
    except OSError as error:
        raise Refused(from_oserror(error, "prepare the job's folders")) from error


def _prepare_rank(plan: Plan, seat: Seat, folder: str, secret: Dict[str, str], runner: str) -> Prepared:
    places = _places(plan, seat, folder)
    log_folder = os.path.join(folder, "log", str(seat.rank))
    for path in (to_bytes(places.tmp), os.fsencode(log_folder)):
        for private in (os.path.dirname(path), path):  # makedirs gives its mode to the last one only
            os.makedirs(private, access.made.folder, exist_ok=True)
    shown = {name: value for name, value in exported(plan, seat, places).items() if name not in secret}
    _write_pod_env(plan, places.pod_env, podenv.render(shown))
    if plan.processes == "card" and seat.card == 0:
        _write_pod_env(plan, _places(plan._replace(processes="node"), seat, folder).pod_env, podenv.render(shown))
    environ = process_environment(plan, seat, places, secret)
    return Prepared(seat, command(plan, environ, runner), environ, plan.workdir, log_folder, shown)


def _places(plan: Plan, seat: Seat, folder: str) -> Places:
    """Where this rank's own files go; a rank that shares its node with others has its own pod.env."""
    home = to_text(os.fsencode(folder))
    node = f"{home}/pod.env"
    if plan.inside is not None:
        home, node = plan.inside.run, plan.inside.pod_env
    own = f"{home}/pod.env.{seat.rank}" if plan.processes == "card" else node
    return Places(own, f"{home}/tmp/{seat.rank}")


def _write_pod_env(plan: Plan, path: str, content: bytes) -> None:
    name = os.fsdecode(to_bytes(path))
    if plan.inside is None:
        record.write(name, content)
    else:
        record.write_in_place(name, content)  # a mounted file cannot be renamed over; every user may source it


def _notebook_runner(folder: str) -> str:
    """A copy of `notebook.py` as a file: the job's Python runs it, and cannot look into our zip."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "notebook.py")
    path = os.path.join(folder, "notebook.py")
    record.write(path, __loader__.get_data(source))  # type: ignore[name-defined]
    return to_text(os.fsencode(path))
