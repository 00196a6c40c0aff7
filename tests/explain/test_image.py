"""Why an image cannot be had: the registry's answer found inside the runtime's sentences, in old and new wordings."""

from __future__ import annotations

import pytest

from jupyter_aiarts.engines.kubernetes.causes import image_code, pod_cause
from jupyter_aiarts.engines.kubernetes.seen import Notice, Pod, Trouble
from jupyter_aiarts.explain.rules import root
from tests.explain.speaking import Json, check_hostile, check_linear, form, heard, told_by

IMAGE = "registry.example/team/train:v9"
UNPACK = f'failed to pull and unpack image "{IMAGE}": failed to resolve reference "{IMAGE}": '
HEAD = UNPACK + 'failed to do request: Head "https://registry.example/v2/team/train/manifests/v9": '

SAID = told_by("image")


def engine_cause(message: str) -> tuple[str, str]:
    """Through the engine, as a container's waiting state comes."""
    trouble = Trouble(waiting="ErrImagePull", waiting_message=message)
    cause = pod_cause(Pod(name="p", index=0, phase="Pending", node="node-b", trouble=trouble), (), IMAGE)
    assert cause is not None
    found = root(cause)
    heard(cause.code, *cause.evidence, **cause.values)
    return found.code, found.form


@pytest.mark.parametrize("row", SAID)
def test_the_registrys_answer_decides(row: Json) -> None:
    assert engine_cause(row["said"]) == (row["code"], row["form"])


@pytest.mark.parametrize("row", SAID)
def test_an_image_that_is_called_like_an_error_is_none(row: Json) -> None:
    """The name is quoted in every sentence, and people call images what they like."""
    odd = row["said"].replace(f'"{IMAGE}"', '"registry.example/401 unauthorized/manifest unknown:x509"')
    assert form(image_code(odd.lower()), odd, image=IMAGE, node="a")[1] in (row["form"], "")


def failed(about: str, at: int, message: str) -> Notice:
    when = f"2026-01-01T00:00:0{at}.000000Z"
    return Notice(name=str(at), about=about, kind="Pod", reason="Failed", message=message, at=when)


def test_a_backoff_without_a_reason_is_explained_by_the_newest_failed_pull() -> None:
    """Kubelets before 1.31 say why only while they try, and then only in an event."""
    trouble = Trouble(waiting="ImagePullBackOff", waiting_message=f'Back-off pulling image "{IMAGE}"')
    pod = Pod(name="p", index=0, phase="Pending", trouble=trouble)
    pull = f'Failed to pull image "{IMAGE}": '
    notices = [
        failed("p", 1, f"{pull}{HEAD}dial tcp 192.0.2.7:443: connect: connection refused"),
        failed("p", 2, f"{pull}{UNPACK}{IMAGE}: not found"),
        failed("p", 3, "Error: ImagePullBackOff"),
        failed("q", 4, f"{pull}401 Unauthorized"),
    ]
    for shuffled in (notices, notices[::-1]):
        cause = pod_cause(pod, shuffled, IMAGE)
        assert cause is not None and cause.code == "image-not-found"
    cause = pod_cause(pod, (), IMAGE)
    assert cause is not None and cause.code == "unknown"


def test_words_of_other_speakers_are_not_about_images() -> None:
    for said in (
        'MountVolume.SetUp failed for volume "image" : no space left on device',
        "container process: exec: registry: connection refused",
        "connection refused",
    ):
        assert not form("unknown", said)[0].startswith("image")


def test_the_action_is_the_command_that_mends_it() -> None:
    login = heard("image-no-access", SAID[1]["said"], image=IMAGE, node="node-b")
    assert login.actions[0].command == "aiarts edit abcdefghij image_pull_secret=NAME"
    tag = heard("image-not-found", SAID[0]["said"], image=IMAGE, node="node-b")
    assert tag.actions[0].command == "aiarts edit abcdefghij image=IMAGE"


def test_hostile_words_break_nothing_and_take_no_longer() -> None:
    check_hostile(("image-not-found", "image-no-access", "image-unreachable", "image-wrong-arch", "unknown"))
    for text in ('"', "lookup a", "dial tcp a", "https://a", 'image "'):
        check_linear("image-unreachable", text)
