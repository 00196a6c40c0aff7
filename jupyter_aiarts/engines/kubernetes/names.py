"""What things are called in a cluster: labels, annotations, objects, containers, paths in a pod, ports.

Constants and pure functions; everything else of this engine imports them, so that a name is written once.
"""

from __future__ import annotations

import hashlib
import re

from jupyter_aiarts.model.names import slug

PREFIX = "jupyter-aiarts/"

# -- labels: what objects are found by -----------------------------------------------------------------------------
JOB = PREFIX + "job"  # the job's id
RUN = PREFIX + "run"  # the number of the run
OWNER = PREFIX + "owner"  # `owner_label` of the owner
CREATING = PREFIX + "creating"  # "true" until every object of a run is there
DEVICE = PREFIX + "device"  # on pods: what the next job's pods are drawn to
CARDS = PREFIX + "cards-"  # on pods, once per power of two that their number of cards is made of
MANAGED_BY = "app.kubernetes.io/managed-by"

# -- annotations: what objects carry -------------------------------------------------------------------------------
EXACT_OWNER = PREFIX + "owner"
INTENT = PREFIX + "intent"  # run, stop, pause, delete
SHORT = PREFIX + "spec"  # the spec as lists show it, JSON
HASH = PREFIX + "hash"  # tells one submission from another under the same submission_id
NOTES = PREFIX + "notes"  # sentences, a JSON list
ATTEMPT = PREFIX + "attempt"
ATTEMPTS = PREFIX + "attempts"  # when the earlier ones ran and the last was queued, JSON
USED = PREFIX + "used-seconds"
GIVES_WAY = PREFIX + "gives-way-to"  # the id of the job that it was suspended for; it comes back by itself
SPENT = PREFIX + "spent"  # what the replaced pods of this attempt have used up, JSON
SUMMARY = PREFIX + "summary"  # the launcher's summary, at most 4 KB, kept before pods go

# -- names that belong to Kubernetes and Kueue ---------------------------------------------------------------------
JOB_NAME = "batch.kubernetes.io/job-name"
INDEX = "batch.kubernetes.io/job-completion-index"
TRACKING = "batch.kubernetes.io/job-tracking"
HOSTNAME = "kubernetes.io/hostname"
QUEUE = "kueue.x-k8s.io/queue-name"
QUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"

# -- names that belong to Huawei's controllers ---------------------------------------------------------------------
RING = "ring-controller.atlas"  # a label: on the Job, its pods and the ConfigMap of its rank table
RANK_INDEX = "hccl/rankIndex"  # an annotation of pods
RING_FOLDER = "/user/serverid/devindex/config"  # where every start script of theirs looks for the rank table
RING_FILE = "hccl.json"

# -- inside a pod --------------------------------------------------------------------------------------------------
MAIN = "main"
PREPARE = "prepare"
JOB_FOLDER = "/aiarts/job"  # the ConfigMap
SECRET_FOLDER = "/aiarts/secret"  # the Secret
POD_FOLDER = "/aiarts/pod"  # what Kubernetes says of the pod: its annotations
RUN_FOLDER = "/aiarts/run"  # an emptyDir
LOG_FOLDER = "/aiarts/log"  # the log mount, where there is one
CODE_FOLDER = RUN_FOLDER + "/code"  # where shipped code is unpacked
POD_ENV = "/pod.env"

LAUNCHER_ZIP, PLAN_FILE, SPEC_FILE, ATTEMPT_FILE, CODE_ZIP = (
    "launcher.zip",
    "plan.json",
    "spec.json",
    "attempt.json",
    "code.zip",
)
TOKEN_FILE, SECRETS_FILE = "token", "secret_env.json"

# -- ports ---------------------------------------------------------------------------------------------------------
PORT = 9410  # the launcher's own, HTTP
MEETING_PORT = 9411
MASTER_PORT = 29500
LAUNCHER_PORT_NAME, MEETING_PORT_NAME = "launcher", "meeting"

#: `<name>-<index>` is a pod's host name, a DNS label.
LONGEST_LABEL = 63
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def object_name(name: str, job_id: str, run: int) -> str:
    """What Job, Service, ConfigMap and Secret of a run are called: a DNS label that starts with a letter."""
    return f"{slug(name)}-{job_id}-{run}"


def claim_name(job_id: str, run: int) -> str:
    """What a run is claimed by: the same for every submission that gives this id, and no `object_name`."""
    return f"{job_id}-{run}"


def pull_secret_name(name: str) -> str:
    """The pull secret made from a registry login, beside the other objects called `name`."""
    return f"{name}-pull"


def ring_name(name: str) -> str:
    """The ConfigMap that a cluster's own controller fills with the rank table of the Job called `name`."""
    return f"rings-config-{name}"


def owner_label(owner: str) -> str:
    """An owner as a label's value: readable, and different for different owners; the annotation has the exact one."""
    digest = hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug(owner)}-{digest[:10]}"


def label_value(text: str) -> str:
    """`text` itself where it can be a label's value, else a readable stand-in that differs for different texts."""
    return text if _LABEL_VALUE.fullmatch(text) else owner_label(text)


def host_of(name: str, index: int) -> str:
    """The address of one pod of a run, for other pods of its namespace: `<job>-<index>.<service>`."""
    return f"{name}-{index}.{name}"


def drawn_ports(job_id: str, run: int) -> tuple[int, int, int]:
    """Launcher, meeting and master port of a run on its nodes' own network, where fixed ones would collide.

    The same run always draws the same: a request that is made again describes the same objects. They lie below the
    ports that systems hand out themselves (32768 and up) and below those of node-port services (30000 and up).
    """
    digest = hashlib.sha256(f"{job_id}/{run}".encode()).digest()
    port = 20_000 + 2 * (int.from_bytes(digest[:8], "big") % 5_000)
    # TensorFlow counts workers of one node up from the master's port: room for 16 of them
    master = 10_000 + 16 * (int.from_bytes(digest[8:16], "big") % 600)
    return port, port + 1, master
