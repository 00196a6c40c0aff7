"""Which folder of this server is the storage that a pod mounts: the same source, never a likeness."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.mounttable import Mounted, read_table, where_export_is, where_volume_is

VOLUME = "pvc-0b2c7a0e-9d0f-4c55-8a1d-6c9a0a1b2c3d"
TABLE = read_table(
    r"""22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
31 22 0:40 / /mnt/nas rw,relatime shared:5 - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.5,clientaddr=10.0.0.9
32 22 0:41 /al /home/jovyan rw,relatime - nfs4 nas:/export/home rw,addr=10.0.0.5
33 22 0:42 / /mnt/with\040space rw - nfs other:/x rw,addr=10.0.0.6
34 22 8:1 /var/lib/local/VOLUME_team-a_data /data rw - ext4 /dev/sda1 rw
35 22 0:43 / /six rw - nfs4 [fd00::5]:/export rw
nonsense
36 22 0:44
37 22 0:45 / /mnt/hidden rw - nfs4 nas:/old rw
38 22 0:46 / /mnt/hidden rw - tmpfs tmpfs rw""".replace("VOLUME", VOLUME)
)


def test_lines_are_read_and_what_is_none_is_passed_over() -> None:
    assert [one.path for one in TABLE][-2:] == ["/six", "/mnt/hidden"] and TABLE[-1].kind == "tmpfs"
    assert TABLE[0] == Mounted(path="/", root="/", kind="ext4", source="/dev/sda1", options="rw")
    assert TABLE[3].path == "/mnt/with space"


@pytest.mark.parametrize(
    ("server", "path", "where"),
    [
        ("nas", "/export", ("/mnt/nas", "")),
        ("NAS", "/export/team/a", ("/mnt/nas/team/a", "")),
        ("10.0.0.5", "/export/team", ("/mnt/nas/team", "")),
        ("nas", "/", ("/mnt/nas", "export")),
        ("other", "/x", ("/mnt/with space", "")),
        ("fd00::5", "/export/y", ("/six/y", "")),
        ("nas", "/exports", None),
        ("nas", "/old", None),
        ("elsewhere", "/export", None),
    ],
)
def test_an_export_is_found_whole_or_in_part_by_any_name_of_its_server(
    server: str, path: str, where: tuple[str, str] | None
) -> None:
    assert where_export_is(TABLE, server, path) == where


def test_a_folder_of_an_export_that_alone_is_mounted_here_is_a_part_of_it() -> None:
    assert where_export_is(TABLE[2:3], "nas", "/export/home") == ("/home/jovyan", "al")
    assert where_export_is(TABLE[2:3], "nas", "/export/home/al/x") == ("/home/jovyan/x", "")
    assert where_export_is(TABLE[2:3], "nas", "/export/home/bob") is None


def test_a_claims_volume_is_found_by_the_name_that_only_it_has() -> None:
    assert where_volume_is(TABLE, VOLUME) == "/data"
    csi = Mounted(
        path="/d", root=f"/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/{VOLUME}/mount", kind="x", source="y"
    )
    assert where_volume_is([csi], VOLUME) == "/d"
    nfs = Mounted(path="/n", root="/", kind="nfs4", source=f"nas:/volumes/{VOLUME}")
    assert where_volume_is([nfs], VOLUME) == "/n"


@pytest.mark.parametrize("name", ["data", "", "pvc-1", VOLUME[:-1] + "e"])
def test_a_name_that_others_may_have_too_proves_nothing(name: str) -> None:
    assert where_volume_is(TABLE, name) is None


def test_a_folder_inside_a_volume_is_not_the_volume() -> None:
    inside = Mounted(path="/d", root=f"/var/lib/local/{VOLUME}/sub", kind="ext4", source="/dev/sda1")
    assert where_volume_is([inside], VOLUME) is None


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(read_table(text), tuple)
