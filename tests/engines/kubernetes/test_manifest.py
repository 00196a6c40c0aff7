"""The objects of a run, as whole dicts, and what is true of them whatever a job asks for."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes import manifest, names
from jupyter_aiarts.engines.kubernetes.kubectl import kubectl_yaml
from jupyter_aiarts.engines.kubernetes.order import Order
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.engines.kubernetes.resources import device_labels, priority_class
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.errors import InvalidSpec
from tests.engines.kubernetes.making import ALICE, NPU, make_order, make_reading, make_settings
from tests.engines.kubernetes.variants import EVERYTHING, GOLDEN, KEPT, LOGIN, readable, variants

KUBERNETES = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")


def pod(order: Order) -> dict[str, Any]:
    return dict(manifest.objects(order).job["spec"]["template"]["spec"])


def main(order: Order) -> dict[str, Any]:
    return dict(pod(order)["containers"][0])


def mounted(order: Order) -> dict[str, dict[str, Any]]:
    return {one["mountPath"]: one for one in main(order)["volumeMounts"]}


def volumes(order: Order) -> dict[str, dict[str, Any]]:
    return {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in pod(order)["volumes"]}


# -- whole dicts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KEPT)
def test_every_object_of_a_run_is_as_it_was_read_by_a_person(name: str) -> None:
    """`python -m tests.engines.kubernetes.variants` writes the files anew; read the difference before keeping it."""
    kept = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert readable(variants()[name]) == kept


def test_the_same_order_gives_the_same_bytes() -> None:
    first, second = (manifest.objects(variants()["everything"]) for _ in range(2))
    assert json.dumps([first.job, *first.dependents]) == json.dumps([second.job, *second.dependents])


def test_the_launcher_and_the_code_are_zips_in_the_config() -> None:
    binary = manifest.objects(make_order()).config["binaryData"]
    launcher = zipfile.ZipFile(io.BytesIO(base64.b64decode(binary["launcher.zip"])))
    assert "__main__.py" in launcher.namelist()
    assert base64.b64decode(binary["code.zip"]) == b"PK-code"


# -- creating and releasing ----------------------------------------------------------------------------------------


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    made = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merged(made.get(key), value)
    return made


def test_a_run_is_created_where_nobody_starts_it() -> None:
    job = manifest.objects(make_order(queue="cards")).job
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"][names.CREATING] == "true"
    assert names.QUEUE not in job["metadata"]["labels"]


def test_releasing_takes_the_mark_away_and_lets_it_run() -> None:
    order = make_order()
    job = merged(manifest.objects(order).job, manifest.release(order))
    assert job["spec"]["suspend"] is False and names.CREATING not in job["metadata"]["labels"]


def test_releasing_into_a_queue_leaves_the_start_to_kueue() -> None:
    order = make_order(queue="cards")
    job = merged(manifest.objects(order).job, manifest.release(order))
    assert job["spec"]["suspend"] is True
    assert job["metadata"]["labels"][names.QUEUE] == "cards" and names.CREATING not in job["metadata"]["labels"]


def test_what_belongs_to_a_job_never_holds_it_up() -> None:
    made = manifest.objects(make_order())
    owned = manifest.owned(made.service, "the-job", "uid-1")
    assert owned["metadata"]["ownerReferences"] == [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "the-job", "uid": "uid-1"}
    ]
    assert "ownerReferences" not in made.service["metadata"]


# -- what a pod gets -----------------------------------------------------------------------------------------------


def test_cards_come_through_the_devices_resource() -> None:
    devices = {"tpu": {"resource": "example.com/tpu", "extra_resources": {"rdma/hca": "2"}}}
    amounts = main(make_order({"devices": devices}, {"device": "tpu", "devices": 3, "cpu": 2.5, "memory_gb": 1.5}))
    wanted = {"cpu": "2500m", "memory": "1536Mi", "rdma/hca": "2", "example.com/tpu": "3"}
    assert amounts["resources"] == {"requests": wanted, "limits": wanted}


def test_a_job_without_cards_is_shown_none() -> None:
    env = {one["name"]: one.get("value") for one in main(make_order())["env"]}
    assert (env["NVIDIA_VISIBLE_DEVICES"], env["ASCEND_VISIBLE_DEVICES"]) == ("void", "")
    with_cards = {one["name"] for one in main(make_order(raw={"device": NPU}))["env"]}
    assert with_cards.isdisjoint({"NVIDIA_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES"})


def test_shared_memory_is_as_large_as_asked() -> None:
    assert volumes(make_order(raw={"shm_gb": 0.5}))["aiarts-shm"] == {
        "emptyDir": {"medium": "Memory", "sizeLimit": "512Mi"}
    }
    assert "aiarts-shm" not in volumes(make_order(raw={"shm_gb": 0}))


def test_where_owners_share_a_log_mount_each_job_sees_its_own_folder_alone() -> None:
    order = make_order({"log_mount": "nas:/logs/jobs"})
    assert volumes(order)["mount-0"] == {"nfs": {"server": "nas", "path": "/logs/jobs"}}
    assert mounted(order)["/aiarts/log/abcdefghij"]["subPath"] == "abcdefghij"


@pytest.mark.parametrize(
    ("source", "volume", "sub_path", "folder"),
    [
        ("nas:/logs/{user}/jobs", {"nfs": {"server": "nas", "path": "/logs/alice"}}, None, "jobs/"),
        ("/logs/{user}", {"hostPath": {"path": "/logs/alice", "type": "Directory"}}, None, ""),
        ("logs/of/{user}/jobs", {"persistentVolumeClaim": {"claimName": "logs"}}, "of/alice", "jobs/"),
        ("logs/{user}", {"persistentVolumeClaim": {"claimName": "logs"}}, "alice", ""),
    ],
)
def test_an_owners_own_folder_for_logs_is_mounted_whole_and_launchers_make_the_jobs_folder(
    source: str, volume: dict[str, Any], sub_path: str | None, folder: str
) -> None:
    """What the kubelet makes belongs to root: in a folder of the owner's alone, only root could write to it."""
    order = make_order({"log_mount": source}, run=2)
    assert volumes(order)["mount-0"] == volume
    assert mounted(order)["/aiarts/log"].get("subPath") == sub_path
    assert plan_of(order)["folder"] == f"/aiarts/log/{folder}abcdefghij/run-2"


@pytest.mark.parametrize(
    ("raw", "person", "readers"),
    [
        ({}, ALICE, 100),
        ({"run_as": "1000:1000"}, ALICE, 100),
        ({"run_as": "user"}, ALICE, None),  # the same user reads and writes
        ({}, Person(owner="root", uid=0, gid=0), None),  # root reads everything
    ],
)
def test_the_owners_group_may_read_the_log_mount_where_the_pod_is_somebody_else(
    raw: dict[str, Any], person: Person, readers: int | None
) -> None:
    order = make_order({"log_mount": "logs", "allow_run_as": ["*"]}, raw, person=person)
    pod = manifest.pod(order)["spec"]["securityContext"]
    assert (pod.get("supplementalGroups"), plan_of(order).get("readers")) == (readers and [readers], readers)
    unmounted = make_order({"allow_run_as": ["*"]}, raw, person=person)
    assert "supplementalGroups" not in manifest.pod(unmounted)["spec"]["securityContext"]
    assert "readers" not in plan_of(unmounted)


def test_a_volume_that_is_mounted_twice_is_one_volume() -> None:
    """A pod that names one claim in two volumes never starts."""
    raw = {"mounts": [{"source": f"data/{name}", "target": f"/{name}"} for name in "ab"]}
    order = make_order({"log_mount": "data/logs"}, raw)
    assert volumes(order)["mount-0"] == {"persistentVolumeClaim": {"claimName": "data"}}
    assert "mount-1" not in volumes(order)
    folders = [mounted(order)[path]["subPath"] for path in ("/aiarts/log/abcdefghij", "/a", "/b")]
    assert folders == ["logs/abcdefghij", "a", "b"]


def test_a_host_path_must_exist_where_the_pod_lands() -> None:
    order = variants()["host-path"]
    assert volumes(order)["mount-1"] == {"hostPath": {"path": "/data/alice", "type": "Directory"}}
    assert mounted(order)["/sets"]["subPath"] == "sets"


@pytest.mark.parametrize(
    ("raw", "security", "restricted", "ids"),
    [
        ({}, "baseline", False, None),
        ({}, "restricted", True, None),
        ({"run_as": "user"}, "baseline", True, (1000, 100)),
        ({"run_as": "user"}, "restricted", True, (1000, 100)),
        ({"run_as": "2000:20"}, "baseline", True, (2000, 20)),
        ({"run_as": "0:0"}, "baseline", False, (0, 0)),
    ],
)
def test_two_forms_of_security(
    raw: dict[str, Any], security: Any, restricted: bool, ids: tuple[int, int] | None
) -> None:
    spec = pod(make_order(raw=raw, pod_security=security))
    context = spec["securityContext"]
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert context.get("runAsNonRoot", False) is restricted
    assert (context.get("runAsUser"), context.get("runAsGroup")) == (ids or (None, None))
    six = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETUID", "SETGID", "KILL"]
    capabilities = {"drop": ["ALL"]} if restricted else {"drop": ["ALL"], "add": six}
    for container in [*spec["initContainers"], *spec["containers"]]:
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": capabilities}


def test_a_devices_capabilities_are_the_main_containers_alone() -> None:
    order = make_order({"devices": {"cpu": {"capabilities": ["IPC_LOCK", "KILL"]}}}, {"run_as": "user"})
    assert main(order)["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK", "KILL"]}
    assert "add" not in pod(order)["initContainers"][0]["securityContext"]["capabilities"]


@pytest.mark.parametrize(
    ("priority", "preemptible", "chosen"),
    [(1, False, "low"), (2, False, "low"), (5, False, "mid"), (9, False, "mid"), (9, True, "spot")],
)
def test_a_priority_goes_to_the_nearest_class_at_or_below_it(priority: int, preemptible: bool, chosen: str) -> None:
    settings = make_settings(priorities={2: "low", 5: "mid", "preemptible": "spot"})
    spec = make_reading(priority=priority, preemptible=preemptible).spec
    assert priority_class(spec, settings) == chosen
    assert priority_class(spec, make_settings()) is None


def test_a_priority_is_the_pods_without_kueue_and_the_jobs_with_it() -> None:
    settings = {"priorities": {5: "mid"}}
    alone, queued = make_order(settings), make_order(settings, queue="cards")
    assert pod(alone)["priorityClassName"] == "mid"
    assert names.QUEUE_PRIORITY not in manifest.objects(alone).job["metadata"]["labels"]
    assert "priorityClassName" not in pod(queued)
    assert manifest.objects(queued).job["metadata"]["labels"][names.QUEUE_PRIORITY] == "mid"


def drawn(order: Order, others: list[Order]) -> int:
    """What a scheduler adds up for a node where these run."""
    terms = pod(order)["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    score = 0
    for other in others:
        labels = manifest.objects(other).job["spec"]["template"]["metadata"]["labels"]
        for term in terms:
            wanted = term["podAffinityTerm"]["labelSelector"]["matchLabels"]
            score += term["weight"] * (wanted.items() <= labels.items())
    return score


def test_a_fuller_node_draws_more_by_its_cards_and_not_by_its_pods() -> None:
    gpu = {"device": "nvidia_gpu_amd64"}
    new = make_order(raw={**gpu, "devices": 1})
    four, one, seven = (make_order(raw={**gpu, "devices": count}) for count in (4, 1, 7))
    assert drawn(new, [four]) == 4 > drawn(new, [one, one, one])
    assert drawn(new, [seven]) == 7
    assert drawn(new, [make_order(raw={"device": NPU, "devices": 8}), make_order()]) == 0


@given(st.integers(0, 31))
def test_the_labels_of_a_pod_add_up_to_its_cards(cards: int) -> None:
    labels = device_labels(make_reading(device="nvidia_gpu_amd64", devices=cards).spec)
    assert sum(int(name.removeprefix(names.CARDS)) for name in labels if name.startswith(names.CARDS)) == cards


def test_nodes_of_a_distributed_job_are_never_on_one_machine() -> None:
    rule = pod(make_order(raw={"nodes": 2}))["affinity"]["podAntiAffinity"]
    (term,) = rule["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"] == {names.JOB: "abcdefghij", names.RUN: "1"}
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert "podAntiAffinity" not in pod(make_order())["affinity"]


def test_a_registry_login_becomes_a_pull_secret_that_the_spec_names() -> None:
    order = make_order(raw={"image_pull_secret": LOGIN})
    made = manifest.objects(order)
    assert made.pull_secret is not None
    name = made.pull_secret["metadata"]["name"]
    assert pod(order)["imagePullSecrets"] == [{"name": name}]
    kept = json.loads(made.config["data"]["spec.json"])
    assert kept["spec"]["image_pull_secret"] == kept["given"]["image_pull_secret"] == name
    auth = json.loads(base64.b64decode(made.pull_secret["data"][".dockerconfigjson"]))["auths"]
    assert auth == {
        "registry.example.org": {
            "username": "robot",
            "password": "pull-password",
            "auth": base64.b64encode(b"robot:pull-password").decode(),
        }
    }


def test_a_pull_secret_that_exists_is_only_named() -> None:
    order = make_order(raw={"image_pull_secret": "mine"})
    assert manifest.objects(order).pull_secret is None
    assert pod(order)["imagePullSecrets"] == [{"name": "mine"}]


# -- secrets -------------------------------------------------------------------------------------------------------


def test_secrets_are_in_the_secrets_and_nowhere_else() -> None:
    raw = {"secret_env": {"HF_TOKEN": "s3cr3t-value"}, "image_pull_secret": {**LOGIN, "password": "s3cr3t-login"}}
    order = make_order(raw=raw, token="s3cr3t-token")
    made = manifest.objects(order)
    for shown in (made.job, made.service, made.config, order, made, order.reading, kubectl_yaml(make_order(raw=raw))):
        text = shown if isinstance(shown, str) else repr(shown)
        assert "s3cr3t" not in text
        assert base64.b64encode(b"s3cr3t-value").decode() not in text
    assert base64.b64decode(made.secret["data"]["token"]) == b"s3cr3t-token"
    assert json.loads(base64.b64decode(made.secret["data"]["secret_env.json"])) == {"HF_TOKEN": "s3cr3t-value"}


def test_a_users_variables_reach_the_ranks_and_no_container() -> None:
    order = make_order(raw={"env": {"LD_PRELOAD": "/evil.so", "PYTHONSTARTUP": "/x"}})
    for container in [*pod(order)["initContainers"], *pod(order)["containers"]]:
        assert {one["name"] for one in container.get("env", [])}.isdisjoint({"LD_PRELOAD", "PYTHONSTARTUP"})
        assert container["command"][:3] == ["python3", "-I", "-S"]


# -- as a text for kubectl -----------------------------------------------------------------------------------------


def test_kubectl_gets_the_same_run_released_and_without_secrets() -> None:
    settings, raw = EVERYTHING
    order = make_order(settings, raw)
    text = kubectl_yaml(order)
    made, documents = manifest.objects(order), list(yaml.safe_load_all(text))
    by_kind = {(one["kind"], one["metadata"]["name"]): one for one in documents}
    assert by_kind["Service", order.name] == made.service
    assert by_kind["ConfigMap", order.name] == made.config
    assert by_kind["Job", order.name] == merged(made.job, manifest.release(order))
    assert by_kind["Secret", order.name]["stringData"] == {"token": order.token, "secret_env.json": '{"HF_TOKEN":""}'}
    assert "pull-password" not in text and "hub-token" not in text
    assert documents[-1]["kind"] == "Job"  # what its pods need comes first
    assert "# Write the values of HF_TOKEN" in text and "# Write the password for 'registry.example.org'" in text


def test_whatever_a_job_is_called_the_text_is_yaml() -> None:
    text = kubectl_yaml(make_order(raw={"name": '🚀 # kind: Pod: [{"', "args": ["---", "a\n---\nb", "\x07", "!!x"]}))
    assert text.splitlines()[0].isascii() and text.splitlines()[1].startswith("apiVersion")
    config = list(yaml.safe_load_all(text))[1]
    assert json.loads(config["data"]["plan.json"])["args"] == ["---", "a\n---\nb", "\x07", "!!x"]


def test_kubectl_and_kueue() -> None:
    job = list(yaml.safe_load_all(kubectl_yaml(make_order(queue="cards"))))[-1]
    assert job["metadata"]["labels"][names.QUEUE] == "cards" and job["spec"]["suspend"] is True


# -- whatever a job asks for ---------------------------------------------------------------------------------------

TEXT = st.text(max_size=30)
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(min_size=1, max_size=63),
        "submission_id": st.text(min_size=1, max_size=128),
        "args": st.lists(TEXT, max_size=5),
        "params": st.dictionaries(st.text(min_size=1, max_size=9), TEXT | st.integers() | st.none(), max_size=4),
        "env": st.dictionaries(st.sampled_from(["A", "PATH", "HF_TOKEN", "x_1"]), TEXT, max_size=3),
        "nodes": st.integers(1, 40),
        "device": st.sampled_from(["cpu", "nvidia_gpu_amd64", NPU, "tpu"]),
        "devices": st.integers(0, 16),
        "cpu": st.floats(0.001, 9999),
        "memory_gb": st.floats(0.001, 99999),
        "shm_gb": st.floats(0, 9999),
        "image": st.sampled_from(["a", "registry.example.org:5000/a/b@sha256:" + "0" * 64]),
        "run_as": st.sampled_from(["image", "user"]),
        "queue": st.sampled_from(["q", "team-a"]),
        "grace_seconds": st.integers(0, 3600),
        "command": st.text(min_size=1, max_size=50),
    },
)


@hypothesis_settings(max_examples=150, deadline=None)
@given(raw=SPECS, owner=st.text(max_size=40), security=st.sampled_from(["baseline", "restricted"]))
def test_objects_are_valid_and_safe_whatever_a_job_asks_for(raw: dict[str, Any], owner: str, security: Any) -> None:
    settings = {"devices": {"tpu": {"resource": "example.com/tpu"}}, "log_mount": "logs", "priorities": {5: "mid"}}
    try:
        order = make_order(settings, raw, person=Person(owner=owner, uid=1, gid=1), pod_security=security)
    except InvalidSpec:
        return
    made = manifest.objects(order)
    everything = [made.job, *made.dependents, manifest.pod(order)]
    for one in everything:
        assert KUBERNETES.fullmatch(one["metadata"]["name"]) and len(one["metadata"]["name"]) <= 63
        check_labels(one["metadata"]["labels"])
    template = made.job["spec"]["template"]
    check_labels(template["metadata"]["labels"])
    assert sum(len(value.encode()) for value in made.job["metadata"]["annotations"].values()) < 200_000
    check_pod(template["spec"], order)
    json.dumps(everything, ensure_ascii=False).encode()  # nothing that is no text


def check_labels(labels: dict[str, str]) -> None:
    assert all(LABEL.fullmatch(value) for value in labels.values())


def check_pod(spec: dict[str, Any], order: Order) -> None:
    assert spec["automountServiceAccountToken"] is False and spec["enableServiceLinks"] is False
    assert spec["restartPolicy"] == "Never" and not spec.keys() & {"hostPID", "hostIPC", "hostNetwork"}
    named = {one["name"] for one in spec["volumes"]}
    assert len(named) == len(spec["volumes"]) and all("hostPath" not in one for one in spec["volumes"])
    for container in [*spec["initContainers"], *spec["containers"]]:
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert {"cpu", "memory"} <= container["resources"]["limits"].keys()
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert "privileged" not in container["securityContext"]
        paths = [one["mountPath"] for one in container["volumeMounts"]]
        assert len(set(paths)) == len(paths) and {one["name"] for one in container["volumeMounts"]} <= named
        assert container["command"] == ["python3", "-I", "-S", "/aiarts/job/launcher.zip", container["command"][-1]]


def test_many_notes_do_not_make_an_annotation_too_large() -> None:
    order = make_order(raw={"params": {f"-{index}{'x' * 80}": index for index in range(3_000)}})
    notes = json.loads(manifest.objects(order).job["metadata"]["annotations"][names.NOTES])
    assert len(json.dumps(notes)) < 16_000 and notes[-1].startswith("There are 29")
    assert len(json.loads(manifest.objects(order).config["data"]["spec.json"])["notes"]) == 3_000
