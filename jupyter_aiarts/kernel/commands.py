"""The verbs of the command line and the magic: what each is for, its examples, and what it takes."""

from __future__ import annotations

import argparse
from typing import Callable, NamedTuple, Tuple

from jupyter_aiarts.kernel.options import add_keys
from jupyter_aiarts.kernel.selection import add_filters

FRAMEWORKS = ("pytorch", "tensorflow", "mindspore", "none")


class Verb(NamedTuple):
    """One command: its line in the overview, its examples, and what it adds to its parser."""

    name: str
    summary: str
    examples: Tuple[str, ...]
    furnish: Callable[[argparse.ArgumentParser], None]


def _count(text: str) -> int:
    """A whole number from 0; argparse names the option when this refuses."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _jobs(parser: argparse.ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--limit", type=_count, metavar="N", help="at most this many, newest first")
    parser.add_argument(
        "--totals", nargs="?", const="user", choices=["user", "queue"], metavar="user|queue",
        help="what each user or queue holds now and has used",
    )  # fmt: skip
    parser.add_argument("--days", type=_count, default=7, metavar="N", help="totals: of the last N days (default 7)")


def _one_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="an id, the beginning of one, or a name")


def _some_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="+", metavar="JOB", help="ids, beginnings of ids, or names")


def _selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="ids, beginnings of ids, or names; or use filters:")
    add_filters(parser)
    parser.add_argument("--dry-run", action="store_true", help="only list what would happen to which job")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _submit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("start", nargs="?", metavar="SCRIPT", help="the start file; what follows -- are its arguments")
    _spec_source(parser)
    add_keys(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
    parser.add_argument(
        "--kubectl", action="store_true", help="submit nothing, print what `kubectl apply` makes the same job from"
    )
    _waiting(parser)


def _spec_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--file", metavar="SPEC", help="a spec in YAML or JSON; options win over it")


def _waiting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--wait", action="store_true", help="follow the log until the job ends; exit 1 if it fails")
    parser.add_argument("--as", dest="variable", metavar="VAR", help="in a notebook: put the job into this variable")


def _create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("noun", choices=["job"], metavar="job")
    parser.add_argument("--params-file", "--job-file", required=True, metavar="F", help="a DLC params file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
    _waiting(parser)


def _get(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("noun", choices=["workspace"], metavar="workspace")


def _logs(parser: argparse.ArgumentParser) -> None:
    _one_job(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="go on until the run ends")
    parser.add_argument("--rank", type=_count, metavar="N", help="only this rank")
    parser.add_argument("--run", type=_count, metavar="N", help="an earlier run (default: the latest)")
    parser.add_argument("--grep", metavar="RE", help="only lines that match")
    parser.add_argument("--tail", type=_count, metavar="N", help="the last N lines (default 1000)")
    parser.add_argument("--fold", action="store_true", help="show repeated lines once, with their number")
    parser.add_argument("--npu", action="store_true", help="errors that the NPU driver logged about the job's cards")


def _rerun(parser: argparse.ArgumentParser) -> None:
    _some_jobs(parser)
    parser.add_argument("--wait", action="store_true", help="follow the log until the job ends; exit 1 if it fails")


def _clone(parser: argparse.ArgumentParser) -> None:
    _one_job(parser)
    _spec_source(parser)
    add_keys(parser)
    parser.add_argument("--dry-run", action="store_true", help="only say what would happen")
    _waiting(parser)


def _edit(parser: argparse.ArgumentParser) -> None:
    _one_job(parser)
    parser.add_argument("changes", nargs="*", metavar="KEY=VALUE", help="key=text, key:=JSON, key:=null, params.lr=0.1")
    parser.add_argument("-f", "--file", metavar="PATCH", help="a file with the keys to change")
    add_keys(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="an id, the beginning of one, or a name")
    parser.add_argument("values", nargs="*", metavar="KEY=VALUE", help="with --fix: what the action asks for")
    parser.add_argument("--fix", type=_count, metavar="N", help="do what its number N says, after showing what changes")
    parser.add_argument("--dry-run", action="store_true", help="with --fix: only show what would change")
    parser.add_argument("--list", action="store_true", help="all that can be said, by family")


def _env(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="an id, the beginning of one, or a name")
    parser.add_argument("--rank", type=_count, default=0, metavar="N", help="which rank's (default 0)")
    parser.add_argument("--run", type=_count, metavar="N", help="an earlier run (default: the latest)")
    parser.add_argument(
        "--diff",
        nargs="+",
        metavar="B",
        help="what differs: JOB --diff A B (two ranks), JOB --rank A --diff B, --diff JOB JOB",
    )
    parser.add_argument("--apply", action="store_true", help="in a notebook: set these variables in this kernel")
    parser.add_argument("--restore", action="store_true", help="in a notebook: undo what --apply set")


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--ranks", type=_count, metavar="N", help="so many (default: one for each card, else 1)")
    parser.add_argument("--framework", choices=FRAMEWORKS, help="whose variables (default: by its imports)")
    parser.add_argument("--grace", type=_count, default=10, metavar="S", help="seconds to end in (default 10)")
    parser.add_argument("--as", dest="variable", metavar="VAR", help="in a notebook: put the outcome into it")
    parser.add_argument("start", nargs="?", metavar="SCRIPT", help="the start file; what follows are its arguments")


def _cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stuck", action="store_true", help="what holds cards and should be gone, and how to end that")
    parser.add_argument("--cluster", metavar="NAME", help="only this cluster (default: all)")


def _kernels(parser: argparse.ArgumentParser) -> None:
    acts = ["list", "register", "unregister", "repair", "doctor", "size"]
    parser.add_argument("action", nargs="?", default="list", choices=acts, metavar="ACTION")
    parser.add_argument("which", nargs="?", metavar="NAME", help="an environment's name or folder, or a kernel's name")
    parser.add_argument("--user", action="store_true", help="register: for you alone (default: for everybody)")


def _usage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="the cards of this job (default: this machine)")
    parser.add_argument("--run", type=_count, metavar="N", help="an earlier run of it (default: the latest)")
    parser.add_argument("--disk", metavar="FOLDER", help="what takes the room below this folder, the largest first")
    parser.add_argument("--seconds", type=_count, metavar="N", help="--disk: count for at most so long (default: 20)")


def _templates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", default="list", choices=["list", "show", "save", "delete"], metavar="ACTION"
    )
    parser.add_argument("template_name", nargs="?", metavar="NAME", help="the template's name")
    parser.add_argument("--from", dest="source", metavar="JOB", help="save: take this job's spec")
    parser.add_argument("--description", default="", metavar="TEXT", help="save: one line about it")
    _spec_source(parser)
    add_keys(parser, without=("template", "submission_id", "secret_env"))


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("noun", choices=["path", "ranktable"], metavar="path|ranktable")
    parser.add_argument("path", nargs="?", metavar="P", help="a start file or folder (default: the map); a rank table")
    parser.add_argument("--cluster", metavar="NAME", help="path: is it visible in pods of this cluster")
    parser.add_argument("--job", metavar="JOB", help="path: is it visible in this job's processes")
    parser.add_argument("--rank", metavar="RANK_ID", help="ranktable: the rank of this machine's process")
    parser.add_argument("--log", metavar="FILE|JOB", help="ranktable: what HCCL said, in a file or a job's log")


def _ranktable(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cards", metavar="IDS", help="physical ids, 0,1 or 0-3 (default: all this process sees)")
    parser.add_argument(
        "--form",
        choices=["v1", "v1.0", "lab", "cloud"],
        default="v1",
        metavar="v1|lab|cloud",
        help="version 1.0, MindSpore's or TensorFlow's (default v1)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: .aiarts/hccl.json, by form)")
    parser.add_argument("--server-id", metavar="IP", help="this machine's address in it (default: its own)")
    parser.add_argument("--from", dest="source", metavar="FILE", help="write this table in another form")


def _queues(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", nargs="?", metavar="JOB", help="with --order: only what is about this job")
    parser.add_argument("--cluster", metavar="NAME", help="only this cluster (default: all)")
    parser.add_argument("--order", action="store_true", help="who started before an earlier job, and why")


VERBS: Tuple[Verb, ...] = (
    Verb(
        "submit",
        "submit a job",
        (
            "submit train.py --devices 2 --device nvidia_gpu_amd64 --param lr=0.1 -- --verbose",
            "submit --file job.yaml --name again --wait",
            "submit --command 'python train.py | tee out.txt' --dry-run",
        ),
        _submit,
    ),
    Verb("create", "create job: submit a DLC params file", ("create job --params_file job.params",), _create),
    Verb("get", "get workspace: the workspaces one can submit to", ("get workspace",), _get),
    Verb(
        "jobs",
        "list jobs",
        ("jobs --phase running", "jobs -q resnet --json", "jobs --all-users --totals queue --days 30"),
        _jobs,
    ),
    Verb("show", "one job in full", ("show a1b2", "show resnet --json"), _one_job),
    Verb(
        "explain",
        "why a job waits or failed, and what to do",
        ("explain resnet", "explain resnet --fix 1", "explain resnet --fix 1 image=repo/name:tag", "explain --list"),
        _explain,
    ),
    Verb(
        "logs",
        "what a job wrote",
        ("logs resnet -f", "logs a1b2 --rank 3 --grep 'loss|nan' --tail 50"),
        _logs,
    ),
    Verb("stop", "end jobs; they are kept", ("stop resnet", "stop --user al --older-than 2d --dry-run"), _selection),
    Verb("pause", "give a job's devices back until resume", ("pause resnet",), _selection),
    Verb("resume", "queue a paused job again", ("resume resnet",), _selection),
    Verb(
        "release",
        "give up on a job's pods that a dead node holds",
        ("release resnet", "release --all-users --stuck --dry-run"),
        _selection,
    ),
    Verb("rerun", "run an ended job once more, same id", ("rerun resnet --wait",), _rerun),
    Verb("clone", "a new job from another's spec", ("clone resnet --priority 7 --name resnet-again",), _clone),
    Verb(
        "edit",
        "change what the next run uses",
        ("edit resnet priority=7 params.lr=0.01", "edit resnet --image new:2"),
        _edit,
    ),
    Verb(
        "delete",
        "remove jobs with their runs and logs",
        ("delete resnet --yes", "delete --phase failed --older-than 30d --dry-run"),
        _selection,
    ),
    Verb(
        "env",
        "the variables of a rank",
        ("env resnet --rank 1", "env resnet --diff 0 1", "env resnet --rank 1 --apply", "env --restore"),
        _env,
    ),
    Verb(
        "run",
        "run ranks right here, without a job",
        ("run -n 2 train.py --lr 0.1", "run -n 2 --framework tensorflow train.py"),
        _run,
    ),
    Verb(
        "queues",
        "queues: quota, who waits, where your jobs stand; --order: who passed whom, and why",
        ("queues", "queues --cluster lab --json", "queues --order resnet"),
        _queues,
    ),
    Verb(
        "cluster",
        "nodes, cards, who holds them, what fits now",
        ("cluster", "cluster --cluster lab", "cluster --stuck"),
        _cluster,
    ),
    Verb(
        "kernels",
        "conda environments as kernels: list, register, unregister, repair, doctor, size",
        ("kernels", "kernels register mindspore", "kernels doctor mindspore", "kernels repair mindspore"),
        _kernels,
    ),
    Verb(
        "usage",
        "what this machine, or a job's cards, are doing",
        ("usage", "usage resnet --json", "usage --disk ~/data"),
        _usage,
    ),
    Verb(
        "templates",
        "list, show, save and delete templates",
        (
            "templates",
            "templates save two-cards --device huawei_npu_arm64 --devices 2",
            "templates save mine --from resnet",
            "templates delete mine",
        ),
        _templates,
    ),
    Verb(
        "ranktable",
        "a rank table for the Ascend cards seen here",
        ("ranktable", "ranktable --cards 0,1 --form lab -o hccl_ms.json", "ranktable --from hccl.json --form cloud"),
        _ranktable,
    ),
    Verb(
        "doctor",
        "doctor path, doctor ranktable: can this run, and if not, why",
        (
            "doctor path train.py",
            "doctor path /data/dataset --cluster lab",
            "doctor path",
            "doctor ranktable hccl.json --rank 3 --log train.log",
        ),
        _doctor,
    ),
)
