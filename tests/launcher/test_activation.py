"""The environment a job names is activated as its users know it, once, before any rank starts."""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.launcher import activation
from jupyter_aiarts.launcher.activation import learn
from jupyter_aiarts.launcher.problem import Refused
from tests.kernelspecs.conftest import make_conda

from .pods import Pods

BASE = {"PATH": "/usr/bin:/bin", "VIRTUAL_ENV": "/another", "PYTHONHOME": "/x", "KEPT": "a\nb='$(id)'", "odd.name": "1"}


def scripted(tmp_path: Path, **scripts: str) -> Path:
    """A conda environment with these activation scripts."""
    path = make_conda(tmp_path / "it's a 训练 {x}")
    folder = path / "etc/conda/activate.d"
    folder.mkdir(parents=True)
    for name, text in scripts.items():
        (folder / f"{name}.sh").write_text(text)
    return path


def test_a_conda_environment_sets_what_conda_sets(tmp_path: Path) -> None:
    path = scripted(tmp_path, lib='export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"; echo noise; read line; unset KEPT\n')
    change = learn(str(path), BASE)
    assert change.set == {
        "PATH": f"{path}/bin:/usr/bin:/bin",
        "CONDA_PREFIX": str(path),
        "CONDA_DEFAULT_ENV": path.name,
        "CONDA_SHLVL": "1",
        "CONDA_PROMPT_MODIFIER": f"({path.name}) ",
        "LD_LIBRARY_PATH": f"{path}/lib",
    }
    assert change.unset == {"VIRTUAL_ENV", "PYTHONHOME", "KEPT"}


def test_a_venv_sets_what_its_own_script_sets(tmp_path: Path) -> None:
    (tmp_path / "pyvenv.cfg").write_text("")
    change = learn(str(tmp_path), BASE)
    assert change.set == {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(tmp_path)}


def test_variables_that_are_kept_as_json_count_and_scripts_win_over_them(tmp_path: Path) -> None:
    path = scripted(tmp_path, zz="export BOTH=script\n")
    (path / "etc/conda/env_vars.d").mkdir()
    (path / "etc/conda/env_vars.d/pkg.json").write_text('{"FROM_PACKAGE": "p", "STATE_WINS": "no"}')
    (path / "etc/conda/env_vars.d/broken.json").write_text("{")
    said = {"STATE_WINS": "yes $(touch hacked)", "BOTH": "state", "bad-name": "x", "GONE": "***unset***"}
    (path / "conda-meta/state").write_text(json.dumps({"env_vars": said}))
    change = learn(str(path), BASE).set
    assert [change.get(name) for name in ("FROM_PACKAGE", "STATE_WINS", "BOTH", "GONE", "bad-name")] == [
        "p", "yes $(touch hacked)", "script", None, None,
    ]  # fmt: skip
    assert not (tmp_path / "hacked").exists() and not Path("hacked").exists()


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_a_script_that_fails_or_cannot_be_read_keeps_nothing_from_starting(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """conda-forge's compilers bring scripts that only bash can read; sh is all that some images have."""
    monkeypatch.setattr(activation, "SHELLS", (shell,))
    path = scripted(
        tmp_path,
        a_bash="function f() { [[ 1 == 1 ]] && export BASH_READ=1; }\nf\n",
        b_fails="false\n",
        c_turns="set -- x y; prefix=/nowhere; name=z\n",
        d_last="export LAST=1\n",
    )
    change = learn(str(path), BASE).set
    assert change["LAST"] == "1" and change["CONDA_PREFIX"] == str(path)
    assert ("BASH_READ" in change) == (shell == "/bin/bash" or os.path.realpath(shell).endswith("bash"))


def test_a_script_that_ends_the_shell_is_told_with_its_code_and_last_words(tmp_path: Path) -> None:
    path = scripted(tmp_path, a="echo 'no licence' >&2; exit 3\n")
    with pytest.raises(Refused) as caught:
        learn(str(path), BASE)
    assert "code 3" in str(caught.value) and "no licence" in str(caught.value)


def test_a_script_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activation, "SECONDS", 2.0)  # enough to begin, on a machine that is busy
    path = scripted(tmp_path, a=f'sleep 1000 & echo $! > "{tmp_path}/pid"; wait\n')
    with pytest.raises(Refused, match="not ended"):
        learn(str(path), BASE)
    try:
        ended = os.pidfd_open(int((tmp_path / "pid").read_text()))
    except ProcessLookupError:
        return
    assert select.select([ended], [], [], 20)[0]  # it was told to end, and does when its turn comes
    os.close(ended)


def test_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not there"):
        learn(str(tmp_path / "gone"), BASE)


def test_a_large_environment_comes_through_whole(tmp_path: Path) -> None:
    path = scripted(tmp_path, a="export LONG=$(head -c 100000 /dev/zero | tr '\\0' x)\n")
    assert len(learn(str(path), {"PATH": os.environ["PATH"]}).set["LONG"]) == 100_000


def test_bytes_that_are_not_utf8_stay_as_they_are(tmp_path: Path) -> None:
    path = scripted(tmp_path, a="export RAW=$(printf '\\377')\n")
    assert learn(str(path), {"PATH": "/usr/bin:/bin"}).set["RAW"] == b"\xff".decode("utf-8", "surrogateescape")


def test_ranks_in_a_pod_run_in_it_and_pod_env_has_it(pods: Pods, tmp_path: Path) -> None:
    """The launcher there is a zip, and the image's own Python runs it."""
    path = scripted(tmp_path, a='export FROM_SCRIPT="$CONDA_DEFAULT_ENV"\n')
    line = 'echo "$CONDA_PREFIX"; . "$AIARTS_POD_ENV"; echo "$FROM_SCRIPT"; command -v python'
    pods.shell(line, environment=str(path)).start()
    assert pods.wait() == 0
    assert pods.log().decode().splitlines() == [str(path), path.name, f"{path}/bin/python"]


def test_a_pod_without_it_ends_with_the_reason(pods: Pods, tmp_path: Path) -> None:
    pods.shell("echo never", environment=str(tmp_path / "gone")).start()
    assert pods.wait() == 1
    assert "the environment of the job is not there" in json.dumps(pods.message())


def test_variables_of_an_environment_without_a_python_count_too(tmp_path: Path) -> None:
    """As one of R has none."""
    path = scripted(tmp_path)
    (path / "bin/python").unlink()
    (path / "conda-meta/state").write_text(json.dumps({"env_vars": {"R_LIBS_SITE": "/x"}}))
    assert learn(str(path), {**BASE, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}).set["R_LIBS_SITE"] == "/x"


SHELLS = pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])


@SHELLS
def test_what_was_active_before_is_left_first_as_conda_does_it(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server often runs in an environment of its own: its pip must not be the pip of this one."""
    monkeypatch.setattr(activation, "SHELLS", (shell,))
    path = scripted(tmp_path, a="export MINE=1\n")
    server = make_conda(tmp_path / "server's own")
    (server / "conda-meta/state").write_text('{"env_vars": {"FROM_STATE": "x", "PATH": "never"}}')
    (server / "etc/conda/deactivate.d").mkdir(parents=True)
    (server / "etc/conda/deactivate.d/a.sh").write_text('unset LD_LIBRARY_PATH CONDA_PREFIX; export ORDER="$ORDER a"\n')
    (server / "etc/conda/deactivate.d/b.sh").write_text('export ORDER="b in $CONDA_PREFIX"; set -eu\n')
    active = {
        "PATH": f"{server}/bin:/usr/bin:/bin:{server}/bin",
        "CONDA_PREFIX": str(server), "CONDA_DEFAULT_ENV": "server", "CONDA_SHLVL": "2", "CONDA_PREFIX_1": "/base",
        "LD_LIBRARY_PATH": f"{server}/lib", "FROM_STATE": "x", "KEPT": "y",
    }  # fmt: skip
    change = learn(str(path), active)
    assert change.set["PATH"] == f"{path}/bin:/usr/bin:/bin:{server}/bin"  # the second was there before conda came
    assert (change.set["CONDA_PREFIX"], change.set["CONDA_SHLVL"], change.set["MINE"]) == (str(path), "1", "1")
    assert change.set["ORDER"] == f"b in {server} a"
    assert change.unset == {"LD_LIBRARY_PATH", "FROM_STATE"}
    (tmp_path / "venv").mkdir()
    change = learn(str(tmp_path / "venv"), {**active, "VIRTUAL_ENV": "/old", "PATH": f"/old/bin:{active['PATH']}"})
    assert change.set["PATH"] == f"{tmp_path}/venv/bin:/usr/bin:/bin:{server}/bin"
    assert {"CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH"} <= change.unset


@SHELLS
def test_what_a_script_does_to_its_shell_is_not_for_the_next_one(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation, "SHELLS", (shell,))
    path = scripted(tmp_path, a="set -eu\n", b='export SEEN="x$NOBODY_SET_THIS"\nfalse\n', c="export LAST=1\n")
    change = learn(str(path), BASE).set
    assert (change["SEEN"], change["LAST"]) == ("x", "1")


@SHELLS
def test_conda_itself_is_found_and_its_own_environment_is_called_base(
    tmp_path: Path, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activation, "SHELLS", (shell,))
    base = make_conda(tmp_path / "my conda")
    (base / "condabin").mkdir()
    (base / "bin/conda").write_text("#!/bin/sh\n")
    (base / "bin/conda").chmod(0o755)
    env = make_conda(base / "envs/train")
    found = learn(str(env), {"PATH": f"{base}/condabin:/usr/bin"}).set
    assert (found["PATH"], found["CONDA_DEFAULT_ENV"]) == (f"{env}/bin:{base}/condabin:/usr/bin", "train")
    assert found["CONDA_EXE"] == f"{base}/bin/conda"
    found = learn(str(base), {"PATH": "/usr/bin"}).set
    assert (found["PATH"], found["CONDA_DEFAULT_ENV"]) == (f"{base}/bin:{base}/condabin:/usr/bin", "base")
