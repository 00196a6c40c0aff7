"""A registered kernel really starts, activated, with `%load_ext jupyter_aiarts`, and obeys like any other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_aiarts._version import __version__
from jupyter_aiarts.kernelspecs.contents import read
from jupyter_aiarts.kernelspecs.install import Folders, register

from .conftest import make_conda

SECONDS = 60


@pytest.fixture
def env(tmp_path: Path) -> Path:
    """An environment with activation scripts and variables; its site-packages are those of the tests."""
    path = make_conda(tmp_path / "it's a 训练 {prefix}")
    (path / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\nversion = 3.11.0\n")
    site = next(path.glob("lib/python*/site-packages"))
    (site / "tests.pth").write_text("\n".join(one for one in sys.path if one.endswith("site-packages")))
    scripts = path / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "a lib.sh").write_text('export LD_LIBRARY_PATH="$CONDA_PREFIX/lib"\necho noise\nread line\n')
    (scripts / "broken.sh").write_text("false\n")
    state = {"env_vars": {"FROM_STATE": "a 'b' $(touch hacked)", "bad-name": "x"}}
    (path / "conda-meta/state").write_text(json.dumps(state))
    return path


@pytest.fixture
def manager(tmp_path: Path, env: Path) -> AsyncKernelManager:
    folders = Folders(shared=[str(tmp_path / "shared")], user=str(tmp_path / "own"))
    one = register(read(str(env)), "x", "global", folders)
    specs = KernelSpecManager(kernel_dirs=[folders.target("global")])
    return AsyncKernelManager(kernel_name=one.spec, kernel_spec_manager=specs)


async def started(manager: AsyncKernelManager, folder: Path) -> Any:
    await manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=SECONDS)
    return client


async def said(client: Any, code: str) -> str:
    """What a cell prints."""
    texts: list[str] = []

    def hear(message: dict[str, Any]) -> None:
        content = message["content"]
        shown = content.get("data", {}).get("text/plain", "")
        texts.extend([content.get("text", ""), shown, "\n".join(content.get("traceback", ()))])

    await client.execute_interactive(code, output_hook=hear, timeout=SECONDS)
    return "".join(texts).strip()


async def test_it_starts_activated_and_our_magic_is_there(
    manager: AsyncKernelManager, env: Path, tmp_path: Path
) -> None:
    client = await started(manager, tmp_path)
    try:
        names = ("CONDA_PREFIX", "CONDA_DEFAULT_ENV", "LD_LIBRARY_PATH", "FROM_STATE", "PYTHONPATH")
        seen = json.loads(
            await said(client, f"import os, json; print(json.dumps([os.environ.get(n) for n in {names}]))")
        )
        assert seen == [str(env), env.name, f"{env}/lib", "a 'b' $(touch hacked)", os.environ.get("PYTHONPATH")]
        first = await said(client, "import os; print(os.environ['PATH'].split(':')[0])")
        assert first == f"{env}/bin"
        assert not (tmp_path / "hacked").exists()
        assert __version__ in await said(client, "%load_ext jupyter_aiarts\n%aiarts --version")
        assert await said(client, "import sys; print(sys.prefix)") == str(env)
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


async def test_it_is_interrupted_and_restarted_as_ever(manager: AsyncKernelManager, tmp_path: Path) -> None:
    client = await started(manager, tmp_path)
    try:
        sleeping = "import threading; print('up', flush=True); threading.Event().wait(600)"
        heard: list[str] = []

        def hear(message: dict[str, Any]) -> None:
            if message["content"].get("text", "").startswith("up"):
                import signal

                os.kill(manager.provisioner.process.pid, signal.SIGINT)  # type: ignore[union-attr]
            heard.append(message["content"].get("ename", ""))

        await client.execute_interactive(sleeping, output_hook=hear, timeout=SECONDS)
        assert "KeyboardInterrupt" in heard
        await manager.restart_kernel(now=True)
        await client.wait_for_ready(timeout=SECONDS)
        assert await said(client, "print(6 * 7)") == "42"
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


async def test_the_program_is_the_kernel_itself_and_no_shell_is_left(
    manager: AsyncKernelManager, tmp_path: Path
) -> None:
    client = await started(manager, tmp_path)
    try:
        pid = int(await said(client, "import os; print(os.getpid())"))
        assert pid == manager.provisioner.process.pid  # type: ignore[union-attr]
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


def test_it_is_a_plain_kernelspec_for_everybody_else(manager: AsyncKernelManager) -> None:
    spec = manager.kernel_spec
    assert spec is not None and "kernel_provisioner" not in spec.metadata


def start(manager: AsyncKernelManager, shell: str, environ: dict[str, str]) -> dict[str, str]:
    """The variables of a program that is started as its kernel is, by this shell."""
    words = [
        shell,
        f"{manager.kernel_spec.resource_dir}/start.sh",
        sys.executable,
        "-c",
        "import json, os; print(json.dumps(dict(os.environ)))",
    ]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_bash_that_is_called_sh_reads_what_is_written_for_bash(
    manager: AsyncKernelManager, env: Path, tmp_path: Path
) -> None:
    """As on openEuler and RHEL."""
    (env / "etc/conda/activate.d/functions.sh").write_text("my-func() { export FROM_FUNCTION=1; }\nmy-func\n")
    (tmp_path / "sh").symlink_to("/bin/bash")
    assert start(manager, str(tmp_path / "sh"), {"PATH": "/usr/bin:/bin"})["FROM_FUNCTION"] == "1"


def test_what_was_active_is_left_by_the_shell_that_its_scripts_are_written_for(
    manager: AsyncKernelManager, env: Path, tmp_path: Path
) -> None:
    shutil.rmtree(env / "etc")
    server = make_conda(tmp_path / "server")
    (server / "etc/conda/deactivate.d").mkdir(parents=True)
    (server / "etc/conda/deactivate.d/a.sh").write_text("names=(FOO)\nunset ${names[0]}\n")
    environ = {"PATH": "/usr/bin:/bin", "CONDA_PREFIX": str(server), "FOO": "the server's"}
    assert "FOO" not in start(manager, "/bin/sh", environ)
