"""Images made here: no registry is asked. One with Python, one without, and the one that holds a pod's network."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.build import Say, program
from tests.cluster.paths import Unavailable, cache_dir, locked

TEST, BARE, PAUSE = "registry.local/aiarts-test:1", "registry.local/aiarts-bare:1", "registry.local/pause:1"
IMAGES = (TEST, BARE, PAUSE)
SCRATCH = "making-"
RECIPE = 1  # count up when the functions below put something else into an image
SUITE = "bookworm"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
USER = "user:x:1000:1000:user:/home/user:/bin/sh\n"
GROUP = "user:x:1000:\n"
# Nothing that runs reads these; they are most of what an import would copy.
DISPENSABLE = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/zoneinfo",
               "var/lib/apt/lists", "var/cache/apt", "var/log", "dev")  # fmt: skip


def archive_of(image: str) -> Path:
    """Where its tar is; named after the recipe, so that a changed one makes a new tar."""
    recipe = hashlib.sha256(repr((RECIPE, SUITE, DISPENSABLE, USER, GROUP)).encode()).hexdigest()[:10]
    return cache_dir() / "images" / f"{re.split('[/:]', image)[-2]}-{recipe}.tar"


def make_images(say: Say) -> None:
    """Make the tars that are missing."""
    makers: dict[str, Callable[[Path], None]] = {TEST: _test_layer, BARE: _busybox_layer, PAUSE: _busybox_layer}
    with locked(cache_dir() / "images.lock"):
        for remains in archive_of(TEST).parent.glob(f"{SCRATCH}*"):  # of one that was killed
            shutil.rmtree(remains)
        for image, make_layer in makers.items():
            if not archive_of(image).exists():
                _make(image, make_layer, say)


def _make(image: str, make_layer: Callable[[Path], None], say: Say) -> None:
    say(f"making the image {image} …")
    began = time.monotonic()
    folder = archive_of(image).parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=SCRATCH) as scratch:
        layer, fresh = Path(scratch, "layer.tar"), Path(scratch, "image.tar")
        make_layer(layer)
        write_archive(fresh, layer, image)
        fresh.rename(archive_of(image))
    say(f"made {image} in {time.monotonic() - began:.0f} s")


def write_archive(target: Path, layer: Path, image: str) -> None:
    """As `docker save` writes it, which containerd imports."""
    config = image_config(layer, command=["/bin/sleep", "2147483647"] if image == PAUSE else ["/bin/sh"])
    manifest = [{"Config": "config.json", "RepoTags": [image], "Layers": ["layer.tar"]}]
    with tarfile.open(target, "w") as archive:
        for name, data in (("config.json", config), ("manifest.json", json.dumps(manifest).encode())):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        archive.add(layer, "layer.tar")


def image_config(layer: Path, command: list[str], architecture: str | None = None) -> bytes:
    """The image's own description; another architecture than the machine's gives one that cannot run here."""
    digest = hashlib.sha256(layer.read_bytes()).hexdigest()
    config = {
        "architecture": architecture or ARCHITECTURES[os.uname().machine],
        "os": "linux",
        "config": {"Cmd": command, "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    return json.dumps(config).encode()


def _test_layer(target: Path) -> None:
    """A small Debian with all of Python's standard library, from the mirror this machine itself uses."""
    root = target.with_name("root")
    hasty = root / "etc" / "dpkg" / "dpkg.cfg.d" / "hasty"
    hasty.parent.mkdir(parents=True)
    hasty.write_text("force-unsafe-io\n")  # no sync for each file: a spoilt image is made again
    options = ["--variant=minbase", "--include=python3", SUITE, str(root), _mirror()]
    # In namespaces of its own, and it ends with this process: what it mounts is gone in any case.
    alone = ["setpriv", "--pdeathsig", "KILL", "--", "unshare", "--mount", "--pid", "--fork", "--kill-child",
             "--mount-proc", "--"]  # fmt: skip
    done = subprocess.run([*alone, str(program("debootstrap")), *options], capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"debootstrap failed:\n{(done.stdout + done.stderr)[-3000:]}")
    hasty.unlink()
    for folder in DISPENSABLE:
        shutil.rmtree(root / folder, ignore_errors=True)
        (root / folder).mkdir(parents=True)
    _add_user(root)
    _pack(root, target)


def _busybox_layer(target: Path) -> None:
    """Busybox and a name for each of its tools."""
    root = target.with_name("root")
    for folder in ("bin", "etc", "tmp", "proc", "sys", "dev", "var"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    busybox = shutil.copy(program("busybox"), root / "bin" / "busybox")
    names = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc" / "group").write_text("root:x:0:\n")
    _add_user(root)
    _pack(root, target)


def _add_user(root: Path) -> None:
    for file, line in (("passwd", USER), ("group", GROUP)):
        with (root / "etc" / file).open("a") as names:
            names.write(line)
    home = root / "home" / "user"
    home.mkdir(parents=True)
    os.chown(home, 1000, 1000)


def _pack(root: Path, target: Path) -> None:
    subprocess.run(["tar", "--numeric-owner", "--sort=name", "-C", str(root), "-cf", str(target), "."], check=True)


def _mirror() -> str:
    """The address under which this machine's own package sources name Debian's main archive."""
    folder = Path("/etc/apt")
    for file in sorted([*folder.glob("sources.list.d/*.sources"), *folder.glob("sources.list*"),
                        *folder.glob("sources.list.d/*.list")]):  # fmt: skip
        if file.is_file() and (found := mirror_in(file.read_text())):
            return found
    raise Unavailable("no Debian mirror in /etc/apt: the image with Python cannot be made")


def mirror_in(text: str) -> str | None:
    """Out of either form: a paragraph with `URIs:`, or a line `deb [options] address suite main`."""
    for paragraph in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n?", "", text)):
        fields = dict(re.findall(r"(?m)^(\w[\w-]*):\s*(.*)$", paragraph))
        if _is_main(fields.get("Suites", "").split(), fields.get("Components", "").split()):
            return str(fields["URIs"].split()[0])
    for address, suite, components in re.findall(r"(?m)^deb\s+(?:\[.*?\]\s+)?(\S+)\s+(\S+)\s+(.*)$", text):
        if _is_main([suite], components.split()):
            return str(address)
    return None


def _is_main(suites: list[str], components: list[str]) -> bool:
    releases = ("bookworm", "trixie", "forky", "stable", "oldstable")
    return "main" in components and any(suite in releases for suite in suites)
