"""The launcher from its command line to its exit code."""

import os
import signal
import sys
from typing import TYPE_CHECKING, Callable, List, Union

from . import plan as plans
from .audience import Audience
from .leader import Leader
from .loop import Loop
from .problem import Problem, Refused, from_oserror
from .summary import Desk, failed
from .tree import Tree, send

Part = Union[Leader, "Follower"]
if TYPE_CHECKING:
    from .follower import Follower

USAGE = "usage: launcher PLAN.json NODE FOLDER"


def nobody(loop: Loop) -> Audience:
    """On one machine the folder is the truth, and nobody else listens."""
    return Audience()


def main(arguments: List[str], hear: Callable[[Loop], Audience] = nobody) -> int:
    """Run one node's part of the job; 0 success, 1 failure or stop, 2 wrong usage, 75 no meeting."""
    if len(arguments) != 3 or not arguments[1].isdigit():
        sys.stderr.write(USAGE + "\n")
        return 2
    path, node, folder = arguments[0], int(arguments[1]), os.path.abspath(arguments[2])
    own_descriptors()
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        return run(plans.load(path), node, folder, hear)
    except Refused as error:
        return give_up(node, folder, "failed", error.problem)
    except OSError as error:
        return give_up(node, folder, "failed", from_oserror(error, "use the job's folder"))


def run(plan: plans.Plan, node: int, folder: str, hear: Callable[[Loop], Audience] = nobody) -> int:
    """Serve until the job has ended; `hear` makes the audience. Also called by `pod.py`."""
    loop = Loop()
    audience = hear(loop)
    if node == 0:
        part: Part = Leader(loop, plan, folder, audience)
    else:
        from .follower import Follower  # a job of one node needs no sockets

        part = Follower(loop, plan, node, folder, audience)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.on_signal(number, part.stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a job outlives the terminal
    # Whoever started us may have held these back until we could hear them.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM, signal.SIGINT])
    loop.soon(part.begin)
    try:
        return loop.run()
    except Exception:  # the last line of defence: no fault of ours may leave ranks running or a job without end
        return _crash(plan, node, folder, audience)


def _crash(plan: plans.Plan, node: int, folder: str, audience: Audience) -> int:
    import traceback

    text = traceback.format_exc()
    _say(text)
    tree = Tree(os.getpid(), True)
    send(tree.everything(tree.look_around(), []), signal.SIGKILL)
    message = f"the launcher failed: {text.strip().splitlines()[-1]}"
    hint = "this is a fault of the launcher; its standard error has the details"
    problem = Problem("launcher-failed", message, hint)
    audience.crash(node, failed(plan.attempt, "lost", problem.as_json()))
    return give_up(node, folder, "lost", problem, plan.attempt)


def give_up(node: int, folder: str, result: str, problem: Problem, attempt: int = 0) -> int:
    """End without ever having had a group; only node 0 speaks for the job."""
    _say(problem.message + "\n")
    if node == 0:
        Desk(folder).write(failed(attempt, result, problem.as_json()))
    return 1


def _say(text: str) -> None:
    try:
        os.write(2, text.encode("utf-8", "replace"))
    except OSError:
        pass  # nobody reads it


def own_descriptors() -> None:
    """What we were born with (the lock that says we live) is ours alone: a rank must not speak for us."""
    _occupy_standard_descriptors()
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return
    for number in numbers:
        try:
            if number > 2:
                os.set_inheritable(number, False)
        except OSError:
            pass  # the descriptor of the listing itself


def _occupy_standard_descriptors() -> None:
    """Whoever started us with 0, 1 or 2 closed must not make a rank's pipe take their number."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
