"""A job that names an environment runs in it, activated: its Python, its variables, its programs; or is refused."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_aiarts.engines.base import Caller, Engine
from jupyter_aiarts.engines.local import open_local
from jupyter_aiarts.errors import InvalidSpec, NotFound
from jupyter_aiarts.model.phase import Phase
from jupyter_aiarts.service import JobService
from jupyter_aiarts.templates import TemplateStore
from tests.engines.conftest import Submit, Until
from tests.kernelspecs.conftest import make_conda

Texts = Callable[..., Awaitable[list[str]]]
NAMES = ("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "VIRTUAL_ENV", "FROM_SCRIPT", "LD_LIBRARY_PATH", "RANK_ID", "MINE")
SHOW = f"""
import json, os, sys
print(json.dumps([sys.prefix, os.environ["PATH"].split(":")[0], *map(os.environ.get, {NAMES})]))
"""


@pytest.fixture
def env(tmp_path: Path) -> Path:
    """A conda environment that a Python takes for its own, with an activation script."""
    path = make_conda(tmp_path / "it's 训练 $(id)")
    (path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    scripts = path / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "a.sh").write_text(
        'export FROM_SCRIPT="$CONDA_DEFAULT_ENV" LD_LIBRARY_PATH="$CONDA_PREFIX/lib" RANK_ID=77 MINE=theirs\n'
    )
    return path


async def test_its_python_and_all_that_activating_sets(
    engine: Engine, submit: Submit, until: Until, text_of: Texts, env: Path
) -> None:
    job = await submit(SHOW, environment=str(env), env={"MINE": "mine"}, nodes=2)
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    said = sorted(json.loads(text) for text in await text_of(job.id))
    wanted = [str(env), f"{env}/bin", str(env), env.name, None, env.name, f"{env}/lib"]
    assert said == [[*wanted, "0", "mine"], [*wanted, "1", "mine"]]  # a rank's own number and the user's word win
    kept = await engine.environment(job.id, None, 0)
    assert (kept["CONDA_PREFIX"], kept["FROM_SCRIPT"]) == (str(env), env.name)


async def test_a_command_finds_its_programs_and_arguments_its_variables(
    submit: Submit, until: Until, text_of: Texts, env: Path
) -> None:
    tool = env / "bin/our-tool"
    tool.write_text("#!/bin/sh\necho tool of $CONDA_DEFAULT_ENV\n")
    tool.chmod(0o755)
    job = await submit(script=None, command="our-tool", environment=str(env))
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    assert await text_of(job.id) == [f"tool of {env.name}"]
    named = await submit("import sys; print(sys.argv[1:])", args=["${FROM_SCRIPT}"], environment=str(env))
    assert (await until(named.id)).phase is Phase.SUCCEEDED
    assert await text_of(named.id) == [str([env.name])]


async def test_a_secret_that_it_keeps_reaches_ranks_and_is_not_shown(
    engine: Engine, submit: Submit, until: Until, text_of: Texts, env: Path
) -> None:
    (env / "conda-meta/state").write_text(
        json.dumps({"env_vars": {"HF_TOKEN": "hf_abc", "TOKENIZERS_PARALLELISM": "1"}})
    )
    job = await submit("import os; print(os.environ['HF_TOKEN'])", environment=str(env))
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    assert await text_of(job.id) == ["hf_abc"]
    kept = await engine.environment(job.id, None, 0)
    assert kept.get("HF_TOKEN") is None and kept["TOKENIZERS_PARALLELISM"] == "1"


async def test_a_folder_may_be_told_from_the_working_folder(
    submit: Submit, until: Until, text_of: Texts, env: Path, folder: Path
) -> None:
    (folder / "here").symlink_to(env)
    job = await submit("import os; print(os.environ['CONDA_PREFIX'])", environment="./here")
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    assert await text_of(job.id) == [str(folder / "here")]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda env: shutil.rmtree(env), "is not there"),
        (lambda env: (shutil.rmtree(env / "conda-meta"), (env / "pyvenv.cfg").unlink()), "neither a conda"),
        (lambda env: (env / "bin/python").unlink(), "no Python"),
    ],
)
async def test_what_is_none_is_refused_before_it_is_submitted(
    submit: Submit, env: Path, spoil: Callable[[Path], Any], words: str
) -> None:
    spoil(env)
    with pytest.raises(InvalidSpec) as caught:
        await submit(SHOW, environment=str(env))
    assert [problem["key"] for problem in caught.value.problems] == ["environment"]
    assert words in caught.value.problems[0]["message"]


async def test_one_that_goes_before_the_job_starts_is_explained(
    engine: Engine, submit: Submit, until: Until, env: Path, folder: Path
) -> None:
    holder = await submit("import time\ntime.sleep(600)", cpu=16)
    await until(holder.id, Phase.RUNNING)
    job = await submit(SHOW, file="other.py", environment=str(env), cpu=16)
    shutil.rmtree(env)
    await engine.delete(holder.id)
    ended = await until(job.id)
    assert (ended.phase, ended.cause.code) == (Phase.FAILED, "start-file-bad-interpreter")
    assert str(env) in str(ended.cause.values)


async def test_a_name_is_looked_up_and_an_unknown_one_is_refused(tmp_path: Path, env: Path) -> None:
    async def folder_of(name: str) -> str:
        if name != "train":
            raise NotFound(f"No environment is called {name!r}.", "See: aiarts kernels")
        return str(env)

    service = JobService({"local": open_local(tmp_path / "state")}, TemplateStore(tmp_path / "templates"), folder_of)
    (tmp_path / "train.py").write_text(SHOW)
    caller = Caller(owner="alice", python=sys.executable, environ=dict(os.environ), folder=tmp_path)
    try:
        found = await service.try_out({"script": "train.py", "environment": "train"}, caller)
        assert found.spec.environment == str(env)
        with pytest.raises(InvalidSpec) as caught:
            await service.try_out({"script": "train.py", "environment": "nobody"}, caller)
        assert caught.value.problems[0]["key"] == "environment"
    finally:
        await service.aclose()
