"""The environment of a job on a cluster: used where a mount has it, refused with the reason where none does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.code import Shipment, reuse, ship
from jupyter_aiarts.engines.kubernetes.mounts import pod_mounts
from jupyter_aiarts.engines.kubernetes.plan import plan_of
from jupyter_aiarts.explain.problems import said
from jupyter_aiarts.launcher.plan import from_json
from tests.engines.kubernetes.making import ALICE, make_order, make_reading, make_settings
from tests.kernelspecs.conftest import make_conda

ELF = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00"
AARCH64, X86_64 = ELF + b"\xb7\x00", ELF + b"\x3e\x00"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's folder, which pods have as /home/alice, with an environment whose Python is in it."""
    env = make_conda(tmp_path / "home/envs/train")
    (env / "bin/python").unlink()
    (env / "bin/python").write_bytes(X86_64)
    (env / "bin/python").chmod(0o755)
    (tmp_path / "home/train.py").write_text("")
    return tmp_path / "home"


def sent(home: Path, mounted: str | None = None, target: str = "/home/{user}", **raw: Any) -> Shipment:
    mount = {"source": "home/{user}", "target": target, "path": mounted or str(home)}
    settings = make_settings(default_mounts=[mount])
    spec = make_reading(**{"workdir": str(home), "environment": str(home / "envs/train"), **raw}).spec
    return ship(spec, pod_mounts(spec, settings, ALICE).mounts)


def test_on_a_mount_it_is_used_by_the_path_that_the_pod_knows(home: Path) -> None:
    made = sent(home)
    assert (made.environment, made.problems) == ("/home/alice/envs/train", ())
    assert any("/home/alice/envs/train in the pod" in note and "python -m" in note for note in made.notes)


def test_at_the_same_path_there_is_nothing_to_say(home: Path) -> None:
    made = sent(home, target=str(home))
    assert (made.environment, made.notes) == (str(home / "envs/train"), ())


def test_one_that_no_mount_has_is_refused_with_the_mounts_that_would_do(home: Path, tmp_path: Path) -> None:
    env = make_conda(tmp_path / "elsewhere/train")
    [problem] = sent(home, environment=str(env)).problems
    assert problem["key"] == "environment" and "no mount of the job has it" in problem["message"]
    assert f"Put it below {home}" in problem["message"]


def test_one_that_only_the_image_can_have_is_left_to_it(home: Path) -> None:
    made = sent(home, environment="/opt/only/in/the/image")
    assert made.environment == "/opt/only/in/the/image" and made.problems == ()
    assert any("not on this server" in note for note in made.notes)


def test_a_python_that_lies_outside_of_all_mounts_is_told(home: Path) -> None:
    python = home / "envs/train/bin/python"
    python.unlink()
    python.symlink_to(sys.executable)
    assert any("the image must have it" in note for note in sent(home, target=str(home)).notes)


def test_a_python_that_the_image_alone_has_is_told_and_not_refused(home: Path) -> None:
    """As of a venv that was made in the image, on a folder that this server has too."""
    python = home / "envs/train/bin/python"
    python.unlink()
    python.symlink_to("python3")
    (python.parent / "python3").symlink_to("/no/such/image/bin/python3.10")
    made = sent(home, target=str(home), script=str(home / "train.py"))
    assert (made.environment, made.problems) == (str(home / "envs/train"), ())
    assert any("/no/such/image/bin/python3.10" in note and "the image must have it" in note for note in made.notes)


def test_a_python_that_is_gone_from_a_mount_is_refused(home: Path) -> None:
    python = home / "envs/train/bin/python"
    python.unlink()
    for target in (None, "python3.11", home / "miniconda3/bin/python3"):
        python.unlink(missing_ok=True)
        if target is not None:
            python.symlink_to(target)
        [problem] = sent(home, target=str(home), script=str(home / "train.py")).problems
        assert "no Python that can be run" in problem["message"]


def test_one_for_another_processor_is_refused(home: Path) -> None:
    (home / "envs/train/bin/python").write_bytes(AARCH64)
    [problem] = sent(home, device="nvidia_gpu_amd64").problems
    assert "aarch64" in problem["message"] and "x86_64" in problem["message"]
    assert sent(home, device="huawei_npu_arm64").problems == ()


def test_a_folder_that_is_none_is_refused(home: Path) -> None:
    [problem] = sent(home, environment=str(home)).problems
    assert "neither a conda environment nor a venv" in problem["message"]


def test_whoever_reads_chinese_is_told_in_chinese(home: Path, tmp_path: Path) -> None:
    """Sentences are whole in both: none is left that has an English word of ours."""
    elsewhere = make_conda(tmp_path / "elsewhere/train")
    made = [sent(home), *(sent(home, environment=str(path)) for path in (elsewhere, "/opt/x", home))]
    python = home / "envs/train/bin/python"
    python.write_bytes(AARCH64)
    made.append(sent(home, device="nvidia_gpu_amd64"))
    python.unlink()
    python.symlink_to(sys.executable)
    made.append(sent(home, target=str(home)))
    texts = [text for one in made for text in (*one.notes, *(problem["message"] for problem in one.problems))]
    assert len(texts) == 6
    assert [text for text in texts if re.search(r"\b(?:the|The|has|which|it)\b", said(text, "zh"))] == []


def test_the_plan_of_the_pods_names_it_and_its_python(home: Path) -> None:
    order = make_order(shipment=sent(home))
    plan = from_json(plan_of(order))
    assert plan.environment == "/home/alice/envs/train"
    assert plan.start.python == "/home/alice/envs/train/bin/python"
    again = reuse(order.spec, plan_of(order), None)
    assert again.environment == "/home/alice/envs/train"
    assert "environment" not in plan_of(make_order())
