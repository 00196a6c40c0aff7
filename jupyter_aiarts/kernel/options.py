"""Every key of a job spec as an option: one table, from which parsers, specs and completion are made.

`tests/kernel/test_grammar.py` holds this table against the model, so a key cannot be forgotten.
"""

from __future__ import annotations

import argparse
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from jupyter_aiarts.kernel import values
from jupyter_aiarts.kernel.errors import WrongUsage

DEVICES = ("cpu", "nvidia_gpu_amd64", "huawei_npu_arm64", "huawei_npu_amd64")
PHASES = ("queued", "starting", "running", "paused", "succeeded", "failed", "lost", "stopped")


class Key(NamedTuple):
    """One spec key. `read` turns the option's text, or all its texts when `many`, into the value in the
    spec."""

    name: str
    help: str
    metavar: str = ""
    read: Callable[[Any], Any] = str
    many: bool = False
    switch: bool = False
    also: Tuple[str, ...] = ()
    choices: Tuple[str, ...] = ()

    @property
    def flags(self) -> List[str]:
        """How it is written, the longest way first; `grammar` takes underscores for hyphens."""
        return ["--" + self.name.replace("_", "-"), *self.also]


KEYS: Tuple[Key, ...] = (
    Key("name", "what the job is called, in any script", "NAME", also=("-n",)),
    Key("cluster", "where it runs: local (default) or a configured cluster", "NAME"),
    Key("kind", "regular or distributed", "KIND", choices=("regular", "distributed")),
    Key("device", "the kind of card: cpu, nvidia_gpu_amd64, huawei_npu_arm64, …", "TYPE", choices=DEVICES),
    Key("devices", "cards per node", "N", values.number),
    Key("nodes", "how many nodes", "N", values.number),
    Key("image", "container image (clusters only)", "IMAGE"),
    Key("image_pull_secret", "name of the secret that pulls the image", "NAME"),
    Key("script", "the start file", "FILE"),
    Key(
        "args",
        "one more argument for the start file; -x is written --args=-x",
        "ARG",
        list,
        many=True,
        also=("--arg",),
    ),
    Key(
        "params",
        "a named parameter, passed as --K V; K:=JSON for a JSON value, K alone for --K",
        "K=V",
        values.params,
        many=True,
        also=("--param", "-p"),
    ),
    Key("command", "a shell line of your own instead of a start file", "LINE"),
    Key("environment", "the conda environment or venv it runs in: a folder, a name, or a kernel's name", "NAME"),
    Key(
        "env",
        "a variable for the ranks; K alone takes its value from here",
        "K=V",
        values.variables,
        many=True,
        also=("-e",),
    ),
    Key(
        "secret_env",
        "a secret variable, shown nowhere; K alone takes its value from here, unseen by others",
        "K[=V]",
        values.variables,
        many=True,
    ),
    Key("workdir", "the folder it runs in (default: this one)", "FOLDER"),
    Key("data_path", "a folder given to the job as DATA_PATH", "FOLDER"),
    Key("output_path", "a folder given to the job as OUTPUT_PATH", "FOLDER"),
    Key("pass_paths", "pass both paths as --data_path and --output_path too", switch=True),
    Key("mounts", "a mount", "S:T[:ro]", values.mounts, many=True, also=("--mount",)),
    Key("cpu", "CPUs per node, fractions allowed", "N", values.number),
    Key("memory_gb", "memory per node", "GB", values.number),
    Key("shm_gb", "/dev/shm per node", "GB", values.number),
    Key(
        "framework",
        "pytorch, tensorflow, mindspore or none (default: guessed from the imports)",
        "NAME",
        choices=("pytorch", "tensorflow", "mindspore", "none"),
    ),
    Key(
        "processes",
        "run the start file once per node or once per card",
        "node|card",
        choices=("node", "card"),
    ),
    Key("rank_table", "which table RANK_TABLE_FILE names", "v1.0|lab|cloud", choices=("v1.0", "lab", "cloud")),
    Key("run_as", "image, user, or uid:gid where the cluster allows it", "WHO", choices=("image", "user")),
    Key("queue", "queue, virtual cluster or workspace", "NAME", also=("--workspace-id", "--vc")),
    Key("priority", "1 (lowest) to 9", "N", values.number),
    Key("preemptible", "let more important jobs take its place", switch=True),
    Key("max_restarts", "restarts of the whole job after a failure", "N", values.number),
    Key("max_hours", "stop after this much running time", "HOURS", values.number),
    Key("grace_seconds", "seconds between SIGTERM and SIGKILL", "N", values.number),
    Key("template", "start from this template; explicit keys win", "NAME"),
    Key("submission_id", "your own id: submitting twice with it gives one job", "ID"),
)
BY_NAME: Dict[str, Key] = {key.name: key for key in KEYS}
ALIASES = {"workspace_id": "queue", "vc": "queue", "param": "params", "mount": "mounts", "arg": "args"}


def add_keys(parser: argparse.ArgumentParser, without: Sequence[str] = ()) -> None:
    """Give a parser the option of every key; absent options leave no trace, so that they never win over a
    file."""
    group = parser.add_argument_group("job", "every key of a spec file is an option; - and _ are the same")
    for key in KEYS:
        if key.name not in without:
            _add(group, key)


def _add(group: Any, key: Key) -> None:
    shared: Dict[str, Any] = {"dest": "key_" + key.name, "default": argparse.SUPPRESS}
    if key.switch:
        group.add_argument(*key.flags, action="store_true", help=key.help, **shared)
        off = ["--no-" + flag[2:] for flag in key.flags]
        group.add_argument(*off, action="store_false", help=argparse.SUPPRESS, **shared)
        return
    action = "append" if key.many else "store"
    group.add_argument(*key.flags, action=action, metavar=key.metavar, help=key.help, **shared)


def keys_given(options: argparse.Namespace) -> Dict[str, Any]:
    """The keys that were given as options, as values of a spec."""
    given = {}
    for key in KEYS:
        value = getattr(options, "key_" + key.name, None)
        if value is not None:
            given[key.name] = value if key.switch else key.read(value)
    return given


def assignment(text: str) -> Tuple[List[str], Any]:
    """One `key=value` of `edit`: the path to the key (`params.lr` goes into a map) and its value."""
    name, value = values.pair(text)
    if value is None and "=" not in text:
        raise WrongUsage(f"{text!r} is no key=value.", "aiarts edit JOB devices=4 env.LR=0.1")
    head, *inner = name.split(".", 1)
    head = ALIASES.get(head.replace("-", "_"), head.replace("-", "_"))
    if inner or ":=" in text.split("=", 1)[0] + "=":
        return [head, *inner], value
    return [head], _typed(BY_NAME.get(head), value)


def _typed(key: Optional[Key], value: str) -> Any:
    """As the key's option would read it; an unknown key goes to the server, which names the nearest one."""
    if key is None:
        return value
    if key.switch:
        return values.truth(value)
    return key.read([value] if key.many else value)


def patch(texts: Sequence[str]) -> Dict[str, Any]:
    """A merge patch from the `key=value`s of `edit`."""
    result: Dict[str, Any] = {}
    for text in texts:
        path, value = assignment(text)
        if len(path) == 1:
            result[path[0]] = value
        else:
            result.setdefault(path[0], {})[path[1]] = value
    return result
