"""`launcher.zip prepare [ROOT]`: the pod's init container. Makes what the main container finds in place.

An empty pod.env that can be mounted, the code that came with the job, and a `sudo` where the pod runs as root.
"""

import os
from typing import List

from . import termination
from .layout import Layout
from .problem import Problem, Refused, from_oserror


def main(arguments: List[str]) -> int:
    """Prepare the pod; 0 when all is there, 1 with a sentence and a termination message when not."""
    layout = Layout(*arguments[1:2])
    try:
        prepare(layout)
    except Refused as error:
        return _give_up(layout, error.problem)
    except OSError as error:
        return _give_up(layout, from_oserror(error, "prepare the pod"))
    return 0


def prepare(layout: Layout) -> None:
    """Make the files; again does no harm. Raises `Refused`, `OSError`."""
    os.close(os.open(layout.made_pod_env, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
    os.chmod(layout.made_pod_env, 0o666)
    if os.path.exists(layout.code):
        _unpack(layout)
    if os.geteuid() == 0:
        from . import sudo

        sudo.install(layout.programs)


def _unpack(layout: Layout) -> None:
    from . import plan, unpack

    folder = plan.read(layout.plan).get("code") or layout.unpacked
    unpack.unpack(layout.code, folder)


def _give_up(layout: Layout, problem: Problem) -> int:
    termination.write(layout.termination, {"schema": 1, "result": "failed", "problem": problem.as_json()})
    os.write(2, problem.message.encode("utf-8", "replace") + b"\n")
    return 1
