"""Specs that the tests of reading send, and what they are told."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import JobSpec

NPU = "huawei_npu_arm64"
GPU = "nvidia_gpu_amd64"


def problems(raw: Any, **options: Any) -> dict[str, str]:
    """The problems of a spec that must be refused, by key."""
    with pytest.raises(InvalidSpec) as caught:
        read_spec(raw, **options)
    return {problem["key"]: problem["message"] for problem in caught.value.problems}


def read(**raw: Any) -> JobSpec:
    """The spec of a job that is otherwise fine."""
    return read_spec({"script": "train.py", **raw}).spec
