"""What fits on free cards is counted as placement itself would hand them out, and cards are never lost or made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_aiarts.model.cluster import SIZES, fitting, split_cards, together
from jupyter_aiarts.model.placement import choose_cards

NPU, GPU = "huawei_npu_arm64", "nvidia_gpu_amd64"


@given(device=st.sampled_from([NPU, GPU]), free=st.frozensets(st.integers(0, 15)), size=st.sampled_from(SIZES))
def test_as_many_jobs_fit_as_can_be_given_cards_one_after_the_other(
    device: str, free: frozenset[int], size: int
) -> None:
    left, jobs = set(free), 0
    while (cards := choose_cards(left, size, device)) is not None:
        left -= set(cards)
        jobs += 1
    assert fitting(device, free)[str(size)] == jobs


@given(device=st.sampled_from([NPU, GPU]), free=st.integers(0, 16))
def test_a_number_of_cards_counts_as_if_the_lowest_were_free(device: str, free: int) -> None:
    assert fitting(device, free) == fitting(device, frozenset(range(free)))


@given(cards=st.integers(0, 16), held=st.integers(0, 32))
def test_free_and_held_are_what_there_is_and_what_is_missing(cards: int, held: int) -> None:
    free, missing = split_cards(cards, held)
    assert free >= 0 and missing >= 0 and free + held == cards + missing and not (free and missing)


def test_nodes_and_clusters_add_up() -> None:
    node = fitting(GPU, 5)
    assert node == {"1": 5, "2": 2, "4": 1, "8": 0, "nodes_of_8": 0}
    both = together([{GPU: node}, {GPU: fitting(GPU, 8)}])
    assert both is not None
    assert both == {GPU: {"1": 13, "2": 6, "4": 3, "8": 1, "nodes_of_8": 1}}
    assert together([both, None, {NPU: fitting(NPU, 8)}]) == {**both, NPU: fitting(NPU, 8)}


@pytest.mark.parametrize("views", [[], [None], [None, None]])
def test_what_nobody_may_see_stays_unknown(views: list[None]) -> None:
    assert together(views) is None
