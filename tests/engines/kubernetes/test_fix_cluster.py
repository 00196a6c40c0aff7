"""An action of an explanation, carried out on a real cluster: the job that could not start does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.model.fix import FixRequest
from jupyter_aiarts.model.phase import Move, Phase
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore
from tests.cluster.nodes import REGISTRY
from tests.engines.kubernetes.engines import IMAGE, laboratory
from tests.engines.kubernetes.telling import told

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster
MISSING = f"{REGISTRY}/team/no-such-image:1"


@pytest.mark.timeout(240, func_only=True)
async def test_an_image_that_is_missing_is_named_anew_and_the_job_runs(cluster: Cluster, tmp_path: Path) -> None:
    async with laboratory(cluster, tmp_path) as lab:
        service = JobService({"test": lab.engine}, TemplateStore(tmp_path / "templates"))
        with cluster.registry():
            job = await lab.submit(image=MISSING)
            found = await told(lab, job.id, "image-not-found")
        action = next(one.id for one in found.actions if "image=IMAGE" in (one.command or ""))
        ask = FixRequest(fix=action, values={"image": IMAGE}, dry_run=True)
        ahead = await service.fix(job.id, ask)
        assert [(one.key, one.before, one.after) for one in ahead.changes] == [("image", MISSING, IMAGE)]
        assert (ahead.first, ahead.move, ahead.done) == (Move.PAUSE, Move.RESUME, False)
        assert (await lab.engine.get(job.id)).phase is Phase.STARTING
        done = await service.fix(job.id, FixRequest(fix=action, values={"image": IMAGE}))
        assert done.done and done.job.spec.image == IMAGE
        ended = await lab.until(job.id, seconds=120)
        assert ended.phase is Phase.SUCCEEDED
        assert await lab.texts(job.id) == ["hello"]
        await service.aclose()
