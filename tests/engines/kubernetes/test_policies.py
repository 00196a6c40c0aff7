"""What a refusal of the cluster means: the rule it names, and advice that fits it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_aiarts.engines.kubernetes.policies import policy_cause, policy_hint
from jupyter_aiarts.errors import NotAllowed
from jupyter_aiarts.explain import LANGUAGES, explain
from jupyter_aiarts.model.reading import read_spec
from tests.engines.kubernetes.engines import SMALL, laboratory

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

# As Kubernetes 1.34 says them (the cluster tests below and `recorded/` have them again).
SECURITY = 'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
PRIORITY = 'pods "a" is forbidden: no PriorityClass with name p was found'
RUNTIME = 'pods "a" is forbidden: pod rejected: RuntimeClass "r" not found'
LIMIT = 'pods "a" is forbidden: maximum memory usage per Container is 16Mi, but limit is 64Mi'
WEBHOOK = 'admission webhook "images.example.org" denied the request: images come from registry.example.org'


@pytest.mark.parametrize(
    ("message", "values", "title", "advice"),
    [
        (SECURITY, {"policy": "PodSecurity"}, "A rule of the cluster refuses it", "Run it as yourself"),
        (PRIORITY, {"policy": "PriorityClass", "missing": "p"}, "The cluster has no PriorityClass p", "Ask the admin"),
        (RUNTIME, {"policy": "RuntimeClass", "missing": "r"}, "The cluster has no RuntimeClass r", "Ask the admin"),
        (LIMIT, {"policy": "LimitRange"}, "The namespace limits what a pod may ask for", "Set memory_gb to 0.015"),
        (WEBHOOK, {}, "A rule of the cluster refuses it", "Change what the rule is about"),
    ],
)
def test_only_a_rule_about_users_is_answered_with_another_user(
    message: str, values: dict[str, Any], title: str, advice: str
) -> None:
    cause = policy_cause(message)
    assert (cause.code, cause.values, cause.evidence) == ("policy-refused", values, (message,))
    said = explain(cause)
    assert said.title == title and advice in said.actions[0].label
    about_users = message == SECURITY
    for lang in LANGUAGES:
        told = explain(cause, lang)
        assert any("run_as" in (action.command or "") for action in told.actions) is about_users
    assert ("run_as" in policy_hint(cause)) is about_users


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"priorities": {1: "no-such"}}, "PriorityClass"),
        ({"devices": {"cpu": {"runtime_class": "no-such"}}}, "RuntimeClass"),
    ],
)
async def test_a_class_that_the_cluster_does_not_have_is_named_before_anything_is_made(
    cluster: Cluster, tmp_path: Path, settings: dict[str, Any], kind: str
) -> None:
    async with laboratory(cluster, tmp_path, **settings) as lab:
        reading = read_spec({**SMALL, "command": "true"})
        fit = await lab.engine.fits(reading, lab.caller)
        assert fit.now is False and fit.cause is not None
        assert fit.cause.values == {"policy": kind, "missing": "no-such"}
        with pytest.raises(NotAllowed, match="no-such") as refused:
            await lab.engine.submit(reading, lab.caller)
        assert f"the server's configuration names a {kind} that the cluster does not have" in refused.value.hint
        assert await lab.engine.snapshot() == ()
