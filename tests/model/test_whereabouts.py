"""The path map: the same storage under three names, and why a path does not exist where it is looked for."""

from __future__ import annotations

import posixpath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.explain.words.paths import PLACES, REASONS, VIEWS, reason_text, view_text
from jupyter_aiarts.model.places import Place, Walk, below, covering, walk
from jupyter_aiarts.model.whereabouts import Question, Whereabouts, judge

NAS = Place(name="home", cluster="lab", kind="nfs", pod="/home/al", here="/mnt/nas/al", source="nas:/export/al")
DATA = Place(name="public-datasets", cluster="lab", kind="claim", pod="/data", source="datasets", read_only=True)
HOST = Place(
    name="mounts[0]", cluster="lab", kind="host", pod="/fast", here="/scratch/al", node="/scratch/al",
    source="/scratch/al",
)  # fmt: skip
RUN = Place(name="run-folder", cluster="lab", kind="pod", pod="/aiarts/run")
LAB = (NAS, DATA, HOST, RUN)

TREE: dict[str, Any] = {  # None: a file or folder, text: where a link leads
    "/mnt/nas/al/train.py": None,
    "/mnt/nas/al/Data/a.bin": None,
    "/mnt/nas/al/caf\u00e9.txt": None,
    "/mnt/nas/al/tail .txt": None,
    "/mnt/nas/al/inside.py": "train.py",
    "/mnt/nas/al/absolute.py": "/mnt/nas/al/train.py",
    "/mnt/nas/al/outside.py": "/opt/tools/tool.py",
    "/mnt/nas/al/round": "round",
    "/mnt/nas/al/fast": "/scratch/al",
    "/mnt/nas/al/（旧）.py": None,
    "/opt/tools/tool.py": None,
    "/scratch/al/x.py": None,
    "/root/work/train.py": None,
    "/root/work/tr\u200bap.py": None,
}


def look(path: str) -> str | bool | None:
    if path in TREE:
        return TREE[path] or True
    return any(below(one, path) is not None for one in TREE)


def names(folder: str) -> list[str]:
    return sorted({(below(one, folder) or "").split("/")[0] for one in TREE if below(one, folder)})


def ask(text: str, cluster: str | None = None, places: tuple[Place, ...] = LAB) -> Whereabouts:
    asked = Question(
        text=text, folder="/root/work", home="/root", variables={"HOME": "/root"}, cluster=cluster
    )  # fmt: skip
    return judge(asked, places, look, names)


def pod(found: Whereabouts) -> tuple[str | None, bool | None]:
    [view] = [one for one in found.views if one.where == "pod"]
    return view.path, view.visible


def codes(found: Whereabouts) -> list[str]:
    return [one.code for one in found.reasons]


# -- where it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "in_pod", "visible"),
    [
        ("/mnt/nas/al/train.py", "/home/al/train.py", True),
        ("/home/al/train.py", "/home/al/train.py", True),
        ("/home/al", "/home/al", True),
        ("/home/al/Data/../train.py", "/home/al/train.py", True),
        ("/mnt/nas/al/inside.py", "/home/al/inside.py", True),
        ("/scratch/al/x.py", "/fast/x.py", True),
        ("/data/imagenet", "/data/imagenet", None),
        ("/home/al/nothing.py", "/home/al/nothing.py", False),
        ("/root/work/train.py", None, False),
        ("/etc/passwd", None, False),
        ("/home/alice/train.py", None, False),
        ("train.py", None, False),
    ],
)
def test_a_path_of_any_side_is_found_in_a_pod_or_honestly_is_not(
    path: str, in_pod: str | None, visible: bool | None
) -> None:
    found = ask(path, "lab")
    assert pod(found) == (in_pod, visible) and found.visible is visible


def test_the_same_file_is_named_on_a_node_and_on_the_nfs_server() -> None:
    assert [one.path for one in ask("/fast/x.py", "lab").views if one.where == "node"] == ["/scratch/al/x.py"]
    assert [one.path for one in ask("/home/al/train.py", "lab").views if one.where == "node"] == [
        "nas:/export/al/train.py"
    ]


@pytest.mark.parametrize("path", ["nas:/export/al/train.py", "/mnt/nas/al/train.py"])
def test_what_was_written_for_another_side_is_said_in_the_words_of_the_pod(path: str) -> None:
    asked = Question(text=path, folder="/", cluster="lab")
    found = judge(asked, LAB, look, names)
    assert found.write == "/home/al/train.py" and codes(found)[-1].startswith("other-side-")


def test_a_path_of_the_nodes_is_told_as_the_pod_has_it() -> None:
    place = Place(name="x", cluster="lab", kind="host", pod="/fast", node="/ssd/al", source="/ssd/al")
    found = ask("/ssd/al/x.py", "lab", (place,))
    assert (pod(found), found.write, codes(found)) == (("/fast/x.py", None), "/fast/x.py", ["other-side-node"])


def test_a_path_of_pods_that_is_looked_for_here_is_told_as_this_server_has_it() -> None:
    found = ask("/home/al/train.py")
    assert (found.visible, found.write, codes(found)[0]) == (False, "/mnt/nas/al/train.py", "other-side-pod")
    unseen = ask("/data/imagenet")
    assert (unseen.visible, unseen.write, codes(unseen)[0]) == (False, None, "other-side-unseen")


# -- why it is not -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "write"),
    [
        ("/mnt/nas/al/data/a.bin", "twin-case", "/mnt/nas/al/Data/a.bin"),
        ("/mnt/nas/al/cafe\u0301.txt", "twin-form", "/mnt/nas/al/caf\u00e9.txt"),
        ("/root/work/train.py ", "space", "/root/work/train.py"),
        ("/root/work/train.py\n", "space", "/root/work/train.py"),
        ("/root/work/\u200btrain.py", "invisible", "/root/work/train.py"),
        ("/root/work／train.py", "full-width", "/root/work/train.py"),
        ("$HOME/work/train.py", "variable", "/root/work/train.py"),
        ("${DATA}/x", "variable", None),
        ("C:\\work\\train.py", "windows", None),
        ("https://example.org/train.py", "address", None),
        ("/root/work/trap.py", "twin-look", "/root/work/tr\u200bap.py"),
        ("missing.py", "relative", None),
    ],
)
def test_why_a_path_does_not_exist_and_what_to_write(text: str, code: str, write: str | None) -> None:
    found = ask(text)
    assert found.visible is False
    assert code in codes(found) and found.write == write


def test_the_same_is_seen_inside_a_pods_storage() -> None:
    found = ask("/home/al/data/a.bin", "lab")
    assert (found.visible, found.write) == (False, "/home/al/Data/a.bin")


def test_what_exists_as_it_is_written_is_right_however_it_looks() -> None:
    for text in ("/mnt/nas/al/（旧）.py", "/mnt/nas/al/tail .txt", "~/work/train.py"):
        assert ask(text).visible is True and ask(text).write is None


def test_full_width_names_in_storage_that_cannot_be_seen_are_left_alone() -> None:
    found = ask("/data/数据（新）", "lab")
    assert (found.visible, found.write, codes(found)) == (None, None, [])


def test_a_link_out_of_the_mount_leads_nowhere_in_the_pod() -> None:
    found = ask("/mnt/nas/al/outside.py", "lab")
    assert (found.visible, codes(found), found.write) == (False, ["link-outside"], None)
    assert "/opt/tools/tool.py" in reason_text("link-outside", found.reasons[0].values, "en")


def test_a_link_by_a_path_of_this_server_alone_is_told_as_its_target() -> None:
    found = ask("/mnt/nas/al/absolute.py", "lab")
    assert (found.visible, codes(found), found.write) == (False, ["link-outside"], "/home/al/train.py")
    there = ask("/mnt/nas/al/fast/x.py", "lab")
    assert (there.visible, there.write) == (False, "/fast/x.py")


def test_a_link_that_leads_back_to_itself_ends() -> None:
    assert ask("/mnt/nas/al/round", "lab").visible is False


def test_a_mount_inside_another_hides_what_is_there() -> None:
    inner = Place(name="x", cluster="lab", kind="claim", pod="/home/al/Data", source="other")
    assert pod(ask("/home/al/Data/a.bin", "lab", (*LAB, inner))) == ("/home/al/Data/a.bin", None)


# -- always --------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["home", "al", "mnt", "nas", "data", "Data", "..", ".", "a.bin", "train.py", "round", "fast", " "]
)


@given(st.lists(PIECES, max_size=8), st.booleans())
def test_no_path_makes_it_fail_and_what_it_says_to_write_is_visible(parts: list[str], in_pod: bool) -> None:
    found = ask("/" + "/".join(parts), "lab" if in_pod else None)
    for view in found.views:
        assert view_text(view.form, {"cluster": view.cluster, "path": view.path, "place": "p"}, "zh")
    for reason in found.reasons:
        assert reason_text(reason.code, reason.values, "en") and reason_text(reason.code, reason.values, "zh")
    if in_pod and found.write is not None:
        assert ask(found.write, "lab").visible is not False or "space" in codes(found)


@given(st.text(max_size=40))
def test_hostile_text_is_judged_too(text: str) -> None:
    assert isinstance(ask(text or ".", "lab"), Whereabouts)


@given(st.lists(PIECES, min_size=1, max_size=6))
def test_taking_places_away_never_makes_a_path_visible(parts: list[str]) -> None:
    path = "/" + "/".join(parts)
    for index in range(len(LAB)):
        fewer = ask(path, "lab", LAB[:index] + LAB[index + 1 :])
        assert fewer.visible is not True or ask(path, "lab").visible is True


def test_walking_stays_inside_what_is_known() -> None:
    assert walk("/home/al/train.py", LAB, look) == Walk(found=True, at="/home/al/train.py", place=NAS)
    assert walk("/home", LAB, look).found is True
    assert covering("/homes/x", LAB, "pod") is None
    assert posixpath.isabs(walk("/../../etc", LAB, look).at)


def test_both_languages_say_the_same() -> None:
    import string

    for table in (VIEWS, REASONS, PLACES):
        for english, chinese in table.values():
            fields = [{name for _, name, _, _ in string.Formatter().parse(one) if name} for one in (english, chinese)]
            assert fields[0] == fields[1] and any("\u4e00" <= char <= "\u9fff" for char in chinese)
