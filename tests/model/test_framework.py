"""The framework is guessed from what a start file imports, never by running it."""

from __future__ import annotations

import json

import pytest

from jupyter_aiarts.model.framework import guess_framework


def notebook(*cells: list[str]) -> str:
    """A notebook of code cells, after one of text that names a framework too."""
    words = {"cell_type": "markdown", "source": ["import tensorflow"]}
    return json.dumps({"cells": [words, *({"cell_type": "code", "source": lines} for lines in cells)]})


@pytest.mark.parametrize(
    ("source", "framework"),
    [
        ("import torch", "pytorch"),
        ("import os, torch.nn as nn", "pytorch"),
        ("from torch.utils.tensorboard import SummaryWriter", "pytorch"),
        ("import tensorflow as tf", "tensorflow"),
        ("from mindspore import nn", "mindspore"),
        ("def f():\n    import mindspore", "mindspore"),
        ("import mindspore\nimport torch", "mindspore"),
        ("try:\n    import torch\nexcept ImportError:\n    import tensorflow", "pytorch"),
        ("import numpy", "none"),
        ("from .torch import x", "none"),
        ("import torchaudio_fake", "none"),
        ("# import torch", "none"),
        ("'import torch'", "none"),
        ("", "none"),
        ("print 'python 2'\nimport tensorflow", "tensorflow"),
        ("%pip install x\nimport os, mindspore as ms\n", "mindspore"),
        (notebook(["# import torch"], ["import os\n", "import mindspore"]), "mindspore"),
        (notebook(["%matplotlib inline\n", "import torch\n"]), "pytorch"),
        ('{"cells": 5}', "none"),
        ("{1: 2}\nimport torch", "pytorch"),
        ("import torch\0", "pytorch"),
        ("#!/bin/bash\npython -c 'x'\n", "none"),
        ("(" * 100_000, "none"),
        ("x = " + "-" * 50_000 + "1\nimport torch", "pytorch"),
    ],
)
def test_guesses(source: str, framework: str) -> None:
    assert guess_framework(source) == framework
