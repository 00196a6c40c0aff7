"""What is read for every job of a list is ready to be read."""

from __future__ import annotations

import pytest
from msgspec import Struct

from jupyter_aiarts.engines.local.records import JobFile, NodeStatus, Placed, RankStatus, Settings, Settled, Summary
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.job import Rank
from jupyter_aiarts.model.spec import JobSpec, Mount

READ = (JobFile, JobSpec, Mount, Settled, Cause, Rank, Placed, NodeStatus, RankStatus, Summary, Settings)


@pytest.mark.parametrize("struct", READ, ids=lambda struct: struct.__name__)
def test_no_annotation_is_left_to_be_compiled_when_the_first_job_is_read(struct: type[Struct]) -> None:
    assert [text for text in struct.__annotations__.values() if isinstance(text, str)] == []
