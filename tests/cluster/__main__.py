"""`python -m tests.cluster up|down|status`: what `make cluster` and `make cluster-down` call."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from tests.cluster.cleanup import cells_of
from tests.cluster.control_plane import kubeconfig_of
from tests.cluster.paths import Instance, Unavailable
from tests.cluster.start import PROGRAMS, down, is_whole, up
from tests.cluster.users import PEOPLE

say = partial(print, flush=True)


def start(instance: Instance) -> None:
    """The last line is for the shell."""
    if not up(instance, say):
        say("the cluster is running")
    say(f"kubeconfigs of {', '.join(['admin', *PEOPLE])}: {kubeconfig_of(instance, 'USER')}")
    say(f"export KUBECONFIG={kubeconfig_of(instance, 'admin')}")


def stop(instance: Instance) -> None:
    down(instance)
    say("no cluster is running")


def status(instance: Instance) -> None:
    """What runs, and where its log is."""
    say(f"{instance.api_url if is_whole(instance) else 'not running, or not whole'} in {instance.folder}")
    for name, cell in cells_of(instance).items():
        for program in PROGRAMS[name]:
            found = cell.find(program)
            say(f"  {name:8} {program:24} {found.pid if found else '-':>8}  {cell.log_file(program)}")


def main() -> int:
    verbs = {"up": start, "down": stop, "status": status}
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("verb", choices=verbs)
    try:
        verbs[parser.parse_args().verb](Instance.current())
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
