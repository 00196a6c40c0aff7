"""The job spec: every key once, with its type, limit, default and the words that explain it.

Forms, `openapi.json` and the checks of `reading.py` are all made from these annotations.
"""

# Annotations are values here and in the other modules whose Structs are read from files: as text, msgspec would
# compile each of them when the first job is read.

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from jupyter_aiarts.model.names import TEMPLATE_NAME

Kind = Literal["regular", "distributed"]
Framework = Literal["pytorch", "tensorflow", "mindspore", "none"]
Processes = Literal["node", "card"]
RankTable = Literal["v1.0", "lab", "cloud"]

LOCAL = "local"
"""The cluster that is always there: this machine."""

CPU = "cpu"
DEVICES = (CPU, "nvidia_gpu_amd64", "huawei_npu_arm64", "huawei_npu_amd64")
"""The devices known by name; a cluster may offer others."""

MAX_ITEMS = 20_000
"""As many arguments, parameters or variables as a job may have."""

MAX_NAME = 63


def _shaped(pattern: str, form: str, **more: Any) -> Meta:
    """Text of a certain form, which `form` says in words; both are for the schema and for `checking.py`.

    The pattern is not msgspec's: it would be compiled by every process and tried on every job that we read back.
    """
    return Meta(extra_json_schema={"pattern": pattern}, extra={"form": form}, **more)


_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_NAME_FORM = "letters, digits, dots, dashes and underscores, starting with a letter or digit"
_OBJECT_NAME = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"

Path = Annotated[str, Meta(min_length=1, max_length=4096)]
Image = Annotated[str, _shaped(r"^\S+$", "an image reference without spaces", max_length=512)]
SecretName = Annotated[
    str,
    _shaped(
        rf"^{_OBJECT_NAME}(\.{_OBJECT_NAME})*$",
        "the name of a Kubernetes secret: small letters, digits, dashes and dots",
        max_length=253,
    ),
]
TemplateName = Annotated[
    str, _shaped(f"^{TEMPLATE_NAME}$", "1 to 63 letters, digits, dots, dashes and underscores, no leading dot")
]
Scalar = Annotated[bool | int | float | str, Meta(extra={"form": "text, a number, true or false"})]
Parameter = Annotated[
    bool | int | float | str | list[Scalar] | None,
    Meta(extra={"form": "text, a number, true, false, null, or a list of these"}),
]


class Mount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Storage that a job sees at `target`."""

    source: Annotated[
        str,
        _shaped(
            r"^(?!(.*/)?\.\.(/|$)).+$",
            "a path or volume without “..”",
            max_length=4096,
            description="A volume claim (`data` or `data/folder`), an NFS export (`server:/export`), "
            "or a path of the host that the admin allows. On this machine: a path, checked and not mounted.",
        ),
    ]
    target: Annotated[
        str,
        _shaped(
            r"^(?!.*/\.\.(/|$))/.*[^/].*$",
            "an absolute path below / without “..”",
            max_length=4096,
            description="The absolute path inside the job.",
        ),
    ]
    read_only: Annotated[bool, Meta(description="Whether the job may only read it.")] = False


class JobSpec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user asks for. `reading.read_spec` makes it, with every default filled in."""

    name: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_NAME,
            description="Shown as written, in any script; it need not be unique. Default: the start file's name.",
        ),
    ] = "job"
    cluster: Annotated[
        str,
        _shaped(
            _NAME,
            _NAME_FORM,
            max_length=MAX_NAME,
            description="Where it runs: `local`, this machine, or a configured cluster.",
        ),
    ] = LOCAL
    kind: Annotated[Kind, Meta(description="`regular` runs on one node, `distributed` on two or more.")] = "regular"
    device: Annotated[
        str,
        _shaped(
            _NAME,
            _NAME_FORM,
            max_length=MAX_NAME,
            description="`cpu`, `nvidia_gpu_amd64`, `huawei_npu_arm64`, `huawei_npu_amd64`, "
            "or another device that the cluster offers.",
            examples=list(DEVICES),
        ),
    ] = CPU
    devices: Annotated[
        int,
        Meta(
            ge=0,
            le=128,
            description="Cards per node. Default: 1 where a device with cards is named "
            "(8 for a distributed Ascend job), else 0.",
        ),
    ] = 0
    nodes: Annotated[int, Meta(ge=1, le=10_000, description="How many nodes run the start file.")] = 1

    image: Annotated[
        Image | None,
        Meta(description="The container image. This machine ignores it and says so."),
    ] = None
    image_pull_secret: Annotated[
        SecretName | None,
        Meta(description="The name of the secret that lets the cluster pull the image."),
    ] = None

    script: Annotated[
        Path | None,
        Meta(description="The start file: Python, shell, a notebook or any executable."),
    ] = None
    args: Annotated[
        list[str],
        Meta(
            max_length=MAX_ITEMS,
            description="Arguments for the start file, passed as they are. `${NAME}` gives the value of a "
            "variable of the process itself, `$${` a literal `${`.",
        ),
    ] = field(default_factory=list)
    params: Annotated[
        dict[Annotated[str, Meta(min_length=1, max_length=4096)], Parameter],
        Meta(
            max_length=MAX_ITEMS,
            description="Named parameters, passed as `--key value` in this order. Null gives `--key` alone, "
            "a list repeats the key.",
        ),
    ] = field(default_factory=dict)
    command: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(description="A shell line of your own, instead of `script`, `args` and `params`."),
    ] = None

    environment: Annotated[
        Path | None,
        Meta(
            description="The conda environment or venv it runs in, activated: its folder, its name, or the name of its "
            "kernel. On a cluster the folder must be on a mount of the job. Default: the submitter's, or the image's."
        ),
    ] = None
    env: Annotated[
        dict[str, str],
        Meta(max_length=MAX_ITEMS, description="Variables for the ranks. Anybody who sees the job sees them."),
    ] = field(default_factory=dict)
    secret_env: Annotated[
        dict[str, None],
        Meta(max_length=MAX_ITEMS, description="Names of secret variables; the values are never shown."),
    ] = field(default_factory=dict)

    workdir: Annotated[Path | None, Meta(description="The folder the start file runs in. Default: the caller's.")] = (
        None
    )
    data_path: Annotated[Path | None, Meta(description="Shown to the job as `DATA_PATH`.")] = None
    output_path: Annotated[Path | None, Meta(description="Shown to the job as `OUTPUT_PATH`.")] = None
    pass_paths: Annotated[bool, Meta(description="Pass the two paths as `--data_path` and `--output_path` too.")] = (
        False
    )
    mounts: Annotated[list[Mount], Meta(max_length=100, description="Storage that the job sees.")] = field(
        default_factory=list
    )

    cpu: Annotated[
        Annotated[float, Meta(gt=0, le=10000)] | None,
        Meta(description="CPUs per node, fractions allowed. Default: the cards' fair share of a node."),
    ] = None
    memory_gb: Annotated[
        Annotated[float, Meta(gt=0, le=1000000)] | None,
        Meta(description="Memory per node in GB. Default: 10 GB per CPU, within what the node has."),
    ] = None
    shm_gb: Annotated[
        Annotated[float, Meta(ge=0, le=1000000)] | None,
        Meta(description="/dev/shm per node in GB. Default: half of the memory."),
    ] = None

    framework: Annotated[
        Framework | None,
        Meta(description="Which framework's variables are set. Default: guessed from the imports."),
    ] = None
    processes: Annotated[Processes, Meta(description="Run the start file once per `node`, or once per `card`.")] = (
        "node"
    )
    rank_table: Annotated[RankTable, Meta(description="Which of the three rank tables `RANK_TABLE_FILE` names.")] = (
        "v1.0"
    )
    run_as: Annotated[
        str,
        _shaped(
            r"^(image|user|\d{1,10}:\d{1,10})$",
            "image, user, or two numbers uid:gid",
            description="`image`, `user`, or `uid:gid` where the cluster allows it.",
        ),
    ] = "image"

    queue: Annotated[
        Annotated[str, Meta(min_length=1, max_length=253)] | None,
        Meta(description="The queue, virtual cluster or workspace."),
    ] = None
    priority: Annotated[int, Meta(ge=1, le=9, description="1 is the lowest, 9 the highest.")] = 5
    preemptible: Annotated[bool, Meta(description="Whether others may take its place.")] = False

    max_restarts: Annotated[
        int, Meta(ge=0, le=1_000, description="How often the whole job restarts after a failure.")
    ] = 0
    max_hours: Annotated[
        Annotated[float, Meta(gt=0, le=87600)] | None,
        Meta(description="Running time after which it is stopped; waiting does not count."),
    ] = None
    grace_seconds: Annotated[int, Meta(ge=0, le=3_600, description="Seconds between SIGTERM and SIGKILL.")] = 30

    template: Annotated[
        TemplateName | None,
        Meta(description="The saved template or preset that this started from."),
    ] = None
    submission_id: Annotated[
        Annotated[str, Meta(min_length=1, max_length=128)] | None,
        Meta(description="Your own id: submitting twice with it gives one job."),
    ] = None
