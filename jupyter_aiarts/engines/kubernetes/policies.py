"""What it means that the cluster refuses a pod: which rule, and what would satisfy it. Pure, from the refusal's text.

The API server says the same to a dry run (`orders`) and, later, to the Job's controller (`causes`).
"""

from __future__ import annotations

import re

from jupyter_aiarts.model.cause import Cause

POD_SECURITY, NOT_ROOT, LIMITS = "PodSecurity", "runAsNonRoot", "LimitRange"

_PRIORITY = re.compile(r"no (PriorityClass) with name (\S+) was found")
_RUNTIME = re.compile(r'(RuntimeClass) "?([a-z0-9.-]+)"? not found')
_LIMITS = re.compile(r"(?:maximum|minimum) \S+ usage per|max limit to request ratio per")


def policy_cause(message: str) -> Cause:
    """The cause for a pod that a rule of the cluster forbids."""
    missing = _PRIORITY.search(message) or _RUNTIME.search(message)
    values: dict[str, str | int | float | None] = {}
    if "violates podsecurity" in message.lower():
        values = {"policy": POD_SECURITY}
    elif missing is not None:
        values = {"policy": missing[1], "missing": missing[2]}
    elif _LIMITS.search(message):
        values = {"policy": LIMITS}
    return Cause(code="policy-refused", values=values, evidence=(message,))


def policy_hint(cause: Cause) -> str:
    """What to do about it, for whoever is refused while submitting."""
    policy = cause.values.get("policy")
    if policy in (POD_SECURITY, NOT_ROOT):
        return "Choose run_as or an image that its policy allows, or ask the admin of the cluster."
    if "missing" in cause.values:
        return f"Ask the admin: the server's configuration names a {policy} that the cluster does not have."
    if policy == LIMITS:
        return "Ask for what the limit allows, or ask the admin of the cluster."
    return "Change what the rule is about, or ask the admin of the cluster."
