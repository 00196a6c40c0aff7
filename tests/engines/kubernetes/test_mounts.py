"""Which storage pods get: what is allowed, how it is anchored, and what a link in somebody's folder cannot do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.engines.kubernetes.mounts import PodMount, Wanted, pod_mounts
from jupyter_aiarts.engines.kubernetes.storage import (
    Claim,
    Export,
    HostPath,
    Person,
    Source,
    clean,
    parse_source,
)
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.places import below
from tests.engines.kubernetes.making import ALICE, make_reading, make_settings

ALLOWED = {"allow_host_paths": ["/data", "/data/deep/", "/scratch/{user}"]}


def wanted(mounts: list[dict[str, Any]], settings: dict[str, Any] | None = None, **raw: Any) -> Wanted:
    spec = make_reading(mounts=mounts, **raw).spec
    return pod_mounts(spec, make_settings(**(settings or {})), ALICE)


def only(found: Wanted) -> PodMount:
    assert found.problems == ()
    (mount,) = found.mounts
    return mount


def sentence(found: Wanted) -> str:
    (problem,) = found.problems
    assert found.mounts == () and problem["message"].endswith(".")
    return problem["message"]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("data", Claim("data")),
        ("data/sets/a b", Claim("data", "sets/a b")),
        ("data//./x/", Claim("data", "x")),
        ("data/", Claim("data")),
        ("nas:/export", Export("nas", "/export")),
        ("nas.example.org://a//b/", Export("nas.example.org", "/a/b")),
        ("nfs://10.0.0.1/x", Export("10.0.0.1", "/x")),
        ("/data/./x//y/", HostPath("/data/x/y")),
        ("//data", HostPath("/data")),
        ("/", HostPath("/")),
    ],
)
def test_a_source_is_a_claim_an_export_or_a_path(text: str, source: Source) -> None:
    assert parse_source(text) == source


@pytest.mark.parametrize("text", ["", "Data", "a b", "../x", "/a/../b", "nas:/a/..", "a/../../b", "-x", "é", "x" * 254])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"must"):
        parse_source(text)


@given(st.text(alphabet="/.ab", max_size=12).map(lambda text: "/" + text))
def test_a_clean_path_has_no_empty_parts(path: str) -> None:
    made = clean(path.replace("..", ""))
    assert made.startswith("/") and "//" not in made and "/./" not in f"{made}/"
    assert made == "/" or not made.endswith("/")


def test_below_goes_by_parts_and_not_by_letters() -> None:
    assert below("/data/x", "/data") == "x"
    assert below("/data", "/data") == ""
    assert below("/database", "/data") is None
    assert below("/x/y", "/") == "x/y"


# -- a user's mounts -----------------------------------------------------------------------------------------------


def test_a_claim_and_a_folder_in_it() -> None:
    mount = only(wanted([{"source": "data/sets", "target": "/sets/"}]))
    assert (mount.volume, mount.sub_path, mount.target, mount.read_only) == (Claim("data"), "sets", "/sets", False)


def test_no_path_of_the_host_is_allowed_by_itself() -> None:
    message = sentence(wanted([{"source": "/data", "target": "/d", "read_only": True}]))
    assert message == 'mounts[0] names "/data" of the host, and no path of the host is allowed on k8s.'


@pytest.mark.parametrize("source", ["/etc", "/", "/database", "/scratch/bob", "/scratch", "/dat", "/data2/x"])
def test_only_paths_below_what_the_admin_names_are_allowed(source: str) -> None:
    message = sentence(wanted([{"source": source, "target": "/d", "read_only": True}], ALLOWED))
    assert "paths below /data, /data/deep, /scratch/{user} are allowed" in message


def test_a_host_path_is_a_folder_of_the_allowed_one_so_that_no_link_leads_out_of_it() -> None:
    mount = only(wanted([{"source": "/data//deep/./er/x", "target": "/d", "read_only": True}], ALLOWED))
    assert (mount.volume, mount.sub_path) == (HostPath("/data/deep"), "er/x")
    assert mount.seen == "/data/deep/er/x"


@pytest.mark.parametrize("source", ["nas:/share", "nas:/home/{user}/x", "/data/x", "/data/{user}/x", "/data/alice"])
def test_writable_shared_storage_needs_the_users_own_id(source: str) -> None:
    mounts = [{"source": source, "target": "/d"}]
    for run_as in ("image", "1000:1000"):
        assert "set run_as to user" in sentence(wanted(mounts, ALLOWED, run_as=run_as))
    assert only(wanted(mounts, ALLOWED, run_as="user")).target == "/d"
    assert only(wanted([{**mounts[0], "read_only": True}], ALLOWED)).read_only


@pytest.mark.parametrize("source", ["nas:/home/{user}", "/data/{user}/", "/scratch/{user}/x", "/scratch/alice/x"])
def test_a_persons_own_folder_may_be_written_by_any_id(source: str) -> None:
    assert only(wanted([{"source": source, "target": "/d"}], ALLOWED)).own


def test_a_link_in_a_persons_own_folder_stays_in_it() -> None:
    mount = only(wanted([{"source": "/scratch/{user}/x", "target": "/d"}], ALLOWED))
    assert (mount.volume, mount.sub_path) == (HostPath("/scratch/alice"), "x")


@pytest.mark.parametrize("target", ["/aiarts", "/aiarts/run/x", "/pod.env", "/dev/shm", "/proc/1", "/sys", "/dev"])
def test_nothing_is_mounted_over_what_the_container_needs(target: str) -> None:
    assert "belongs to the container itself" in sentence(wanted([{"source": "data", "target": target}]))


def test_nothing_is_mounted_over_a_devices_drivers() -> None:
    settings = {"devices": {"cpu": {"volumes": ["/usr/local/Ascend/driver"]}}}
    found = wanted([{"source": "data", "target": "/usr/local/Ascend/driver/"}], settings)
    assert "where cpu has its drivers" in sentence(found)


def test_a_target_with_a_colon_is_refused_before_kubernetes_does() -> None:
    assert "cannot hold “:”" in sentence(wanted([{"source": "data", "target": "/a:b"}]))


def test_two_ways_of_writing_one_target_are_one_target() -> None:
    found = wanted([{"source": "a", "target": "/d/x"}, {"source": "b", "target": "/d//./x"}])
    assert found.problems == ({"key": "mounts[1]", "message": "mounts[1] has the same target as mounts[0], /d/x."},)


def test_all_problems_come_at_once() -> None:
    found = wanted(
        [{"source": "/etc", "target": "/a"}, {"source": "ok", "target": "/b"}, {"source": "x", "target": "/dev"}]
    )
    assert [problem["key"] for problem in found.problems] == ["mounts[0]", "mounts[2]"]
    assert [mount.target for mount in found.mounts] == ["/b"]


# -- the admin's ---------------------------------------------------------------------------------------------------


def default(source: str, **more: Any) -> dict[str, Any]:
    return {"default_mounts": [{"source": source, "target": "/home/{user}", **more}]}


@pytest.mark.parametrize(
    ("source", "volume", "sub_path"),
    [
        ("home/{user}", Claim("home"), "alice"),
        ("home-{user}", Claim("home-alice"), ""),
        ("nas:/home/{user}", Export("nas", "/home/alice"), ""),
        ("nas:/home/{user}/work/x", Export("nas", "/home/alice"), "work/x"),
        ("nfs://nas/{group}/{user}/work", Export("nas", "/vision/alice"), "work"),
        ("/mnt//users/{user}/./work", HostPath("/mnt/users/alice"), "work"),
        ("/mnt/share/{group}", HostPath("/mnt/share/vision"), ""),
    ],
)
def test_default_mounts_are_filled_in_and_anchored_at_the_users_folder(
    source: str, volume: Source, sub_path: str
) -> None:
    mount = only(wanted([], default(source, read_only="{group}" in source)))
    assert (mount.volume, mount.sub_path, mount.target) == (volume, sub_path, "/home/alice")


def test_a_jobs_own_mount_replaces_the_default_one_at_its_place() -> None:
    mount = only(wanted([{"source": "mine", "target": "/home/alice"}], default("home/{user}")))
    assert mount.volume == Claim("mine")


def test_a_writable_default_mount_for_everybody_needs_the_users_own_id_too() -> None:
    assert "set run_as to user" in sentence(wanted([], default("nas:/share")))
    assert only(wanted([], default("nas:/share"), run_as="user")).volume == Export("nas", "/share")


@pytest.mark.parametrize("person", [Person(owner="alice@example.org"), Person(owner="x", user="../bob", uid=1, gid=1)])
def test_an_owner_without_a_name_for_paths_gets_nobodys_folder(person: Person) -> None:
    spec = make_reading().spec
    found = pod_mounts(spec, make_settings(**default("home/{user}")), person)
    assert found.mounts == ()
    assert "has no user name that can be part of a path" in found.problems[0]["message"]
    found = pod_mounts(
        make_reading(mounts=[{"source": "/scratch/x", "target": "/d"}]).spec, make_settings(**ALLOWED), person
    )
    assert found.mounts == ()


@given(
    st.text(alphabet="ab/.{}user:-", min_size=1, max_size=20),
    st.text(alphabet="ab/.", min_size=1, max_size=10),
    st.booleans(),
)
def test_whatever_is_asked_for_no_mount_leaves_the_allowed_places(source: str, target: str, read_only: bool) -> None:
    raw = {"source": source, "target": f"/{target}", "read_only": read_only}
    try:
        found = wanted([raw], ALLOWED)
    except InvalidSpec:
        return
    for mount in found.mounts:
        assert ".." not in mount.sub_path.split("/") and not mount.sub_path.startswith("/")
        assert mount.target not in ("/", "/aiarts", "/dev") and ".." not in mount.target.split("/")
        if isinstance(mount.volume, HostPath):
            assert mount.volume.path in ("/data", "/data/deep", "/scratch/alice")
        assert mount.read_only or mount.own or isinstance(mount.volume, Claim)
