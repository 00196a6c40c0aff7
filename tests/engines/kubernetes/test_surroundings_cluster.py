"""A job on a real cluster runs in an environment that its mounts have, and in no other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.model.phase import Phase
from tests.engines.kubernetes.engines import laboratory
from tests.kernelspecs.conftest import make_conda

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

pytestmark = pytest.mark.cluster

LOOK = """
import os, shutil, sys
print(sys.prefix, sys.executable)
print(os.environ["CONDA_PREFIX"], os.environ["CONDA_DEFAULT_ENV"])
print(os.environ["LD_LIBRARY_PATH"], os.environ["FROM_SCRIPT"])
print(shutil.which("python"))
"""


def environment(path: Path) -> Path:
    """A conda environment whose Python is the image's."""
    env = make_conda(path)
    (env / "bin/python").unlink()
    (env / "bin/python").symlink_to("/usr/bin/python3")
    (env / "pyvenv.cfg").write_text("home = /usr/bin\n")
    scripts = env / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "here.sh").write_text(
        'export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"; export FROM_SCRIPT="of $CONDA_DEFAULT_ENV"\n'
    )
    return env


async def test_a_job_runs_in_the_environment_that_its_mount_has_and_one_on_no_mount_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    homes = {"default_mounts": [{"source": f"{tmp_path}/{{user}}", "target": "/home/{user}"}]}
    async with laboratory(cluster, tmp_path, **homes) as lab:
        lab.folder = tmp_path / "alice"
        env = environment(lab.folder / "envs/训练 it's")
        job = await lab.submit(LOOK, workdir=str(lab.folder), environment=str(env))
        record = await lab.until(job.id)
        assert record.phase is Phase.SUCCEEDED, record.cause
        there = f"/home/alice/envs/{env.name}"
        assert await lab.texts(job.id) == [
            f"{there} {there}/bin/python",
            f"{there} {env.name}",
            f"{there}/lib of {env.name}",
            f"{there}/bin/python",
        ]

        elsewhere = environment(tmp_path / "elsewhere")
        with pytest.raises(AiartsError) as refused:
            await lab.submit(LOOK, workdir=str(lab.folder), environment=str(elsewhere))
        [problem] = refused.value.as_dict()["problems"]
        assert problem["key"] == "environment" and "no mount of the job has it" in problem["message"]
