"""The group's decisions, without processes."""

from jupyter_aiarts.launcher.group import Group

PROBLEM = {"code": "start-file-missing", "message": "m", "hint": ""}


def gathered(nodes: int = 3, restarts: int = 0) -> Group:
    group = Group(nodes, restarts)
    orders = [group.join(node) for node in range(nodes)]
    assert orders == [[]] * (nodes - 1) + [["start"]]
    return group


def end_all(group: Group, code: int = 0, nodes: int = 3) -> list[list[str]]:
    return [group.end(node, [{"rank": node, "exit_code": code}]) for node in range(nodes)]


def test_nobody_starts_before_everybody_is_there() -> None:
    group = Group(3, 0)
    assert group.join(2) == []
    assert group.missing == [0, 1]
    assert group.join(0) == []
    assert group.join(1) == ["start"]


def test_nobody_succeeds_before_everybody_has() -> None:
    group = gathered()
    assert end_all(group) == [[], [], ["end"]]
    assert group.result == "succeeded"


def test_one_failure_stops_all_and_only_the_first_is_kept() -> None:
    group = gathered()
    assert group.fail(1, {"rank": 1}) == ["stop"]
    assert group.fail(2, {"rank": 2}) == []
    assert end_all(group, 1)[-1] == ["end"]
    assert (group.result, group.first_failure) == ("failed", {"rank": 1})


def test_of_failures_after_the_first_a_few_are_kept_in_few_words() -> None:
    group = gathered(restarts=1)
    group.fail(1, {"rank": 1, "last_lines": ["x" * 500] * 20})
    for rank in range(20):
        group.fail(2, {"rank": rank, "last_lines": [f"{line} " + "x" * 500 for line in range(20)]})
    assert [one["rank"] for one in group.others] == list(range(8))
    assert [line[:2] for line in group.others[0]["last_lines"]] == ["15", "16", "17", "18", "19"]
    assert max(map(len, group.others[0]["last_lines"])) == 300
    assert end_all(group, 1)[-1] == ["start"]
    assert group.others == []


def test_after_a_stop_nobodys_end_is_a_failure() -> None:
    group = gathered()
    group.stop("time-limit")
    group.fail(1, {"rank": 1})
    group.fail(2, {"rank": 2})
    assert (group.first_failure, group.others) == (None, [])


def test_a_failed_group_restarts_as_a_whole_and_success_forgets_the_failure() -> None:
    group = gathered(restarts=1)
    group.fail(0, {"rank": 0})
    assert end_all(group, 1)[-1] == ["start"]
    assert end_all(group)[-1] == ["end"]
    assert (group.result, group.restarts, group.first_failure) == ("succeeded", 1, None)


def test_restarts_are_counted() -> None:
    group = gathered(restarts=1)
    for expected in (["start"], ["end"]):
        group.fail(0, {"rank": 0})
        assert end_all(group, 1)[-1] == expected
    assert (group.result, group.restarts) == ("failed", 1)


def test_a_problem_is_not_tried_again() -> None:
    group = gathered(restarts=5)
    group.fail(0, None, PROBLEM)
    assert end_all(group, 1)[-1] == ["end"]
    assert (group.result, group.problem) == ("failed", PROBLEM)


def test_a_stop_ends_restarts_too() -> None:
    group = gathered(restarts=5)
    group.fail(0, {"rank": 0})
    assert group.stop("stopped") == []
    assert end_all(group, 1)[-1] == ["end"]
    assert group.result == "failed"


def test_a_problem_before_the_start_ends_at_once() -> None:
    group = Group(2, 0)
    assert group.join(1, PROBLEM) == ["end"]
    assert (group.result, group.problem) == ("failed", PROBLEM)
    assert group.join(0) == []


def test_a_lost_launcher_ends_the_others_and_is_not_waited_for() -> None:
    group = gathered(restarts=3)
    assert group.lose(1) == ["stop"]
    assert group.end(0, []) == []
    assert group.end(2, []) == ["end"]
    assert group.result == "lost"
    assert group.problem is not None
    assert "node 1" in group.problem["message"]


def test_who_leaves_before_the_start_may_come_again() -> None:
    group = Group(2, 0)
    group.join(1)
    assert group.lose(1) == []
    assert group.join(0) == []
    assert group.join(1) == ["start"]


def regrouping(nodes: int = 3, restarts: int = 0) -> Group:
    group = Group(nodes, restarts, regroup=True)
    assert [group.join(node) for node in range(nodes)][-1] == ["start"]
    return group


def test_who_leaves_with_a_word_is_waited_for_and_nothing_is_counted() -> None:
    group = regrouping()
    assert group.leave(2) == ["stop"]
    assert group.end(2, []) == []
    assert group.lose(2) == []
    assert [group.end(0, []), group.end(1, [])] == [[], ["gather"]]
    assert (group.gathering, group.missing) == (True, [2])
    assert group.join(2) == ["start"]
    assert end_all(group)[-1] == ["end"]
    assert (group.result, group.restarts) == ("succeeded", 0)


def test_who_falls_silent_is_waited_for() -> None:
    group = regrouping()
    assert group.lose(1, dead=False) == ["stop"]
    assert [group.end(0, []), group.end(2, [])] == [[], ["gather"]]
    assert group.join(1) == ["start"]


def test_a_replacement_that_is_there_already_is_not_waited_for() -> None:
    group = regrouping(2)
    assert group.lose(1, dead=False) == ["stop"]
    assert group.join(1) == []
    assert group.end(0, []) == ["start"]


def test_who_dies_without_a_word_is_not_waited_for() -> None:
    for group in (regrouping(), Group(3, 0, regroup=True)):
        group.join(1)
        orders = group.lose(1)
        if not group.result:
            orders += group.end(0, []) + group.end(2, [])
        assert orders[-1] == "end"
        assert (group.result, (group.problem or {})["code"]) == ("lost", "launcher-lost")


def test_a_failure_after_somebody_left_is_a_consequence() -> None:
    group = regrouping(2)
    group.leave(1)
    assert group.fail(0, {"rank": 0}) == []
    group.lose(1)
    assert group.end(0, []) == ["gather"]


def test_a_failure_before_a_silence_is_noticed_is_a_consequence() -> None:
    group = regrouping(2)
    assert group.fail(0, {"rank": 0}) == ["stop"]
    group.end(0, [])
    assert group.lose(1, dead=False) == ["stop", "gather"]
    assert (group.first_failure, group.restarts) == (None, 0)


def test_a_failure_before_somebody_leaves_stands() -> None:
    group = regrouping(2)
    group.fail(0, {"rank": 0})
    assert group.decided
    assert group.leave(1) == []
    group.lose(1)
    assert group.end(0, []) == ["end"]
    assert group.result == "failed"


def test_a_restart_waits_for_who_left_meanwhile() -> None:
    group = regrouping(2, restarts=1)
    group.fail(0, {"rank": 0})
    assert not group.decided
    group.leave(1)
    group.lose(1)
    assert group.end(0, []) == ["gather"]
    assert group.restarts == 1
    assert group.join(1) == ["start"]


def test_a_stop_counts_more_than_waiting() -> None:
    group = regrouping(2)
    group.leave(1)
    assert group.stop("stopped") == ["stop"]
    group.lose(1)
    assert group.end(0, []) == ["end"]
    assert group.result == "stopped"


def test_the_last_to_leave_waits_for_nobody() -> None:
    group = regrouping(2)
    group.stop("stopped")
    group.end(0, [])
    assert group.conclude() == ["end"]
    assert (group.result, group.conclude()) == ("stopped", [])


def test_restarts_that_another_node_0_counted_count() -> None:
    group = Group(2, 3, regroup=True)
    group.remember(2)
    assert [group.join(0), group.join(1)] == [[], ["start"]]
    for expected in (["start"], ["end"]):
        group.fail(0, {"rank": 0})
        assert end_all(group, 1, 2)[-1] == expected
    assert group.restarts == 3


def test_a_problem_of_who_comes_again_ends_the_job() -> None:
    group = regrouping(2)
    group.leave(1)
    group.lose(1)
    group.end(0, [])
    assert group.join(1, PROBLEM) == ["end"]
    assert (group.result, group.problem) == ("failed", PROBLEM)
