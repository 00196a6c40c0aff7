"""Why a job of the laboratory is where it is, as a person is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_aiarts.explain import explain
from jupyter_aiarts.model.job import Explanation

if TYPE_CHECKING:
    from tests.engines.kubernetes.engines import Lab


async def told(lab: Lab, job_id: str, code: str, *said: str, seconds: float = 60) -> Explanation:
    """Wait until the job is explained with this code and in these words; both languages know them."""

    def there() -> Explanation | None:
        found = explain(record.cause, "en", record.id, record.spec)
        return found if found.code == code and all(word in f"{found.title} {found.why}" for word in said) else None

    record = await lab.engine.get(job_id)

    def look(one: object) -> bool:
        nonlocal record
        record = one  # type: ignore[assignment]
        return there() is not None

    try:
        await lab.when(job_id, look, seconds)
    except AssertionError:
        found = explain(record.cause, "en", record.id, record.spec)
        raise AssertionError(f"{code}, {said} is not told:\n{found}\n{record.cause}") from None
    record = await lab.engine.get(job_id)  # with the whole spec, for the sums of its actions
    found = explain(record.cause, "en", record.id, record.spec)
    chinese = explain(record.cause, "zh", record.id, record.spec)
    assert (chinese.code, len(chinese.actions)) == (found.code, len(found.actions))
    assert "unknown" not in found.why and "未知" not in chinese.why
    return found
