"""Folding: what a person wants to see of progress and repetition."""

from __future__ import annotations

import pytest

from jupyter_aiarts.engines.logs import LogLine, LogQuery, fold, open_log


def lines(*texts: str, rank: int = 0) -> list[LogLine]:
    return [
        LogLine(seq=f"{n:x}.{rank:x}.0.{n:x}.1", t="", node=0, rank=rank, stream="stdout", text=text)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        ([], []),
        (["a"], [("a", 0)]),
        (["a", "a"], [("a", 1)]),
        (["a", "a", "b", "a"], [("a", 1), ("b", 0), ("a", 0)]),
        (["step 1", "step 2"], [("step 1", 0), ("step 2", 0)]),
        (["step 1", "step 2", "step 3"], [("step 3", 2)]),
        (["loss 1.5e-3", "loss 9", "loss -0.1"], [("loss -0.1", 2)]),
        (["10% [=>   ]", "50% [==>  ]", "99% [====>]"], [("99% [====>]", 2)]),
        (["10%\r20%\r30%"], [("30%", 2)]),
        (["\r 50%|█████     | 1/2\r100%|██████████| 2/2\r"], [("100%|██████████| 2/2", 1)]),
        (["\r"], [("", 0)]),
        (["1%\r2%", "3%\r4%", "5%\r6%"], [("6%", 5)]),
        (
            ["error 1", "warning 1", "error 2", "warning 2"],
            [("error 1", 0), ("warning 1", 0), ("error 2", 0), ("warning 2", 0)],
        ),
    ],
)
def test_what_folds(texts: list[str], shown: list[tuple[str, int]]) -> None:
    """Equal lines always; numbers and bars from three on; rewritten lines to their last state."""
    folded = fold(lines(*texts))
    assert [(line.text, line.folded) for line in folded] == shown
    assert fold(folded) == folded


def test_ranks_fold_each_for_itself_also_when_interleaved() -> None:
    """Eight ranks that print the same progress in turns leave eight lines."""
    progress = [line for step in range(5) for rank in range(8) for line in lines(f"step {step}", rank=rank)]
    folded = fold(progress)
    assert [(line.rank, line.text, line.folded) for line in folded] == [(rank, "step 4", 4) for rank in range(8)]


def test_pieces_of_a_long_line_never_fold(log_folder) -> None:
    """Equal pieces are one line's text, not repetition."""
    log_folder.write(b"y" * 300_000 + b"\n")
    log = open_log(log_folder.run)
    assert log.lines(LogQuery(fold=True)) == log.lines(LogQuery())


def test_paging_through_folded_lines_covers_the_log_once(log_folder) -> None:
    """The first line's cursor stands for the whole page, folded lines included."""
    for number in range(100):
        log_folder.write(b"step %d\n" % number, rank=number % 3)
    log = open_log(log_folder.run)
    page = log.lines(LogQuery(tail=20, fold=True))
    covered = sum(1 + line.folded for line in page)
    while page := log.lines(LogQuery(before=page[0].seq, limit=20, fold=True)):
        covered += sum(1 + line.folded for line in page)
    assert covered == 100
