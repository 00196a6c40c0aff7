"""`launcher.zip pod [ROOT]`: the launcher as the main process of a container.

The plan is the same for every pod of a job; what only this pod knows (which node it is, the container's environment,
the token, the attempt) is put into it here. From then on it is the same launcher as on one machine.
"""

import os
from typing import Any, Dict, List, Mapping

from . import access, termination
from . import plan as plans
from .environment import GRANT_VARIABLES
from .layout import Layout
from .octets import to_bytes, to_text
from .plan import Inside, Plan
from .problem import Problem, Refused, from_oserror
from .runner import give_up, own_descriptors, run
from .stage import Stage
from .summary import failed

MOUNT_HINT = "an admin makes the folder of the log mount writable for whoever jobs run as, like /tmp (chmod 1777)"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def main(arguments: List[str]) -> int:
    """Run this pod's part of the job; 0 success, 1 any failure, 75 no meeting or asked to leave."""
    layout = Layout(*arguments[1:2])
    environ = {to_text(name): to_text(value) for name, value in os.environb.items()}
    own_descriptors()
    os.environ["RES_OPTIONS"] = "timeout:1 attempts:2"  # ours alone: a name server that is away must not hold us up
    node = _index(environ)
    folder = f"{layout.run}/node-{node}"
    try:
        plan = load(layout, environ)
        if node >= plan.nodes:
            raise _refused(f"this is node {node} of a job of {plan.nodes}")
        folder = _make(plan, layout, node)
        return run(plan, node, folder, lambda loop: Stage(loop, plan, layout.termination))
    except Refused as error:
        return _give_up(layout, node, folder, error.problem)
    except OSError as error:
        return _give_up(layout, node, folder, from_oserror(error, "use the job's folder"))


def _make(plan: Plan, layout: Layout, node: int) -> str:
    """The node's folder, in the pod or on the log mount; raises `Refused`, `OSError`."""
    if plan.folder is not None and plan.folder != layout.run:
        try:
            access.claim(plan.folder, plan.readers)
        except OSError as error:
            problem = from_oserror(error, f"write to the log mount as user {os.geteuid()}")
            raise Refused(problem._replace(hint=MOUNT_HINT)) from error
    folder = f"{plan.folder or layout.run}/node-{node}"
    os.makedirs(folder, access.made.folder, exist_ok=True)
    return folder


def load(layout: Layout, environ: Mapping[str, str]) -> Plan:
    """The job's plan, completed by what this pod knows; raises `Refused`."""
    document = plans.read(layout.plan)
    if not isinstance(document, dict):
        raise _refused(f"{layout.plan} is not an object")
    attempt = plans.read(layout.attempt) if os.path.exists(layout.attempt) else {}
    known = {key: attempt[key] for key in ("attempt", "used_seconds", "history") if key in attempt}
    inherited = {"PATH": _PATH, **_inherited(environ)}
    plan = plans.from_json({
        "attempt": 1, "used_seconds": 0.0, **document, **known, "token": _token(layout.token), "environ": inherited,
    })  # fmt: skip
    inside = Inside(layout.pod_env, layout.run, layout.programs if layout.sudo else None, layout.root)
    address = environ.get("POD_IP", "") if plan.nodes > 1 else ""
    return plan._replace(
        grants=[_grants(plan, environ)] * plan.nodes, inside=inside, address=address, attempt_file=layout.attempt,
        workdir=_absolute(plan.workdir), main_path=_absolute(plan.main_path), save_path=_absolute(plan.save_path),
    )  # fmt: skip


def _absolute(path: str) -> str:
    """Relative to the image's own working folder, where the container began."""
    return to_text(os.path.join(os.getcwdb(), to_bytes(path))) if path != "." else to_text(os.getcwdb())


def _inherited(environ: Mapping[str, str]) -> Dict[str, str]:
    """The image's variables and Kubernetes' own, without what is between the manifest and us."""
    return {
        name: value
        for name, value in environ.items()
        if name != "JOB_COMPLETION_INDEX" and not name.startswith("AIARTS_")
    }


def _grants(plan: Plan, environ: Mapping[str, str]) -> Dict[str, str]:
    """The cards were chosen by whoever made the container; inside it a user may choose among them."""
    given: Dict[str, Any] = {name: environ.get(name) for name in sorted(GRANT_VARIABLES)}
    given["CUDA_VISIBLE_DEVICES"] = plan.env.get("CUDA_VISIBLE_DEVICES", given["CUDA_VISIBLE_DEVICES"])
    return {name: value for name, value in given.items() if value is not None}


def _token(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            token = file.read().strip()
    except (OSError, ValueError) as error:
        raise _refused(f"cannot read the job's token: {error}") from error
    if not token:
        raise _refused("the job's token is empty")
    return token


def _index(environ: Mapping[str, str]) -> int:
    """Which node this is: the pod's index in its Job."""
    text = environ.get("JOB_COMPLETION_INDEX", "0")
    return int(text) if text.isdigit() else 0


def _give_up(layout: Layout, node: int, folder: str, problem: Problem) -> int:
    termination.write(layout.termination, {**failed(0, "failed", problem.as_json()), "node": node})
    return give_up(node, folder, "failed", problem)


def _refused(message: str) -> Refused:
    return Refused(Problem("plan-invalid", message, "this is a fault of the software that made the pod"))
