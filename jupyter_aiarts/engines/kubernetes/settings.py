"""What an admin says about a cluster: every key once, with its type, default and form.

`read_settings` reports every problem at once. Nothing here is secret: credentials stay in the kubeconfig or in the
service account's files, which `credentials.py` reads.
"""

# Annotations are values here: `checking` reads them.

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, structs

from jupyter_aiarts.engines.kubernetes.storage import Person, clean, fill_in, parse_source, unknown_places
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.model.checking import Findings, check_fields, check_struct, label, shown
from jupyter_aiarts.model.names import USER_NAME
from jupyter_aiarts.model.quantity import parse_quantity
from jupyter_aiarts.model.spec import CPU, LOCAL

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds the credentials of its service account."""

IN_CLUSTER = "cluster"
"""The name of the cluster that a server in a pod has without configuration."""

PREEMPTIBLE = "preemptible"
"""The key of `priorities` for jobs whose place others may take."""


def _form(pattern: str, words: str, **more: Any) -> Meta:
    """Text of a certain form, as `checking` reads it; the pattern is not compiled when this is imported."""
    return Meta(extra_json_schema={"pattern": pattern}, extra={"form": words}, **more)


_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"  # of a cluster or a device; a label's value, too
_DNS = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"
_QUALIFIED = r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"

AbsolutePath = Annotated[str, _form(r"(?!(.*/)?\.\.(/|$))/.*", "a whole path without “..”", max_length=4096)]
Namespace = Annotated[str, _form(_DNS, "a namespace: small letters, digits and dashes", max_length=63)]
ObjectName = Annotated[
    str, _form(rf"{_DNS}(\.{_DNS})*", "an object's name: small letters, digits, dashes and dots", max_length=253)
]
LabelKey = Annotated[str, _form(_QUALIFIED, "a label's name", max_length=317)]
ResourceName = Annotated[str, _form(_QUALIFIED, "a resource's name, such as nvidia.com/gpu", max_length=317)]
Capability = Annotated[str, _form(r"[A-Z][A-Z0-9_]*", "a capability without CAP_, such as IPC_LOCK", max_length=63)]
RunAs = Annotated[str, _form(r"\*|\d{1,10}:\d{1,10}", "uid:gid, or * for every one but root")]
PathName = Annotated[str, _form(USER_NAME, "letters, digits, dots, dashes and underscores, no leading dot")]
Id = Annotated[int, Meta(ge=0, le=4_294_967_294)]
Amount = Annotated[float, Meta(gt=0, le=1_000_000)]


class ClusterMount(Struct, frozen=True, kw_only=True):
    """Storage that every pod gets; `{user}` and `{group}` stand for the job's owner."""

    source: str
    target: AbsolutePath
    read_only: bool = False
    path: AbsolutePath | None = None  # where this server sees the same files


class NamedPlace(Struct, frozen=True, kw_only=True):
    """A folder of pods that people know by a name, such as public datasets below a larger mount: for the path map.

    `path` is where this server sees it, where that does not follow from the mount that it lies on.
    """

    name: Annotated[str, Meta(min_length=1, max_length=63)]
    target: AbsolutePath
    path: AbsolutePath | None = None


class LogMount(Struct, frozen=True, kw_only=True):
    """Storage that launchers write logs to, one folder per job; `path` is where this server sees it."""

    source: str
    path: AbsolutePath | None = None


class DriverVolume(Struct, frozen=True, kw_only=True):
    """A file or folder of the node that a device needs in the pod, such as its driver."""

    source: AbsolutePath
    target: AbsolutePath | None = None  # the same path by default
    read_only: bool = True


class Toleration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A taint that pods put up with, in Kubernetes' own words."""

    key: LabelKey | None = None
    operator: Literal["Equal", "Exists"] | None = None
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    tolerationSeconds: int | None = None


class NodeSize(Struct, frozen=True, kw_only=True):
    """What a node with this device has: the cards' fair share of it is a job's default."""

    cards: Annotated[int, Meta(ge=0, le=1024)] = 0
    cpu: Amount
    memory_gb: Amount


class DeviceProfile(Struct, frozen=True, kw_only=True):
    """How jobs get a device here, and what it needs beside the cards."""

    resource: ResourceName | None = None  # what a card is called; none for `cpu`
    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    runtime_class: ObjectName | None = None
    scheduler_name: ObjectName | None = None
    supplemental_groups: tuple[Id, ...] = ()
    volumes: tuple[DriverVolume, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    extra_resources: dict[str, str] = field(default_factory=dict)  # per pod, such as rdma/hca: 1
    host_network: bool = False
    ring_controller: str | None = None
    node: NodeSize | None = None


class Limits(Struct, frozen=True, kw_only=True):
    """The most that one job may ask for: CPUs, memory and cards of all its nodes together, and running time."""

    cpu: Amount | None = None
    memory_gb: Amount | None = None
    devices: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    hours: Amount | None = None


class User(Struct, frozen=True, kw_only=True):
    """An admin's word on who an owner is: for `run_as: user` and for `{user}` and `{group}` in mounts."""

    uid: Id
    gid: Id
    user: PathName | None = None
    group: PathName | None = None


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """One entry of `AiartsApp.clusters`."""

    name: str
    kubeconfig: str | None = None  # the pod's service account where there is none
    context: str | None = None
    namespaces: tuple[Namespace, ...] = ()  # the context's own where there is none
    log_mount: LogMount | None = None
    default_mounts: tuple[ClusterMount, ...] = ()
    places: tuple[NamedPlace, ...] = ()  # names for folders of pods
    devices: dict[str, DeviceProfile] = field(default_factory=dict)
    limits: Limits = Limits()
    priorities: dict[str, ObjectName] = field(default_factory=dict)  # "1" … "9" and "preemptible"
    allow_host_paths: tuple[AbsolutePath, ...] = ()
    allow_run_as: tuple[RunAs, ...] = ()
    users: dict[str, User] = field(default_factory=dict)
    gang_timeout: Annotated[float, Meta(ge=1, le=86_400)] = 600.0
    log_limit_gb: Annotated[float, Meta(gt=0, le=10_000)] = 2.0
    owner_from: Literal["review", "hub"] = "review"

    def profile(self, device: str) -> DeviceProfile:
        """How jobs get this device; an empty one for a device that is not known here."""
        return self.devices.get(device, DeviceProfile())


_ARCH = "kubernetes.io/arch"

PROFILES: dict[str, DeviceProfile] = {
    CPU: DeviceProfile(),
    "nvidia_gpu_amd64": DeviceProfile(resource="nvidia.com/gpu", node_selector={_ARCH: "amd64"}),
    "huawei_npu_arm64": DeviceProfile(resource="huawei.com/Ascend910", node_selector={_ARCH: "arm64"}),
    "huawei_npu_amd64": DeviceProfile(resource="huawei.com/Ascend910", node_selector={_ARCH: "amd64"}),
}
"""The devices known by name. The kubelet labels every node with its architecture; `host-arch` only MindX does."""


class InvalidSettings(AiartsError):
    """A cluster's configuration was refused; `problems` holds all its faults as `{"key", "message"}`."""

    code = "settings-invalid"

    def __init__(self, problems: list[dict[str, str]]) -> None:
        self.problems = problems
        lines = [f"- {problem['message']}" for problem in problems]
        super().__init__(
            "\n".join(["The configuration of clusters has problems:", *lines]),
            "Correct the named keys of AiartsApp.clusters and start the server again.",
        )


def read_clusters(raw: Mapping[Any, Any]) -> dict[str, ClusterSettings]:
    """Every configured cluster by name; raises `InvalidSettings` with the problems of all of them."""
    findings = Findings()
    read = {name: _read(name, one, findings) for name, one in raw.items()}
    if findings.count:
        raise InvalidSettings(findings.all())
    return {name: one for name, one in read.items() if one is not None}


def read_settings(name: str, raw: Mapping[Any, Any]) -> ClusterSettings:
    """One configured cluster; raises `InvalidSettings` with every problem and its key."""
    return read_clusters({name: raw})[name]


def in_cluster(folder: Path = SERVICE_ACCOUNT, environ: Mapping[str, str] = os.environ) -> ClusterSettings | None:
    """The cluster that this server itself runs in, when it has a service account there; else None."""
    if not environ.get("KUBERNETES_SERVICE_HOST") or not (folder / "token").is_file():
        return None
    try:
        namespace = (folder / "namespace").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return ClusterSettings(name=IN_CLUSTER, namespaces=(namespace,), devices=dict(PROFILES))


def person(settings: ClusterSettings, owner: str, uid: int, gid: int, group: str = "") -> Person:
    """Who an owner is here: the admin's word first, else the server process's ids and the owner's own name."""
    known = settings.users.get(owner)
    if known is None:
        return Person(owner=owner, user=_path_name(owner), group=_path_name(group), uid=uid, gid=gid)
    user = known.user or _path_name(owner)
    return Person(owner=owner, user=user, group=known.group or _path_name(group), uid=known.uid, gid=known.gid)


def _path_name(text: str) -> str:
    """The name itself where it can be part of a path: cut or changed, it could be somebody else's."""
    try:
        return fill_in("{user}", Person(owner=text, user=text))
    except ValueError:
        return ""


# -- reading -------------------------------------------------------------------------------------------------------


def _read(name: Any, raw: Any, findings: Findings) -> ClusterSettings | None:
    key = f"clusters.{label(name)}"
    if not isinstance(name, str) or name == LOCAL or not re.fullmatch(_NAME, name):
        words = f"letters, digits, dots, dashes and underscores, and not {LOCAL}"
        findings.add(key, f"A cluster's name must be {words}, and it is {shown(name)}.")
        return None
    if not isinstance(raw, Mapping):
        findings.add(key, f"{key} must be an object, and it is {shown(raw)}.")
        return None
    before = findings.count
    plain = _spelled(raw, key, findings) | {"name": name}
    made = check_struct(plain, ClusterSettings, key, findings)
    # what is wrong with the other keys is told as well
    _check(made or ClusterSettings(**check_fields(plain, ClusterSettings, Findings())), key, findings)
    if made is None or findings.count > before:
        return None
    return structs.replace(
        made,
        kubeconfig=os.path.expanduser(made.kubeconfig) if made.kubeconfig else None,
        allow_host_paths=tuple(clean(path) for path in made.allow_host_paths),
    )


def _spelled(raw: Mapping[Any, Any], key: str, findings: Findings) -> dict[Any, Any]:
    """The same entries with short spellings written out: paths alone, numbers as keys, defaults of known devices."""
    plain = {name: value for name, value in raw.items() if value is not None}
    if "name" in plain:
        findings.add(f"{key}.name", f"{key} has no key name: its name is the key it stands under.")
    if isinstance(plain.get("log_mount"), str):
        plain["log_mount"] = {"source": plain["log_mount"]}
    if isinstance(plain.get("priorities"), Mapping):
        plain["priorities"] = {str(number): name for number, name in plain["priorities"].items()}
    devices = plain.get("devices", {})
    if isinstance(devices, Mapping):
        plain["devices"] = {**{name: _as_dict(name) for name in PROFILES}, **_profiles(devices)}
    return plain


def _profiles(devices: Mapping[Any, Any]) -> dict[Any, Any]:
    """An admin's keys before the known ones of the same device; a key that is named replaces all it had."""
    return {name: _profile(name, given) if isinstance(given, Mapping) else given for name, given in devices.items()}


def _profile(name: Any, given: Mapping[Any, Any]) -> dict[Any, Any]:
    plain = {**_as_dict(name), **{key: value for key, value in given.items() if value is not None}}
    volumes = plain.get("volumes")
    if isinstance(volumes, (list, tuple)):
        plain["volumes"] = [{"source": one} if isinstance(one, str) else one for one in volumes]
    extra = plain.get("extra_resources")
    if isinstance(extra, Mapping):
        plain["extra_resources"] = {
            key: str(value) if isinstance(value, int) else value for key, value in extra.items()
        }
    return plain


def _as_dict(name: Any) -> dict[str, Any]:
    known = PROFILES.get(name) if isinstance(name, str) else None
    return {} if known is None else {"resource": known.resource, "node_selector": known.node_selector}


def _check(settings: ClusterSettings, key: str, findings: Findings) -> None:
    """What a type alone cannot say."""
    for index, mount in enumerate(settings.default_mounts):
        _check_source(mount.source, f"{key}.default_mounts[{index}].source", findings)
        if clean(mount.target) == "/":
            findings.add(f"{key}.default_mounts[{index}].target", "Nothing can be mounted over / itself.")
    for index, place in enumerate(settings.places):
        _check_places(f"{place.target} {place.path or ''}", f"{key}.places[{index}]", findings)
    if settings.log_mount is not None:
        _check_source(settings.log_mount.source, f"{key}.log_mount.source", findings)
    for number in settings.priorities:
        if number not in ("1", "2", "3", "4", "5", "6", "7", "8", "9", PREEMPTIBLE):
            message = f"{key}.priorities has the keys 1 to 9 and {PREEMPTIBLE}, and not {shown(number)}."
            findings.add(f"{key}.priorities.{number}", message)
    for path in settings.allow_host_paths:
        _check_places(path, f"{key}.allow_host_paths", findings)
    for device, profile in settings.devices.items():
        _check_profile(profile, device, f"{key}.devices.{device}", findings)


def _check_profile(profile: DeviceProfile, device: str, key: str, findings: Findings) -> None:
    if not re.fullmatch(_NAME, device):
        words = "letters, digits, dots, dashes and underscores"
        findings.add(key, f"A device's name must be {words}, and it is {shown(device)}.")
    if profile.resource is None and device != CPU:
        findings.add(f"{key}.resource", f"{key}.resource is missing: it says what a card is called here.")
    if profile.ring_controller is not None and not re.fullmatch(_NAME, profile.ring_controller):
        message = f"must be a label's value, such as ascend-910, and it is {shown(profile.ring_controller)}."
        findings.add(f"{key}.ring_controller", f"{key}.ring_controller {message}")
    for name, value in profile.node_selector.items():
        if not re.fullmatch(_QUALIFIED, name) or not re.fullmatch(f"({_NAME})?", value):
            findings.add(f"{key}.node_selector", f"{key}.node_selector holds no label: {shown(f'{name}={value}')}.")
    for name, amount in profile.extra_resources.items():
        try:
            if not re.fullmatch(_QUALIFIED, name):
                raise ValueError("that is no resource's name, such as rdma/hca.")
            parse_quantity(amount)
        except ValueError as error:
            findings.add(f"{key}.extra_resources.{name}", f"{key}.extra_resources.{name}: {error}")


def _check_source(source: str, key: str, findings: Findings) -> None:
    try:
        parse_source(fill_in(source, Person(owner="user", user="user", group="group")))
    except ValueError as error:
        findings.add(key, f"{key} {error}, and it is {shown(source)}.")
    _check_places(source, key, findings)


def _check_places(text: str, key: str, findings: Findings) -> None:
    for place in unknown_places(text):
        findings.add(key, f"{key} knows {{user}} and {{group}}, and not {place}.")
