"""${NAME} in arguments is the only substitution there is."""

import pytest

from jupyter_aiarts.launcher.substitution import UnknownName, names, substitute

VARIABLES = {
    "RANK_ID": "3",
    "EMPTY": "",
    "NESTED": "${RANK_ID}",
    "MASTER_ADDR": "10.0.0.1",
    "ODD": "\udcff'\"$",
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plain", "plain"),
        ("", ""),
        ("${RANK_ID}", "3"),
        ("a${RANK_ID}b${RANK_ID}", "a3b3"),
        ("x${EMPTY}y", "xy"),
        ("${NESTED}", "${RANK_ID}"),
        ("${ODD}", "\udcff'\"$"),
        ("$${RANK_ID}", "${RANK_ID}"),
        ("$$${RANK_ID}", "$${RANK_ID}"),
        ("$${", "${"),
        ("$RANK_ID $(whoami) `id` $ $$ $1", "$RANK_ID $(whoami) `id` $ $$ $1"),
        ("${RANK_ID", "${RANK_ID"),
        ("{RANK_ID}", "{RANK_ID}"),
        ("训练${RANK_ID}", "训练3"),
    ],
)
def test_table(text: str, result: str) -> None:
    assert substitute(text, VARIABLES) == result


@pytest.mark.parametrize(
    ("text", "name", "nearest"),
    [
        ("${RANKID}", "RANKID", "RANK_ID"),
        ("${rank_id}", "rank_id", "RANK_ID"),
        ("${MASTER_ADR}", "MASTER_ADR", "MASTER_ADDR"),
        ("${}", "", ""),
        ("${a b}", "a b", ""),
        ("${WHATEVER}", "WHATEVER", ""),
    ],
)
def test_unknown_names_are_errors_that_name_the_nearest(text: str, name: str, nearest: str) -> None:
    with pytest.raises(UnknownName) as caught:
        substitute(text, VARIABLES)
    assert (caught.value.name, caught.value.nearest) == (name, nearest)
    assert f"${{{name}}}" in str(caught.value)
    assert not nearest or f"${{{nearest}}}" in str(caught.value)


def test_names_lists_what_is_asked_for_once_each_in_order() -> None:
    assert names("${B} ${A} $${C} ${B} $D ${") == ["B", "A"]
