"""The places of a cluster's pods, from its settings, a job's mounts and this server's real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.code import Places
from jupyter_aiarts.engines.kubernetes.mounts import pod_mounts
from jupyter_aiarts.engines.kubernetes.places import claims_of, mount_table, places_of
from jupyter_aiarts.engines.kubernetes.settings import InvalidSettings
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.model.mounttable import Mounted
from jupyter_aiarts.model.places import Place
from tests.engines.kubernetes.making import ALICE, NPU, make_reading, make_settings

VOLUME = "pvc-0b2c7a0e-9d0f-4c55-8a1d-6c9a0a1b2c3d"


def places(settings: dict[str, Any], person: Person = ALICE, **more: Any) -> dict[str, Place]:
    return {one.pod: one for one in places_of(make_settings(**settings), person, **more)}


def test_default_mounts_are_known_by_the_names_that_people_use(tmp_path: Path) -> None:
    found = places(
        {
            "default_mounts": [
                {"source": "nas:/home/{user}", "target": "/home/{user}", "path": str(tmp_path)},
                {"source": "datasets", "target": "/data/dataset", "read_only": True},
                {"source": "models/all", "target": "/data/model-gallery"},
                {"source": "/mnt/share/{group}", "target": "/mnt/share/{group}"},
            ]
        }
    )
    assert {pod: one.name for pod, one in found.items()} == {
        "/home/alice": "home",
        "/data/dataset": "public-datasets",
        "/data/model-gallery": "model-gallery",
        "/mnt/share/vision": "group-storage",
        "/aiarts/run": "run-folder",
    }
    home = found["/home/alice"]
    assert (home.here, home.source, home.kind, home.node) == (str(tmp_path), "nas:/home/alice", "nfs", None)
    data, share = found["/data/dataset"], found["/mnt/share/vision"]
    assert (data.here, data.kind, data.read_only, data.source) == (None, "claim", True, "datasets")
    assert (share.node, share.here, share.kind) == ("/mnt/share/vision", None, "host")
    assert found["/data/model-gallery"].source == "models/all"


def test_a_jobs_own_mounts_are_among_them_and_a_folder_that_is_not_here_is_not_claimed(tmp_path: Path) -> None:
    raw = make_reading(mounts=[{"source": str(tmp_path), "target": "/in", "read_only": True}]).spec
    settings = {"allow_host_paths": [str(tmp_path), "/nowhere"]}
    found = places(settings, spec=raw)
    assert (found["/in"].here, found["/in"].node, found["/in"].name) == (str(tmp_path), str(tmp_path), "mounts[0]")
    gone = make_reading(mounts=[{"source": "/nowhere/x", "target": "/in", "read_only": True}]).spec
    assert places(settings, spec=gone)["/in"].here is None


def test_an_export_that_this_server_has_mounted_is_the_same_storage(tmp_path: Path) -> None:
    """As well for how code reaches a pod: it is used in place."""
    settings = {"default_mounts": [{"source": "nas:/export/{user}", "target": "/work"}]}
    table = (Mounted(path=str(tmp_path), root="/", kind="nfs4", source="nas:/export/alice"),)
    assert places(settings, table=table)["/work"].here == str(tmp_path)
    (tmp_path / "train.py").write_text("pass")
    mounts = pod_mounts(make_reading().spec, make_settings(**settings), ALICE).mounts
    assert Places(mounts, table).in_pod(str(tmp_path / "train.py")) == "/work/train.py"
    assert Places(mounts).in_pod(str(tmp_path / "train.py")) is None


def test_a_part_of_an_export_is_the_same_part_of_the_mount(tmp_path: Path) -> None:
    settings = {"default_mounts": [{"source": "nas:/export", "target": "/work", "read_only": True}]}
    table = (Mounted(path=str(tmp_path), root="/team", kind="nfs4", source="nas:/export"),)
    found = places(settings, table=table)
    assert (found["/work"].here, found["/work/team"].here) == (None, str(tmp_path))
    assert found["/work/team"].source == "nas:/export/team"


def test_a_claim_is_found_by_the_volume_that_it_is_bound_to(tmp_path: Path) -> None:
    settings = {"default_mounts": [{"source": "data/inner", "target": "/data"}]}
    (tmp_path / "inner").mkdir()
    table = (Mounted(path=str(tmp_path), root=f"/pv/{VOLUME}", kind="ext4", source="/dev/sda"),)
    assert claims_of(make_settings(**settings), ALICE, None) == {"data"}
    assert places(settings, table=table)["/data"].here is None
    assert places(settings, table=table, volumes={"data": VOLUME})["/data"].here == str(tmp_path / "inner")


def test_the_log_mount_and_drivers_are_places_too(tmp_path: Path) -> None:
    settings = {
        "log_mount": {"source": "nas:/logs/{user}/aiarts", "path": str(tmp_path)},
        "devices": {NPU: {"volumes": ["/usr/local/Ascend/driver"]}},
    }
    found = places(settings, spec=make_reading(device=NPU, devices=1).spec)
    assert (found["/aiarts/log/aiarts"].name, found["/aiarts/log/aiarts"].here) == ("log-mount", str(tmp_path))
    assert found["/usr/local/Ascend/driver"].node == "/usr/local/Ascend/driver"
    assert "/usr/local/Ascend/driver" not in places(settings)


def test_an_admin_names_folders_of_larger_mounts(tmp_path: Path) -> None:
    settings = {
        "default_mounts": [{"source": "nas:/all", "target": "/data", "path": str(tmp_path), "read_only": True}],
        "places": [
            {"name": "公共数据集", "target": "/data/dataset/storage"},
            {"name": "tools", "target": "/opt/tools"},
        ],
    }
    found = places(settings)
    named = found["/data/dataset/storage"]
    assert (named.name, named.here) == ("公共数据集", f"{tmp_path}/dataset/storage")
    assert (named.source, named.read_only) == ("nas:/all/dataset/storage", True)
    assert (found["/opt/tools"].kind, found["/opt/tools"].here) == ("pod", None)


@pytest.mark.parametrize(
    "wrong", [{"name": "", "target": "/x"}, {"name": "x", "target": "x"}, {"name": "x", "target": "/{home}"}]
)
def test_a_wrong_entry_is_refused_by_its_key(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings) as caught:
        make_settings(places=[wrong])
    assert caught.value.problems[0]["key"].startswith("clusters.k8s.places[0]")


def test_somebody_without_a_name_for_paths_has_the_places_that_need_none() -> None:
    nobody = Person(owner="a/b")
    settings = {
        "default_mounts": [{"source": "nas:/home/{user}", "target": "/home"}, {"source": "all", "target": "/all"}],
        "log_mount": "nas:/logs/{user}",
    }
    assert set(places(settings, nobody)) == {"/all", "/aiarts/run"}


def test_this_servers_own_table_can_be_read() -> None:
    assert any(one.path == "/" for one in mount_table())
