"""Secrets leave the spec, are said to have left, and are never printed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.launcher.environment import GRANT_VARIABLES, RANK_VARIABLES
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.reserved import why_reserved
from jupyter_aiarts.model.secrecy import PullSecret, looks_secret

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "name",
    [
        "TOKEN", "HF_TOKEN", "hf_token", "GITHUB_TOKEN_2", "DB_PASSWORD", "MYSQL_PASSWD", "SECRET",
        "MY_SECRET_THING", "WANDB_API_KEY", "wandbApiKey", "OPENAI_APIKEY", "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY", "SSH_PRIVATE_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "CREDENTIAL", "myToken",
        "KEY_PASSPHRASE",
    ],
)  # fmt: skip
def test_these_names_look_secret(name: str) -> None:
    assert looks_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "SECRETARY", "PWD", "KEY", "API_URL", "KEY_API", "ACCESS_LOG",
        "PASSWORDLESS", "BATCH_SIZE", "", "_", "MONKEY", "API_KEYS_FILE_COUNT",
    ],
)  # fmt: skip
def test_these_names_do_not(name: str) -> None:
    assert not looks_secret(name)


def test_secret_looking_variables_are_moved_and_said() -> None:
    reading = read_spec(
        {"script": "a", "env": {"HF_TOKEN": SECRET, "EPOCHS": "3"}, "secret_env": {"MINE": "x", "N": 5}}
    )
    assert reading.spec.env == {"EPOCHS": "3"}
    assert reading.spec.secret_env == {"MINE": None, "N": None, "HF_TOKEN": None}
    assert reading.secrets == {"MINE": "x", "N": "5", "HF_TOKEN": SECRET}
    assert reading.notes == [
        "HF_TOKEN looks secret and was moved from env to secret_env: the ranks get it, and nobody is shown its value."
    ]


def test_null_keeps_a_known_secret_and_nothing_else() -> None:
    raw = {"script": "a", "secret_env": {"OLD": None, "NEW": "v"}}
    reading = read_spec(raw, known_secrets={"OLD"})
    assert reading.spec.secret_env == {"OLD": None, "NEW": None}
    assert reading.secrets == {"NEW": "v"}
    with pytest.raises(InvalidSpec) as caught:
        read_spec(raw)
    message = "secret_env.OLD is null, and no value is kept for it. Give the value."
    assert caught.value.problems == [{"key": "secret_env.OLD", "message": message}]


def test_a_registry_login_goes_to_the_engine_alone() -> None:
    login = {"registry": "r.example", "username": "u", "password": SECRET}
    reading = read_spec({"script": "a", "cluster": "k", "image": "i", "image_pull_secret": login})
    assert reading.pull_secret == PullSecret(registry="r.example", username="u", password=SECRET)
    assert reading.spec.image_pull_secret is None
    assert SECRET not in msgspec.json.encode(reading.spec).decode()


def test_no_secret_is_in_what_a_log_would_show() -> None:
    login = {"registry": "r", "username": "u", "password": SECRET}
    reading = read_spec(
        {
            "script": "a",
            "cluster": "k",
            "secret_env": {"S": SECRET},
            "env": {"A_TOKEN": SECRET},
            "image_pull_secret": login,
        }
    )
    assert SECRET not in repr(reading) + repr(reading.pull_secret) + "".join(reading.notes)


@pytest.mark.parametrize(
    "given",
    [
        {"secret_env": {"S": [SECRET]}},
        {"secret_env": {"S": SECRET + "\0"}},
        {"secret_env": {"S": SECRET + "x" * 200_000}},
        {"secret_env": {"not a name": SECRET}},
        {"secret_env": {"RANK_ID": SECRET}},
        {"secret_env": {5: SECRET}},
        {"secret_env": SECRET},
        {"secret_env": {"S": SECRET}, "env": {"S": SECRET}},
        {"image_pull_secret": {"registry": "r", "username": "", "password": SECRET}},
        {"image_pull_secret": {"registry": "r", "username": "u", "password": SECRET, "extra": SECRET}},
        {"image_pull_secret": {"registry": "r", "username": "u", "password": SECRET + "\0"}},
        {"image_pull_secret": [SECRET]},
    ],
)
def test_a_refusal_never_prints_a_secret(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", **given})
    assert SECRET not in str(caught.value.as_dict())


def test_a_variable_stands_in_one_place() -> None:
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", "env": {"HF_TOKEN": "1"}, "secret_env": {"HF_TOKEN": "2"}})
    message = "HF_TOKEN is in env and in secret_env. Keep it in one of them."
    assert caught.value.problems == [{"key": "env.HF_TOKEN", "message": message}]


@pytest.mark.parametrize("name", sorted(RANK_VARIABLES | GRANT_VARIABLES))
@pytest.mark.parametrize("place", ["env", "secret_env"])
def test_what_the_launcher_sets_is_refused_by_name(name: str, place: str) -> None:
    """Both sides hold one list, so nothing is accepted here and dropped there."""
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", place: {name: "1"}})
    assert caught.value.problems == [{"key": f"{place}.{name}", "message": why_reserved(name, "local")}]
    assert caught.value.problems[0]["message"].startswith(f"{name} is reserved: ")


def test_in_a_pod_a_user_may_choose_among_the_own_cards() -> None:
    assert why_reserved("CUDA_VISIBLE_DEVICES", "prod") == ""
    assert why_reserved("CUDA_VISIBLE_DEVICES", "local") != ""
    assert why_reserved("NVIDIA_VISIBLE_DEVICES", "prod") != ""
    assert why_reserved("MY_RANK", "local") == ""


@pytest.mark.parametrize("name", ["", "1A", "A-B", "A B", "A=B", "É", "A\n", "A.B", "BASH_FUNC_x%%"])
def test_a_variable_needs_a_proper_name(name: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        read_spec({"script": "a", "env": {name: "1"}})
    assert "cannot be a variable's name" in caught.value.problems[0]["message"]
