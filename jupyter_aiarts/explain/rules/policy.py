"""Which rule of a cluster refuses a job, by how much, and what would satisfy it.

"Forbidden" is said by many: quotas, limits, Pod Security, webhooks, a missing account, and rights. Only the last is
about who asks.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from jupyter_aiarts.explain.rules.amounts import amount, change, raised, shown
from jupyter_aiarts.explain.rules.said import closer, first, text
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_QUOTA = re.compile(
    r"exceeded quota: ([^,\s]{1,253}), requested: ([^\s]{1,2000}), used: ([^\s]{1,2000}), limited: ([^\s]{1,2000})"
)
_UNSAID = re.compile(r"failed quota: ([^:\s]{1,253}): must specify ([\w.,/-]{1,300})")
_LIMIT = re.compile(
    r"(maximum|minimum) ([\w./-]{1,100}) usage per (\w{1,40}) is ([\w.]{1,40}), but (?:limit|request) is ([\w.]{1,40})"
)
_ACCOUNT = re.compile(r'serviceaccount "([^"\s]{1,253})" not found')
_RIGHT = re.compile(
    r'User "([^"]{1,253})" cannot (\w{1,20}) resource "([^"\s]{1,253})"(?: in API group "[^"]{0,253}")?'
    r'(?: in the namespace "([^"\s]{1,253})")?'
)
_WEBHOOK = re.compile(r'admission webhook "([^"\s]{1,253})" denied the request: ?(.{0,300})')
_ADMISSION = re.compile(
    r"ValidatingAdmissionPolicy '([^'\s]{1,253})' with binding '[^']{0,253}' denied request: ?(.{0,300})"
)
_AWAY = re.compile(r'failed calling webhook "([^"\s]{1,253})"')
_AS_ROOT = ("runasnonroot", "runasuser", "non-root")


class Excess(Struct, frozen=True):
    """One resource of which there is too little."""

    resource: str
    asked: Decimal
    used: Decimal
    most: Decimal

    @property
    def left(self) -> Decimal:
        return self.most - self.used


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """The rule behind a refusal."""
    return _quota(cause, spec) or _limits(cause) or _right(cause) or _named(cause) or _security(cause)


def _quota(cause: Cause, spec: JobSpec | None) -> Cause | None:
    unsaid = first(_UNSAID, cause)
    if unsaid is not None:
        return closer(cause, "policy-refused", "quota-unsaid", quota=unsaid[1], resource=unsaid[2])
    found = first(_QUOTA, cause)
    if found is None:
        return None
    over = [one for one in _excesses(found) if one.asked > one.left]
    if not over:
        return None
    worst = min(over, key=lambda one: one.left / one.asked)
    what = worst.resource
    values: dict[str, Any] = {"quota": found[1], "resource": what, "asked": shown(what, worst.asked)}
    values |= {"used": shown(what, worst.used), "most": shown(what, worst.most)}
    values["left"] = shown(what, max(worst.left, Decimal(0)))
    if worst.left <= 0 and worst.asked <= worst.most:
        return closer(cause, "quota-exceeded", "namespace-quota-used", **values)
    # Several nodes share what is left, and how many of them it has given room already is not said.
    one_node = spec is not None and spec.nodes == 1
    most = worst.left if worst.left > 0 else worst.most
    fixes = change(what, most, worst.asked, spec) if one_node and len(over) == 1 else {}
    (key,) = fixes or ("",)
    base = "namespace-quota-small" if worst.asked > worst.most else "namespace-quota"
    return closer(cause, "quota-exceeded", f"{base}-{key}" if key else base, **values, **fixes)


def _excesses(match: re.Match[str]) -> list[Excess]:
    requested, used, limited = (_pairs(match[number]) for number in (2, 3, 4))
    return [
        Excess(what, asked, used.get(what, Decimal(0)), limited[what])
        for what, asked in requested.items()
        if what in limited and asked > 0
    ]


def _pairs(listed: str) -> dict[str, Decimal]:
    """`limits.memory=9Gi,pods=1`."""
    found = {}
    for part in listed.split(","):
        what, _, said = part.partition("=")
        value = amount(said)
        if value is not None:
            found[what] = value
    return found


def _limits(cause: Cause) -> Cause | None:
    """A LimitRange: too much or too little for one pod."""
    found = [match for line in cause.evidence[:20] for match in _LIMIT.finditer(line[:4000])]
    fixes: dict[str, Any] = {}
    for side, what, _, bound, _ in (match.groups() for match in found):
        value = amount(bound)
        if value is not None:
            fixes |= change(what, value, None, None) if side == "maximum" else raised(what, value)
    if not found:
        return None
    side, what, per, bound, asked = found[0].groups()
    values = {"side": side, "resource": what, "per": per, "bound": bound, "asked": asked}
    base = "limit-most" if side == "maximum" else "limit-least"
    keys = "-".join(sorted(fixes)) if len(fixes) == len({match[2] for match in found}) else ""
    return closer(cause, "policy-refused", f"{base}-{keys}" if keys else base, **values, **fixes)


def _right(cause: Cause) -> Cause | None:
    found = first(_RIGHT, cause)
    if found is None:
        return None
    values = {"user": found[1], "verb": found[2], "resource": found[3]}
    if found[4] is None:
        return closer(cause, "not-allowed", "rights-missing-everywhere", **values)
    return closer(cause, "not-allowed", "rights-missing", **values, namespace=found[4])


def _named(cause: Cause) -> Cause | None:
    """Rules with a name of their own."""
    account = first(_ACCOUNT, cause)
    if account is not None:
        return closer(cause, "policy-refused", "account-missing", account=account[1])
    denied = first(_WEBHOOK, cause) or first(_ADMISSION, cause)
    if denied is not None:
        reason = denied[2].strip() or denied[1]
        return closer(cause, "policy-refused", "webhook-refused", rule=denied[1], reason=reason)
    away = first(_AWAY, cause)
    return closer(cause, "policy-refused", "webhook-away", rule=away[1]) if away is not None else None


def _security(cause: Cause) -> Cause | None:
    """Pod Security: another user helps only where it is the user that is refused."""
    said = text(cause)
    if "violates podsecurity" not in said or any(word in said for word in _AS_ROOT):
        return None  # the usual words offer that
    return closer(cause, "policy-refused", "security-refused")
