"""What an admin writes about a cluster: understood as a whole, or refused with every problem and its key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes import settings
from jupyter_aiarts.engines.kubernetes.settings import (
    ClusterMount,
    ClusterSettings,
    DeviceProfile,
    DriverVolume,
    InvalidSettings,
    Limits,
    LogMount,
    NodeSize,
    Toleration,
    User,
    in_cluster,
    person,
    read_clusters,
    read_settings,
)
from jupyter_aiarts.engines.kubernetes.storage import Person

FULL: dict[str, Any] = {
    "kubeconfig": "~/.kube/config",
    "context": "prod",
    "namespaces": ["team-a", "team-b"],
    "log_mount": {"source": "logs/aiarts", "path": "/mnt/logs/aiarts"},
    "default_mounts": [
        {"source": "nas:/home/{user}", "target": "/home/{user}", "path": "/home/{user}"},
        {"source": "share", "target": "/share", "read_only": True},
    ],
    "devices": {
        "huawei_npu_arm64": {
            "node_selector": {"accelerator": "huawei-Ascend910"},
            "tolerations": [{"key": "npu", "operator": "Exists", "effect": "NoSchedule"}],
            "runtime_class": "ascend",
            "scheduler_name": "volcano",
            "supplemental_groups": [1001],
            "volumes": ["/usr/local/Ascend/driver", {"source": "/etc/hccn.conf", "target": "/etc/hccn.conf"}],
            "capabilities": ["IPC_LOCK"],
            "extra_resources": {"rdma/hca": 1},
            "host_network": True,
            "node": {"cards": 8, "cpu": 192, "memory_gb": 768},
        },
        "tpu": {"resource": "example.com/tpu"},
    },
    "limits": {"cpu": 64, "memory_gb": 512, "devices": 16, "hours": 72},
    "priorities": {1: "low", 9: "high", "preemptible": "spot"},
    "allow_host_paths": ["/data/", "/scratch/{user}"],
    "allow_run_as": ["1000:1000"],
    "users": {"alice@example.org": {"uid": 2000, "gid": 200, "user": "alice", "group": "vision"}},
    "gang_timeout": 120,
    "log_limit_gb": 4,
    "owner_from": "hub",
}


def problems(raw: Any, name: str = "prod") -> dict[str, str]:
    """Key and sentence of everything that is wrong."""
    with pytest.raises(InvalidSettings) as caught:
        read_settings(name, raw)
    return {problem["key"]: problem["message"] for problem in caught.value.problems}


def test_every_key_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/admin")
    assert read_settings("prod", FULL) == ClusterSettings(
        name="prod",
        kubeconfig="/home/admin/.kube/config",
        context="prod",
        namespaces=("team-a", "team-b"),
        log_mount=LogMount(source="logs/aiarts", path="/mnt/logs/aiarts"),
        default_mounts=(
            ClusterMount(source="nas:/home/{user}", target="/home/{user}", path="/home/{user}"),
            ClusterMount(source="share", target="/share", read_only=True),
        ),
        devices={
            **settings.PROFILES,
            "huawei_npu_arm64": DeviceProfile(
                resource="huawei.com/Ascend910",
                node_selector={"accelerator": "huawei-Ascend910"},
                tolerations=(Toleration(key="npu", operator="Exists", effect="NoSchedule"),),
                runtime_class="ascend",
                scheduler_name="volcano",
                supplemental_groups=(1001,),
                volumes=(
                    DriverVolume(source="/usr/local/Ascend/driver"),
                    DriverVolume(source="/etc/hccn.conf", target="/etc/hccn.conf"),
                ),
                capabilities=("IPC_LOCK",),
                extra_resources={"rdma/hca": "1"},
                host_network=True,
                node=NodeSize(cards=8, cpu=192.0, memory_gb=768.0),
            ),
            "tpu": DeviceProfile(resource="example.com/tpu"),
        },
        limits=Limits(cpu=64.0, memory_gb=512.0, devices=16, hours=72.0),
        priorities={"1": "low", "9": "high", "preemptible": "spot"},
        allow_host_paths=("/data", "/scratch/{user}"),
        allow_run_as=("1000:1000",),
        users={"alice@example.org": User(uid=2000, gid=200, user="alice", group="vision")},
        gang_timeout=120.0,
        log_limit_gb=4.0,
        owner_from="hub",
    )


def test_an_empty_entry_knows_the_four_devices_and_waits_ten_minutes_for_peers() -> None:
    made = read_settings("prod", {})
    assert made.devices == settings.PROFILES
    assert made.profile("nvidia_gpu_amd64").resource == "nvidia.com/gpu"
    assert made.profile("cpu").resource is None
    assert (made.gang_timeout, made.owner_from, made.kubeconfig, made.namespaces) == (600.0, "review", None, ())


def test_a_log_mount_may_be_its_source_alone() -> None:
    assert read_settings("prod", {"log_mount": "logs"}).log_mount == LogMount(source="logs")


def test_an_admins_key_replaces_the_known_one_of_the_same_device() -> None:
    made = read_settings("prod", {"devices": {"nvidia_gpu_amd64": {"node_selector": {}}}})
    assert made.profile("nvidia_gpu_amd64") == DeviceProfile(resource="nvidia.com/gpu")


def test_every_problem_is_reported_at_once_with_its_key() -> None:
    found = problems(
        {
            "kubeconfg": "/x",
            "namespaces": ["Team A"],
            "log_mount": {"source": "../x"},
            "default_mounts": [{"source": "/data/{home}", "target": "relative"}, {"target": "/x"}],
            "devices": {"tpu": {}, "gpu": {"resource": "no good", "capabilites": [], "extra_resources": {"a/b": "x"}}},
            "limits": {"cpu": -1, "hour": 3},
            "priorities": {12: "low", 3: "Not A Name"},
            "allow_run_as": ["alice"],
            "users": {"bob": {"uid": "root", "gid": 1}},
            "gang_timeout": 0,
            "owner_from": "client",
        }
    )
    assert set(found) >= {
        "clusters.prod.kubeconfg",
        "clusters.prod.namespaces[0]",
        "clusters.prod.log_mount.source",
        "clusters.prod.default_mounts[0].target",
        "clusters.prod.default_mounts[1].source",
        "clusters.prod.devices.tpu.resource",
        "clusters.prod.devices.gpu.resource",
        "clusters.prod.devices.gpu.capabilites",
        "clusters.prod.limits.cpu",
        "clusters.prod.limits.hour",
        "clusters.prod.priorities.3",
        "clusters.prod.priorities.12",
        "clusters.prod.allow_run_as[0]",
        "clusters.prod.users.bob.uid",
        "clusters.prod.gang_timeout",
        "clusters.prod.owner_from",
    }
    assert all(message.endswith((".", "?")) for message in found.values())


@pytest.mark.parametrize(
    ("raw", "key", "meant"),
    [
        ({"kubeconfg": "/x"}, "clusters.prod.kubeconfg", "Did you mean kubeconfig?"),
        ({"namespace": ["a"]}, "clusters.prod.namespace", "Did you mean namespaces?"),
        ({"limits": {"hour": 1}}, "clusters.prod.limits.hour", "Did you mean hours?"),
        ({"devices": {"cpu": {"toleration": []}}}, "clusters.prod.devices.cpu.toleration", "Did you mean tolerations?"),
    ],
)
def test_a_misspelt_key_is_named_with_the_nearest_one(raw: dict[str, Any], key: str, meant: str) -> None:
    assert problems(raw)[key].endswith(meant)


@pytest.mark.parametrize(
    ("raw", "key", "words"),
    [
        ({"devices": {"tpu": {}}}, "devices.tpu.resource", "is missing"),
        ({"devices": {"tpu-": {"resource": "a/b"}}}, "devices.tpu-", "device's name"),
        ({"devices": {"cpu": {"node_selector": {"a": "b c"}}}}, "devices.cpu.node_selector", "no label"),
        ({"devices": {"cpu": {"extra_resources": {"a/b": "lots"}}}}, "devices.cpu.extra_resources.a/b", "quantity"),
        ({"devices": {"cpu": {"capabilities": ["CAP sys"]}}}, "devices.cpu.capabilities[0]", "IPC_LOCK"),
        ({"devices": {"cpu": {"volumes": ["relative"]}}}, "devices.cpu.volumes[0].source", "whole path"),
        ({"devices": {"cpu": {"volumes": ["/a/../b"]}}}, "devices.cpu.volumes[0].source", "whole path"),
        ({"log_mount": "a/../b"}, "log_mount.source", "“..”"),
        ({"log_mount": "Not A Claim"}, "log_mount.source", "volume claim"),
        ({"default_mounts": [{"source": "/d/{home}", "target": "/d"}]}, "default_mounts[0].source", "{home}"),
        ({"default_mounts": [{"source": "a", "target": "/"}]}, "default_mounts[0].target", "/ itself"),
        ({"allow_host_paths": ["/data/../etc"]}, "allow_host_paths[0]", "whole path"),
        ({"allow_host_paths": ["/data/{uesr}"]}, "allow_host_paths", "{uesr}"),
        ({"priorities": {0: "a"}}, "priorities.0", "1 to 9"),
        ({"name": "other"}, "name", "no key name"),
        ({"users": {"bob": {"uid": 1, "gid": 1, "user": "../x"}}}, "users.bob.user", "letters"),
    ],
)
def test_what_a_type_cannot_say_is_said(raw: dict[str, Any], key: str, words: str) -> None:
    assert words in problems(raw)[f"clusters.prod.{key}"]


@pytest.mark.parametrize("name", ["local", "", "a b", "ключ", 7, "x" * 64, "-a"])
def test_a_name_that_no_job_could_give_is_refused(name: Any) -> None:
    with pytest.raises(InvalidSettings, match="A cluster's name"):
        read_clusters({name: {}})


@pytest.mark.parametrize("raw", [None, [], "kubeconfig", 7])
def test_an_entry_that_is_no_object_is_refused(raw: Any) -> None:
    assert "must be an object" in problems(raw)["clusters.prod"]


def test_problems_of_all_clusters_come_together_and_one_text_tells_them_all() -> None:
    with pytest.raises(InvalidSettings) as caught:
        read_clusters({"a": {"contxt": 1}, "b": {"gang_timeout": -1}, "c": {}})
    assert [problem["key"] for problem in caught.value.problems] == ["clusters.a.contxt", "clusters.b.gang_timeout"]
    assert all(problem["message"] in str(caught.value) for problem in caught.value.problems)


@given(
    st.dictionaries(
        st.sampled_from([*FULL, "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
            max_leaves=8,
        ),
    )
)
def test_any_object_is_understood_or_refused(raw: dict[str, Any]) -> None:
    try:
        assert isinstance(read_settings("prod", raw), ClusterSettings)
    except InvalidSettings as refused:
        assert refused.problems


# -- in a pod, without configuration -------------------------------------------------------------------------------


def test_a_pod_with_a_service_account_has_a_cluster_by_itself(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("very-secret")
    (tmp_path / "namespace").write_text("team-a\n")
    made = in_cluster(tmp_path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert made == ClusterSettings(name="cluster", namespaces=("team-a",), devices=settings.PROFILES)
    assert "very-secret" not in repr(made)


def test_without_a_service_account_there_is_none(tmp_path: Path) -> None:
    inside = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    assert in_cluster(tmp_path, inside) is None
    (tmp_path / "token").write_text("x")
    assert in_cluster(tmp_path, inside) is None  # no namespace
    (tmp_path / "namespace").write_text("team-a")
    assert in_cluster(tmp_path, {}) is None


# -- who an owner is -----------------------------------------------------------------------------------------------


def test_a_person_has_the_servers_ids_and_their_own_name() -> None:
    made = person(read_settings("prod", {}), "alice", 1000, 100, "vision")
    assert made == Person(owner="alice", user="alice", group="vision", uid=1000, gid=100)


def test_the_admins_word_on_a_person_comes_first() -> None:
    made = person(read_settings("prod", FULL), "alice@example.org", 1000, 100, "staff")
    assert made == Person(owner="alice@example.org", user="alice", group="vision", uid=2000, gid=200)


@pytest.mark.parametrize("owner", ["alice@example.org", "system:serviceaccount:a:b", "../bob", ".", "..", "", "爱丽丝"])
def test_a_name_that_cannot_be_part_of_a_path_is_nobodys_folder(owner: str) -> None:
    """Cut to something usable, it could be another person's name, and so their folder."""
    assert person(read_settings("prod", {}), owner, 1000, 100).user == ""
