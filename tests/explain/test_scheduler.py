"""A scheduler's count of nodes, read clause by clause: what decides, and the sum over all of them."""

from __future__ import annotations

import pytest

from jupyter_aiarts.explain.rules import root
from jupyter_aiarts.explain.rules.scheduler import clauses
from jupyter_aiarts.model.cause import Cause
from tests.explain.speaking import check_hostile, check_linear, check_pieces, form, heard

TAIL = " preemption: 0/8 nodes are available: 8 Insufficient memory."
"""What comes behind `preemption:` is about others, whatever it says."""

SAID = [  # what a scheduler said, the form, and what the sum has; the first six were seen (samples/situations.json)
    (
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption "
        "victims found for incoming pod..",
        "no-node-cards",
        "1 node: too few nvidia.com/gpu free, or none offered",
    ),
    (
        "0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't "
        "tolerate, 2 node(s) had volume node affinity conflict.",
        "no-node-volume",
        "2 nodes: the volume is elsewhere; 1 node: reserved by the taint node-role.kubernetes.io/master",
    ),
    (
        "0/2 nodes are available: 1 Insufficient memory, 1 Pod is waiting for preemptible or free resource to appear: "
        "have to use at least one bad node 1/192.0.2.7 when scheduling in VC default, 1 node(s) didn't match node "
        "selector.",
        "no-node-memory",
        "1 node: too little memory free",
    ),
    (
        "0/3 nodes are available: 3 Too many pods. preemption: 0/3 nodes are available: 3 No preemption victims found "
        "for incoming pod.",
        "no-node-pods",
        "3 nodes: full of pods",
    ),
    (
        "0/8 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 6 Insufficient "
        "huawei.com/Ascend910. preemption: 0/8 nodes are available: 2 Preemption is not helpful for scheduling, 6 No "
        "preemption victims found for incoming pod.",
        "no-node-cards",
        "6 nodes: too few huawei.com/Ascend910 free, or none offered; 2 nodes: another kind of node",
    ),
    # variants that were thought of after the rules were written
    ("0/2 nodes are available: 2 node(s) were unschedulable." + TAIL, "no-node-cordoned", "2 nodes: closed"),
    (
        "0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient nvidia.com/gpu." + TAIL,
        "no-node-cards",
        "3 nodes: too few nvidia.com/gpu free, or none offered; 1 node: closed for new jobs",
    ),
    (
        "0/2 nodes are available: 2 node(s) had untolerated taint {gpu: reserved}. no new claims to deallocate," + TAIL,
        "no-node-tainted",
        "2 nodes: reserved by the taint gpu",
    ),
    ("0/2 nodes are available: 2 node(s) had untolerated taint(s)." + TAIL, "no-node-reserved", "2 nodes: reserved"),
    (
        "0/5 nodes are available: 5 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.",
        "no-node-down",
        "5 nodes: not ready",
    ),
    (
        "0/5 nodes are available: 5 node(s) had taint {node.kubernetes.io/disk-pressure: }, that the pod didn't "
        "tolerate.",
        "no-node-strained",
        "5 nodes: short of memory or disk",
    ),
    (
        "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 2 node(s) didn't match Pod's node "
        "affinity/selector." + TAIL,
        "no-node-memory",
        "1 node: too few CPUs free",
    ),
    (
        "0/2 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) were unschedulable.",
        "no-node-cordoned",
        "1 node: holds another node of it",
    ),
    (
        "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.",
        "no-node-apart",
        "2 nodes",
    ),
    ("0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.", "no-node-ports", "2"),
    ("0/9 nodes are available: 9 Insufficient ephemeral-storage.", "no-node-amount", "9 nodes: too little ephemeral"),
    (
        "0/1 nodes are available: 1 Insufficient hugepages-2Mi. still not schedulable, preemption: x",
        "no-node-amount",
        "1",
    ),
    ("0/2 nodes are available: 2 node(s) exceed max volume count.", "no-node-volume", "2 nodes"),
    (
        "0/6 nodes are available: 3 node(s) didn't match pod topology spread constraints, 3 node(s) didn't match Pod's "
        "node affinity/selector.",
        "no-node-near",
        "3 nodes: too far",
    ),
    (
        "4/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 1 Unschedulable, "
        "3 Undetermined. 0/2 nodes are unavailable: 2 Insufficient huawei.com/Ascend910.",
        "no-node-cards",
        "2 nodes: too few huawei.com/Ascend910",
    ),
]


@pytest.mark.parametrize(("said", "name", "part"), SAID)
def test_the_clause_that_decides_is_found_and_all_are_counted(said: str, name: str, part: str) -> None:
    found = heard("no-node-fits", said)
    assert form("no-node-fits", said) == ("no-node-fits", name)
    assert part in found.why and found.actions[-1].command == "aiarts cluster"
    assert not any(one.patch for one in found.actions)  # how much is free is nowhere said


@pytest.mark.parametrize(("said", "name", "part"), SAID)
def test_cut_anywhere_it_says_the_same_code_or_less(said: str, name: str, part: str) -> None:
    check_pieces("no-node-fits", said, {"unknown", "quota-exceeded"} if "gang" in said else {"unknown"})


def test_nothing_is_called_busy_that_may_not_be_there() -> None:
    found = heard("no-node-fits", SAID[0][0])
    assert "busy" not in f"{found.title} {found.why}" and "offers none" in found.why


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("0/4 nodes are available: 4 pod has unbound immediate PersistentVolumeClaims.", "claim-unbound"),
        ("0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found", "claim-unbound"),
        ("0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind.", "claim-unbound"),
        ('0/2 nodes are available: persistentvolumeclaim "data" not found. not found', "claim-gone"),
        ('0/2 nodes are available: persistentvolumeclaim "data" is being deleted. not found', "claim-unbound"),
        ('persistentvolumeclaim "data" not found', "claim-gone"),
    ],
)
def test_a_claim_is_storage_and_not_a_node(said: str, name: str) -> None:
    assert form("mount-missing", said) == ("mount-missing", name)
    heard("mount-missing", said)


def test_volcano_says_it_in_its_own_words() -> None:
    label = (
        "1 node check failed. for details,log by search keywords <checkNodeNPUByTask : check Node node-a label "
        "[accelerator-type] Failed, value is module-910b-8> in volcano's log."
    )
    assert "accelerator-type=module-910b-8" in heard("no-node-fits", label).why
    assert form("no-node-fits", "resource in cluster is overused") == ("quota-exceeded", "volcano-overused")
    gang = "1/1 tasks in gang unschedulable: pod group is not ready, 1 Pending, 1 minAvailable; Pending: 1 Undetermined"
    assert form("no-node-fits", gang) == ("no-node-fits", "gang-waits")


@pytest.mark.parametrize(
    "said", ["", "没有可用节点", "0/3 nodes are available: 3 nobody knows this plugin.", "0/x nodes"]
)
def test_words_that_nobody_knows_stay_as_they_are(said: str) -> None:
    assert form("no-node-fits", said) == ("no-node-fits", "")


def test_a_clause_keeps_its_own_commas_and_numbers() -> None:
    total, found = clauses(SAID[1][0])
    assert (total, [(one.nodes, one.kind) for one in found]) == (3, [(1, "tainted"), (2, "volume")])


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("no-node-fits", "mount-missing", "unknown"))
    for text in ("0/1 nodes are available: 1 ", "1 Insufficient a, ", "check Node a label [", "{node-"):
        check_linear("no-node-fits", text)


@pytest.mark.parametrize(
    ("cpu", "memory", "form"), [(2, 1, "no-node-cpu"), (1, 2, "no-node-memory"), (1, 1, "no-node-memory")]
)
def test_of_two_amounts_the_one_that_more_nodes_lack_decides(cpu: int, memory: int, form: str) -> None:
    line = f"0/2 nodes are available: {cpu} Insufficient cpu, {memory} Insufficient memory."
    assert root(Cause(code="no-node-fits", evidence=(line,))).form == form
