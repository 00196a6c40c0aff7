"""Every environment that conda, mamba or micromamba would name is found by reading, and nothing is run for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.kernelspecs import discover
from jupyter_aiarts.kernelspecs.discover import Discovery
from jupyter_aiarts.kernelspecs.places import places
from jupyter_aiarts.model.environment import Environment

from .conftest import make_conda, make_laid_out


def found(home: Path, environ: dict[str, str] | None = None, extra: tuple[str, ...] = ()) -> dict[str, Environment]:
    seen = Discovery().find(places(environ or {}, [str(home)], extra))
    return {one.path: one for one in seen if one.path.startswith(str(home.parent))}


def test_the_list_of_a_user_is_read(home: Path) -> None:
    path = make_conda(home / "somewhere/else/train")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"{path}\n/gone/long/ago\n\n{path}\n# a note\nrelative/path\n")
    assert list(found(home)) == [str(path)]


def test_however_many_environments_a_neighbour_has_ones_own_are_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one's home, on one's list, and those of which kernels were made; a neighbour can make folders as they like."""
    monkeypatch.setattr(discover, "MOST", 3)
    neighbour, elsewhere = tmp_path / "neighbour", tmp_path / "data"
    for number in range(10):
        make_conda(neighbour / f"miniconda3/envs/n{number}")
    mine = [
        make_conda(home / ".conda/envs/mine"),
        make_conda(elsewhere / "listed"),
        make_conda(elsewhere / "registered"),
    ]
    (home / ".conda/environments.txt").write_text(f"{mine[1]}\n")
    seen = Discovery().find(places({}, [str(home), str(neighbour)], known=[str(mine[2])]))
    paths = {one.path for one in seen}
    assert {*map(str, mine)} <= paths
    assert sum(path.startswith(str(neighbour)) for path in paths) <= 3


@pytest.mark.parametrize("end", ["\r\n", "\n", "\n\n"])
def test_a_list_may_have_ends_of_windows_bytes_of_anybody_and_be_huge(home: Path, end: str) -> None:
    paths = [make_conda(home / "a b/train"), make_conda(home / "训练")]
    (home / ".conda").mkdir()
    lines = [*map(os.fsencode, paths), b"/\xff\xfe/gone", b"\x00", f"/{home}".encode() * 50]
    raw = end.encode().join(lines) + end.encode()
    (home / ".conda/environments.txt").write_bytes(raw + b"/gone/for/long\n" * 200_000)
    assert set(found(home)) == {*map(str, paths)}


@pytest.mark.parametrize("root", ["miniconda3", "miniforge3", "micromamba", ".local/share/mamba"])
def test_the_usual_roots_and_the_root_itself_are_looked_at(home: Path, root: str) -> None:
    base, env = make_conda(home / root), make_conda(home / root / "envs/train")
    assert set(found(home)) == {str(base), str(env)}


def test_condarc_and_variables_name_folders(home: Path) -> None:
    by_rc, by_variable = make_conda(home / "a/one"), make_conda(home / "b/two")
    (home / ".condarc").write_text("envs_dirs:\n  - ~/never\n  - " + str(home / "a") + "\n")
    assert set(found(home, {"CONDA_ENVS_PATH": f"{home / 'b'}:/nowhere"})) == {str(by_rc), str(by_variable)}


@pytest.mark.parametrize(
    ("name", "value"),
    [("CONDA_DIR", "{root}"), ("XDG_DATA_HOME", "{above}"), ("PATH", "/usr/bin:{root}/condabin:/bin")],
)
def test_other_variables_name_a_root_too(home: Path, name: str, value: str) -> None:
    base, env = make_conda(home / "apps/mamba"), make_conda(home / "apps/mamba/envs/train")
    environ = {name: value.format(root=base, above=base.parent)}
    assert set(found(home, environ)) == {str(base), str(env)}


def test_the_installation_that_a_server_runs_from_needs_no_variable(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_conda(home / "tljh/user")
    own, other = make_conda(base / "envs/hub"), make_conda(base / "envs/train")
    monkeypatch.setattr(sys, "prefix", str(own))
    assert set(found(home)) == {str(base), str(own), str(other)}


def test_an_environment_on_a_list_leads_to_its_installation(home: Path) -> None:
    base = make_conda(home / "apps/py3")
    listed, other = make_conda(base / "envs/one"), make_conda(base / "envs/two")
    (home / ".conda").mkdir()
    (home / ".conda/environments.txt").write_text(f"\ufeff{listed}\n", encoding="utf-8")
    assert set(found(home)) == {str(base), str(listed), str(other)}


@pytest.mark.parametrize("folder", ["lib/python3.11/site-packages", "local/lib/python3.11/dist-packages"])
@pytest.mark.parametrize("shared", ["true", "false"])
def test_a_venv_has_the_packages_of_the_python_beneath_where_it_says_so(home: Path, folder: str, shared: str) -> None:
    """As on images whose torch and ipykernel are the system's."""
    below = home / "usr"
    for package in ("ipykernel", "torch"):
        (below / folder / package).mkdir(parents=True)
    (below / folder / "torch/version.py").write_text("__version__ = '2.4.0'\n")
    path = home / ".conda/envs/train"
    (path / "lib/python3.11/site-packages").mkdir(parents=True)
    settings = {"home": f"{below}/bin", "include-system-site-packages": shared, "version": "3.11.4"}
    (path / "pyvenv.cfg").write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
    [one] = found(home).values()
    has = shared == "true"
    assert (one.has_ipykernel, one.frameworks) == (has, {"torch": "2.4.0"} if has else {})


def test_a_venv_whose_settings_no_file_system_knows_is_passed_over(home: Path) -> None:
    path = home / ".conda/envs/train"
    (path / "lib/python3.11/site-packages").mkdir(parents=True)
    text = "home = /usr\0/bin\nversion = 3.11.4\ninclude-system-site-packages = true\n"
    (path / "pyvenv.cfg").write_text(text)
    other = make_conda(home / ".conda/envs/other")
    assert str(other) in found(home)


RCS = (
    ".condarc", ".conda/condarc", ".conda/condarc.d/a.yml", ".mambarc", ".config/conda/.condarc", "miniconda3/condarc",
)  # fmt: skip


@pytest.mark.parametrize("rc", RCS)
@pytest.mark.parametrize("start", ["~", "$HOME", "${HOME}"])
def test_what_a_condarc_calls_home_is_its_owners(
    home: Path, rc: str, start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(home) if rc.startswith("miniconda3") else "/nowhere")
    path = make_conda(home / "my envs/train")
    (home / rc).parent.mkdir(parents=True, exist_ok=True)
    (home / rc).write_text(f"envs_dirs:\n  - {start}/my envs\n  - {start}else\n")
    assert list(found(home)) == [str(path)]


def test_variables_name_condarcs(home: Path) -> None:
    path = make_conda(home / "more/train")
    for name, rc in (("CONDARC", "odd.yml"), ("XDG_CONFIG_HOME", "conda/condarc")):
        (home / rc).parent.mkdir(exist_ok=True)
        (home / rc).write_text(f"envs_dirs: ['{home}/more']\n")
        assert list(found(home, {name: str(home / rc if name == "CONDARC" else home)})) == [str(path)]
        (home / rc).unlink()


DAMAGED = (
    "envs_dirs: [", "- 1", "envs_dirs: 7", "envs_dirs:\n  - 7\n  - {a: b}", "\x00\xff", "a: &a [*a]",
    "envs_dirs: !!bool x", "envs_dirs: !!int ''", "envs_dirs: !!timestamp x", "envs_dirs: !!python/name:os.system x",
    'envs_dirs: ["~foo\\0/x", "/x\\0", "/x\\ud800", "$HOME\\ud800"]', "envs_dirs: [/x]\n" + "#" * (1 << 20),
    "envs_dirs: []\na0: &a0 {x: 1}\n" + "\n".join(
        f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 20)
    ),
)  # fmt: skip


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_condarc_names_nothing_and_breaks_nothing(home: Path, text: str) -> None:
    (home / ".condarc").write_text(text, encoding="latin-1")
    assert found(home) == {}


def test_the_active_environment_and_its_program_name_their_root(home: Path) -> None:
    env = make_conda(home / "odd/place/envs/train")
    other = make_conda(home / "odd/place/envs/other")
    assert set(found(home, {"CONDA_PREFIX": str(env)})) == {str(env), str(other)}
    assert set(found(home, {"MAMBA_ROOT_PREFIX": str(home / "odd/place")})) == {str(env), str(other)}


@pytest.mark.parametrize("folder", ["bin", "bin/", "condabin", "envs/train/bin"])
def test_an_installation_that_path_alone_names_is_found(home: Path, folder: str) -> None:
    """`ENV PATH=/data/miniforge3/bin:$PATH`, as images have it."""
    root = make_conda(home / "odd/miniforge")
    env = make_conda(root / "envs/train")
    assert set(found(home, {"PATH": f"/bin:{root}/{folder}::/usr/bin:bin:/"})) == {str(root), str(env)}


def test_one_environment_under_two_names_is_one(home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train")
    (home / "miniconda3/envs/alias").symlink_to(env)
    assert list(found(home)) == [str(env)]


def test_a_link_in_a_circle_a_file_and_a_folder_without_marks_are_none(home: Path) -> None:
    envs = home / "miniconda3/envs"
    envs.mkdir(parents=True)
    (envs / "circle").symlink_to(envs / "circle")
    (envs / "file").write_text("")
    (envs / "empty").mkdir()
    assert found(home) == {}


def test_what_an_environment_has_is_told_from_its_files(home: Path) -> None:
    env = make_conda(
        home / "miniconda3/envs/训练 'a' \"b\"", ("python-3.9.18-h1", "pytorch-2.3.1-cuda", "r-base-4.3.1-h2")
    )
    site = env / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for name in ("mindspore-2.3.0.dist-info", "ipykernel-6.29.5.dist-info", "torch_npu-2.1.0.post6.dist-info"):
        (site / name).mkdir()
    (env / "share/jupyter/kernels/ir").mkdir(parents=True)
    (env / "share/jupyter/kernels/ir/kernel.json").write_text('{"argv": ["R"]}')
    (env / "share/jupyter/kernels/python3").mkdir()
    one = found(home)[str(env)]
    assert (one.name, one.kind, one.python, one.has_ipykernel) == ("训练 'a' \"b\"", "conda", "3.9.18", True)
    assert one.kernels == ("ir",)
    assert one.frameworks == {"torch": "2.3.1", "mindspore": "2.3.0", "torch_npu": "2.1.0.post6"}


@pytest.mark.parametrize("version", ["3.8.20", "3.11.4", "3.13.0rc1"])
def test_usual_places_and_records_tell_the_same(home: Path, version: str) -> None:
    has = {"ipykernel": "6.29.5", "torch": "2.3.1+cpu", "tensorflow": "2.16.1", "mindspore": "2.3.0", "numpy": "1.26.4"}
    env = make_laid_out(home / "miniconda3/envs/train", has, version)
    (env / "share/jupyter/kernels/ir").mkdir()
    (env / "share/jupyter/kernels/ir/kernel.json").write_text('{"argv": ["R"]}')
    (env / "share/jupyter/kernels/python3").mkdir(exist_ok=True)
    quick = found(home)[str(env)]
    assert (quick.python, quick.has_ipykernel, quick.kernels) == (version, True, ("ir",))
    assert quick.frameworks == {"torch": "2.3.1+cpu", "tensorflow": "2.16.1", "mindspore": "2.3.0"}
    (env / "bin/python").unlink()  # nothing is in its usual place any more, so that the records are read
    slow = found(home)[str(env)]
    assert slow.frameworks == quick.frameworks and slow == quick


HOSTILE_VERSIONS = ("import os", "__version__ = '<b>2</b>'", "__version__ = '" + "9" * 5000 + "'", "\x00\xff", "")


@pytest.mark.parametrize("text", HOSTILE_VERSIONS)
def test_a_version_file_that_says_none_is_not_believed(home: Path, text: str) -> None:
    env = make_laid_out(home / "miniconda3/envs/train", {"torch": "2.3.1", "jax": "0.4.30"})
    site = env / "lib/python3.11/site-packages"
    (site / "torch/version.py").write_text(text, encoding="latin-1")
    (site / "jax/version.py").unlink()
    os.mkfifo(site / "jax/version.py")  # would be waited for without end
    assert found(home)[str(env)].frameworks == {"torch": "2.3.1", "jax": "0.4.30"}


def test_what_pip_installs_or_takes_away_is_seen_at_the_next_look(home: Path) -> None:
    env = make_laid_out(home / "miniconda3/envs/train", {"numpy": "1.26.4"})
    site = env / "lib/python3.11/site-packages"
    discovery, where = Discovery(), places({}, [str(home)])

    def has() -> bool:
        return next(one.has_ipykernel for one in discovery.find(where) if one.path == str(env))

    assert not has()
    for _ in range(3):  # so soon that the folder's time may be the same
        (site / "ipykernel").mkdir()
        assert has()
        (site / "ipykernel").rmdir()
        assert not has()


def test_a_kernel_whose_file_comes_long_after_its_folder_or_is_mended_is_seen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installer writes folders first; and whoever mends a file does not touch the folder above it."""
    monkeypatch.setattr(discover, "OWN_KERNELS", 0.0)
    spec = make_laid_out(home / "miniconda3/envs/r", {}) / "share/jupyter/kernels/ir"
    spec.mkdir()
    discovery, where, year = Discovery(), places({}, [str(home)]), 365 * 24 * 3600
    old = [path for path in (home / "miniconda3/envs/r").rglob("*") if path.is_dir()]

    def kernels() -> tuple[str, ...]:
        for path in old:  # what was read long after a change is read again only after another one
            os.utime(path, (year, year))
        [one] = [one for one in discovery.find(where) if one.path.startswith(str(home))]
        return one.kernels

    said = []
    for number, text in enumerate(("", "{", '{"argv": ["R"]}', "[]")):
        if text:
            (spec / "kernel.json").write_text(text)
            os.utime(spec / "kernel.json", (year + number, year + number))
        said.append((kernels(), kernels()))
    assert said == [((), ()), ((), ()), (("ir",), ("ir",)), ((), ())]


def test_no_folder_of_packages_is_listed_for_environments_as_conda_lays_them_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_laid_out(home / f"miniconda3/envs/{number}", {"torch": "2.3.1", "ipykernel": "6.29.5"})
    listed: list[str] = []
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(str(path)) or real(path))
    assert len(found(home)) == 3
    assert {Path(path).name for path in listed} == {"kernels"}


def test_a_venv_that_is_named_is_found_with_its_python(home: Path) -> None:
    path = home / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    one = found(home, extra=(str(path),))[str(path)]
    assert (one.kind, one.python, one.has_ipykernel) == ("venv", ".".join(map(str, sys.version_info[:3])), False)


def test_what_changed_is_read_again_and_what_did_not_is_not(home: Path) -> None:
    env = make_conda(home / "miniconda3/envs/train", ("python-3.11.4-h1",))
    discovery, where = Discovery(), places({}, [str(home)])
    first = discovery.find(where)
    again = discovery.find(where)
    assert [one is two for one, two in zip(first, again, strict=True)] == [True] * len(first)
    (env / "conda-meta/ipykernel-6.29.0-py_0.json").write_text("{}")
    os.utime(env / "conda-meta", (1, 1))
    mine = [one for one in discovery.find(where) if one.path == str(env)]
    assert mine[0].has_ipykernel


NOBODY = """
import os, sys
from jupyter_aiarts.kernelspecs.discover import Discovery
from jupyter_aiarts.kernelspecs.places import places
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print([one.path for one in Discovery().find(places({}, [sys.argv[1]])) if one.path.startswith(sys.argv[1])])
"""


def test_a_home_that_may_not_be_read_is_passed_over(home: Path) -> None:
    make_conda(home / "miniconda3/envs/hidden")
    home.chmod(0o700 if os.getuid() == 0 else 0)
    out = subprocess.run([sys.executable, "-c", NOBODY, str(home)], capture_output=True, text=True, cwd="/")
    home.chmod(0o700)
    assert (out.returncode, out.stdout.strip()) == (0, "[]"), out.stderr
