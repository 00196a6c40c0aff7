"""What is filled in and what is refused before anything reaches a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from jupyter_aiarts.engines.kubernetes.checks import Prepared, prepare, settle
from jupyter_aiarts.engines.kubernetes.code import Shipment
from jupyter_aiarts.engines.kubernetes.settings import NodeSize
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.reading import Reading
from tests.engines.kubernetes.making import ALICE, NPU, make_reading, make_settings

BOARD = {"node": {"cards": 8, "cpu": 192, "memory_gb": 768}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("import torch\n")
    return tmp_path


def settled(settings: dict[str, Any] | None = None, node: NodeSize | None = None, **raw: Any) -> Any:
    return settle(make_reading(**raw), Path("/"), make_settings(**(settings or {})), node).spec


def prepared(home: Path, settings: dict[str, Any] | None = None, person: Person = ALICE, **raw: Any) -> Prepared:
    reading = make_reading(workdir=str(home), **raw)
    return prepare(reading, home, make_settings(**(settings or {})), person)


def problems(home: Path, settings: dict[str, Any] | None = None, person: Person = ALICE, **raw: Any) -> dict[str, str]:
    with pytest.raises(InvalidSpec) as caught:
        prepared(home, settings, person, **raw)
    return {problem["key"]: problem["message"] for problem in caught.value.problems}


# -- filled in -----------------------------------------------------------------------------------------------------


def test_a_cpu_job_gets_one_cpu_ten_gb_and_half_of_it_as_shared_memory() -> None:
    spec = settled()
    assert (spec.cpu, spec.memory_gb, spec.shm_gb) == (1, 10, 5)


def test_cards_bring_their_fair_share_of_a_node_that_the_admin_describes() -> None:
    spec = settled({"devices": {NPU: BOARD}}, device=NPU, devices=2)
    assert (spec.cpu, spec.memory_gb, spec.shm_gb) == (48, 192, 96)


def test_cards_bring_their_fair_share_of_a_node_that_was_seen() -> None:
    spec = settled(node=NodeSize(cards=8, cpu=64, memory_gb=2048), device="nvidia_gpu_amd64", devices=1)
    assert (spec.cpu, spec.memory_gb) == (8, 80)


def test_where_nobody_knows_a_nodes_size_a_card_brings_a_cpu() -> None:
    spec = settled(device=NPU, devices=4)
    assert (spec.cpu, spec.memory_gb) == (4, 40)


def test_defaults_stay_within_the_admins_limits() -> None:
    spec = settled({"limits": {"cpu": 8, "memory_gb": 20, "hours": 5}, "devices": {NPU: BOARD}}, device=NPU, nodes=2)
    assert (spec.cpu, spec.memory_gb, spec.max_hours) == (4, 10, 5)


def test_what_was_asked_for_is_never_changed() -> None:
    asked: dict[str, Any] = {"cpu": 0.0004, "memory_gb": 0.03, "shm_gb": 0, "framework": "none", "max_hours": 0.001}
    spec = settled({"devices": {NPU: BOARD}, "limits": {"hours": 2}}, device=NPU, **asked)
    assert {key: getattr(spec, key) for key in asked} == asked


def test_the_framework_is_guessed_from_the_start_file(home: Path) -> None:
    assert prepared(home).reading.spec.framework == "pytorch"
    assert settled(script="/no/such/file.py").framework == "none"


def test_relative_folders_are_below_the_callers(home: Path) -> None:
    reading = make_reading()
    plain = structs.replace(reading, spec=structs.replace(reading.spec, workdir=None))
    assert prepare(plain, home, make_settings(), ALICE).reading.spec.workdir == str(home)


def test_settling_twice_changes_nothing(home: Path) -> None:
    once = prepared(home).reading
    assert settle(once, Path("/elsewhere"), make_settings()).spec == once.spec


def test_a_job_that_is_prepared_again_says_nothing_twice(home: Path) -> None:
    once = prepared(home, {"limits": {"hours": 1}}, priority=3).reading
    again = prepare(once, home, make_settings(limits={"hours": 1}), ALICE).reading
    assert again == once and len(again.notes) == 3


# -- notes ---------------------------------------------------------------------------------------------------------


def test_what_has_no_effect_here_is_said(home: Path) -> None:
    notes = prepared(home, priority=9, preemptible=True, output_path="/out").reading.notes
    assert notes == [
        "priority has no effect: k8s maps no priorities.",
        "preemptible has no effect: k8s maps no class for it.",
    ]
    mapped = {"priorities": {5: "mid", "preemptible": "spot"}}
    assert prepared(home, mapped, priority=9, preemptible=True, output_path="/out").reading.notes == []
    assert prepared(home, output_path="/out").reading.notes == []  # a priority that nobody asked for


def test_results_that_go_with_the_pod_are_said() -> None:
    note = "SAVE_PATH is a folder in the pod and goes with it; set output_path to keep results."
    assert note in prepared(Path("/"), command="true", script=None).reading.notes
    assert note not in prepared(Path("/"), {"log_mount": "logs"}, command="true", script=None).reading.notes


def test_a_time_limit_that_the_admin_sets_is_said(home: Path) -> None:
    notes = prepared(home, {"limits": {"hours": 2}}, output_path="/o").reading.notes
    assert notes == ["max_hours is 2, the longest that a job may run on k8s."]


# -- refused -------------------------------------------------------------------------------------------------------


def test_all_problems_come_at_once_each_with_its_key(home: Path) -> None:
    found = problems(
        home,
        {"limits": {"cpu": 4, "memory_gb": 8, "devices": 8, "hours": 1}},
        script="missing.py",
        image=None,
        device="tpu",
        devices=16,
        cpu=5,
        memory_gb=9,
        max_hours=2,
        run_as="0:0",
        queue="q" * 64,
        mounts=[{"source": "/etc", "target": "/e"}, {"source": "a", "target": "/dev/x"}],
    )
    assert found == {
        "image": "Jobs on k8s run in a container. Set image to one that has python3.",
        "device": "k8s has no device tpu. It offers cpu, huawei_npu_amd64, huawei_npu_arm64, nvidia_gpu_amd64.",
        "cpu": "A job on k8s may have 4 CPUs, and this asks for 5.",
        "memory_gb": "A job on k8s may have 8 GB of memory, and this asks for 9.",
        "devices": "A job on k8s may have 8 cards, and this asks for 16.",
        "max_hours": "A job on k8s may have 1 hours, and this asks for 2.",
        "queue": "queue may have at most 63 characters here, and it has 64.",
        "run_as": "run_as is 0:0, and k8s allows image, user.",
        "mounts[0]": 'mounts[0] names "/etc" of the host, and no path of the host is allowed on k8s.',
        "mounts[1]": "mounts[1] has the target /dev/x, which belongs to the container itself.",
        "script": f"The start file {home}/missing.py is not there.",
    }


def test_limits_are_for_all_nodes_of_a_job_together(home: Path) -> None:
    assert "16 cards" not in str(prepared(home, {"limits": {"devices": 16}}, device=NPU, nodes=2).reading.notes)
    assert "asks for 24" in problems(home, {"limits": {"devices": 16}}, device=NPU, nodes=3)["devices"]


@pytest.mark.parametrize(
    ("allowed", "run_as", "fine"),
    [
        ([], "1000:1000", False),
        (["1000:1000"], "1000:1000", True),
        (["1000:1000"], "1000:0", False),
        (["*"], "31337:0", True),
        (["*"], "0:0", False),
        (["*", "0:0"], "0:0", True),
    ],
)
def test_ids_are_the_admins_word(home: Path, allowed: list[str], run_as: str, fine: bool) -> None:
    if fine:
        assert prepared(home, {"allow_run_as": allowed}, run_as=run_as).reading.spec.run_as == run_as
    else:
        assert "allows image, user" in problems(home, {"allow_run_as": allowed}, run_as=run_as)["run_as"]


def test_run_as_user_is_never_root_by_accident(home: Path) -> None:
    root = Person(owner="alice", user="alice", uid=0, gid=0)
    assert "this server runs as root" in problems(home, person=root, run_as="user")["run_as"]
    assert "this server runs as root" in problems(home, person=Person(owner="alice"), run_as="user")["run_as"]


def test_a_log_mount_without_a_folder_for_the_owner_is_refused(home: Path) -> None:
    found = problems(home, {"log_mount": "logs/{user}"}, Person(owner="alice@example.org", uid=1, gid=1))
    assert found["mounts"].startswith("The log mount of k8s needs {user}")


def test_what_would_not_fit_into_an_object_is_refused_with_the_key_that_is_too_large(home: Path) -> None:
    args = ["x" * 100_000 for _ in range(4)]
    message = problems(home, args=args)["args"]
    assert "at most 900.0 KiB can be kept in the cluster" in message and message.endswith("files on a mount.")
    env = {f"V{index}": "x" * 100_000 for index in range(4)}
    assert "env" in problems(home, env=env)
    secrets = {f"V{index}": "x" * 100_000 for index in range(10)}
    assert "secret_env" in problems(home, secret_env=secrets)


def test_ten_thousand_nodes_fit() -> None:
    reading = prepared(Path("/"), command="true", script=None, nodes=10_000, framework="none").reading
    assert isinstance(reading, Reading)


def test_a_run_that_is_run_again_may_keep_its_code(home: Path) -> None:
    reading = make_reading(script="gone.py", workdir=str(home))
    code = Shipment(
        kind="shipped", script_in_pod="/aiarts/run/code/gone.py", workdir_in_pod="/aiarts/run/code", zip=b"x"
    )
    assert prepare(reading, home, make_settings(), ALICE, same_code=code).shipment is code
