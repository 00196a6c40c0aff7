"""Why a job is in its phase, before it is put into anybody's words."""

# Annotations are values: see spec.py.

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field


class Cause(Struct, frozen=True, kw_only=True):
    """A code, the values its sentence needs, and what was seen; engines find it, `explain` puts it into words."""

    code: str
    form: str = ""  # which of several sentences of this code fits; empty for the usual one
    values: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
