"""The guides are true: links lead somewhere, commands run and print what is written, keys and paths exist."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from traitlets.config import Config

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

ROOT = Path(__file__).parent.parent


def helper(name: str) -> ModuleType:
    """A module of `tests/docs`, which is no package: tests are imported by path."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "tests" / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks, sandbox, keys, lab = helper("blocks"), helper("sandbox"), helper("keys"), helper("lab")
explanations = helper("explanations")

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MAKE_TARGET = re.compile(r"`make ([a-z]+)")


def prose(page: Path) -> str:
    """The page without its code blocks, where brackets mean something else."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The names that the page's headings can be linked by, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.+?)\s*$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def relative_links(page: Path) -> Iterator[str]:
    """Targets of the page's links that are ours."""
    return (target for target in LINK.findall(prose(page)) if not re.match(r"[a-z]+:", target))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_and_anchor_exists(page: Path) -> None:
    for target in relative_links(page):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_make_target_named_in_the_pages_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in MAKE_TARGET.findall(page.read_text(encoding="utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name} names make {target}"


def test_every_guide_is_linked_from_the_readme() -> None:
    links = {(ROOT / link.partition("#")[0]).resolve() for link in relative_links(ROOT / "README.md")}
    assert set((ROOT / "docs").glob("*.md")) <= links


def test_the_help_of_make_lists_what_the_readme_promises() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {"make lab", "make test"} <= {" ".join(line.split()[:2]) for line in listed.splitlines()}


# --- commands -----------------------------------------------------------------------------------------------------

EXCUSED = {
    "make": "the suites themselves; CI runs `make test`, and tests/ui starts what `make lab` starts",
    "pip install": "tests/test_package.py installs the wheel into an environment of its own",
    "jupyter server extension list": "tests/test_package.py runs it on the installed wheel",
    "jupyter labextension list": "tests/test_package.py runs it on the installed wheel",
    "node tests/docs/pictures.mjs": "it remakes the pictures of the guides, which people look at and commit",
}
"""Commands of `bash` blocks, which are not run here, and why not."""


def runnable(page: Path, on_cluster: bool) -> list[blocks.Block]:
    """The page's blocks that need a cluster, or those that need none."""
    return [one for one in blocks.blocks(page) if lab.needs_cluster(page, one.section) == on_cluster]


def pages_to_run(on_cluster: bool) -> list[Path]:
    return [page for page in PAGES if any(one.language in ("console", "python") for one in runnable(page, on_cluster))]


ELSEWHERE = re.compile(r"^This job ends when .*\n", re.MULTILINE)
"""A sentence that depends on where the tests run: in a container, in a service, at a desk."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_is_run_or_excused_by_name(page: Path) -> None:
    for block in blocks.blocks(page):
        where = f"{page.name}:{block.line}"
        assert block.language in blocks.LANGUAGES, f"{where} has no language that says what to do with it"
        assert block.file or block.language in ("console", "python", "bash", "text"), f"{where} names no file"
        assert block.language == "console" or not re.search(r"^\$ ", block.text, re.MULTILINE), f"{where} is a console"
        for line in block.text.splitlines() if block.language == "bash" else ():
            assert line.startswith(tuple(EXCUSED)), f"{where} has a command that nothing runs: {line}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", pages_to_run(False), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_cell_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    found = runnable(page, False)
    cells = [one.text.rstrip("\n") for one in found if one.language == "python" and not one.file]
    box = sandbox.Sandbox(tmp_path, cells)
    write_files(box, found)
    if any("$SERVER" in one.text for one in found):
        box.start_server()
    try:
        for block in found:
            run_block(box, block, f"{page.name}:{block.line}")
    finally:
        box.close()


def write_files(box: sandbox.Sandbox, found: list[blocks.Block]) -> None:
    """The files that blocks name, and the start file of the examples."""
    sample = {one.file: one.text for one in blocks.blocks(ROOT / "docs" / "users.md")}["train.py"]
    for name, text in [("train.py", sample), *((one.file, one.text) for one in found if one.file)]:
        (box.work / name).write_text(text, encoding="utf-8")


@pytest.mark.cluster
@pytest.mark.timeout(300, func_only=True)
@pytest.mark.parametrize("page", pages_to_run(True), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_for_a_cluster_does_what_the_page_says(page: Path, cluster: Cluster, tmp_path: Path) -> None:
    names = lab.Names()
    found = [one._replace(text=names.here(one.text)) for one in runnable(page, True)]
    box = sandbox.Sandbox(tmp_path, [])
    lab.move_in(cluster, tmp_path, box.environ)
    (box.work / "jupyter_server_config.py").write_text(names.here(lab.CONFIG), encoding="utf-8")
    write_files(box, found)
    with ExitStack() as opened:
        opened.enter_context(lab.emptied(cluster, names.namespace))
        if not any("kubectl create namespace" in one.text for one in found):
            opened.enter_context(cluster.namespace(names.namespace))
        opened.callback(box.close)
        for block in found:
            if re.search(r"\baiarts |\$SERVER", block.text):
                box.use_server()
            run_block(box, block, f"{page.name}:{block.line}")


def run_block(box: sandbox.Sandbox, block: blocks.Block, where: str) -> None:
    if block.language == "console":
        for command in blocks.commands(block.text):
            printed, status = box.command(command.line)
            printed = blocks.squeezed(ELSEWHERE.sub("", printed))
            said = f"{where}: {command.line}\n--- printed, with exit code {status} ---\n{printed}"
            assert blocks.pattern(command.expected).fullmatch(printed), said
            assert status == command.status, said
    elif block.language == "python" and not block.file:
        assert "UsageError" not in box.cell(), where


# --- what is named exists -----------------------------------------------------------------------------------------


def test_the_table_of_keys_is_the_specs() -> None:
    guide = (ROOT / "docs" / "users.md").read_text(encoding="utf-8")
    assert keys.shown(guide) == keys.table(), "run python tests/docs/keys.py"


def test_the_page_of_explanations_is_what_the_software_says() -> None:
    assert explanations.PAGE.read_text(encoding="utf-8") == explanations.page(), "run python tests/docs/explanations.py"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/contributors.md"])
def test_every_path_named_for_contributors_exists(page: str) -> None:
    named = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|md|ts|tsx|cfg|toml))`", prose(ROOT / page))
    assert named
    for path in named:
        assert (ROOT / path).exists(), f"{page} names {path}"


def test_pictures_are_small_and_every_one_is_shown() -> None:
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in pictures:
        assert picture.stat().st_size <= 200_000, f"{picture.name} is larger than 200 KB"
        assert f"images/{picture.name}" in text, f"no page shows {picture.name}"


def test_the_settings_named_for_admins_exist_and_none_is_missing() -> None:
    from jupyter_aiarts.server.app import AiartsApp, Kernels, LocalEngine

    guide = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("admins.md", "kubernetes.md"))
    classes = (AiartsApp, Kernels, LocalEngine)
    own = {f"{one.__name__}.{name}" for one in classes for name in one.class_own_traits(config=True)}
    assert set(re.findall(r"^c\.(\w+\.\w+) =", guide, re.MULTILINE)) == own


def configured_clusters() -> dict[str, Any]:
    """The clusters of the admins' example, as a server would get them."""
    page = ROOT / "docs" / "kubernetes.md"
    example = {one.file: one.text for one in blocks.blocks(page)}["jupyter_server_config.py"]
    c = Config()
    exec(compile(example, page.name, "exec"), {"c": c})
    return dict(c.AiartsApp.clusters)


def test_the_example_of_a_cluster_is_accepted_and_names_every_key() -> None:
    from jupyter_aiarts.engines.kubernetes import settings

    clusters = configured_clusters()
    assert set(settings.read_clusters(clusters)) == {"lab", "big"}
    every = clusters["big"]
    shown = {
        settings.ClusterSettings: [{**every, "name": "big"}],
        settings.LogMount: [every["log_mount"]],
        settings.ClusterMount: every["default_mounts"],
        settings.DeviceProfile: every["devices"].values(),
        settings.NodeSize: [one["node"] for one in every["devices"].values()],
        settings.Limits: [every["limits"]],
        settings.User: every["users"].values(),
    }
    for struct, examples in shown.items():
        named = {key for one in examples for key in one}
        assert named == set(struct.__struct_fields__), f"{struct.__name__} has other keys than the guide shows"


@pytest.mark.parametrize("role", ["aiarts-user", "aiarts-viewer"])
def test_the_guide_names_every_resource_of_the_roles(role: str) -> None:
    rules = yaml.safe_load((ROOT / "docs" / "rbac" / f"{role}.yaml").read_text(encoding="utf-8"))["rules"]
    guide = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8").partition("## The two roles")[2]
    for resource in (one for rule in rules for one in rule["resources"]):
        assert resource in guide, f"{role} allows {resource}"
