"""The programs of the cluster: built from pinned Go modules, kept in the cache, or taken from the machine.

Each folder under `go/` pins its programs and all they are made of. A built program is named after its version and
the digest of that folder, so a changed pin builds anew and an old clone still finds its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.cluster.paths import Unavailable, cache_dir, locked

GO = Path(__file__).parent / "go"
Say = Callable[[str], None]


class Program(NamedTuple):
    """What to build: `package`, of a `module` whose version `go/<folder>` pins."""

    name: str
    folder: str
    package: str
    module: str

    @property
    def version(self) -> str:
        """The pinned version, as `go.mod` says it."""
        for line in (GO / self.folder / "go.mod").read_text().splitlines():
            words = line.removeprefix("require").split()
            if len(words) >= 2 and words[0] == self.module and words[1].startswith("v"):
                return words[1]
        raise ValueError(f"go/{self.folder}/go.mod does not require {self.module}")

    @property
    def cached(self) -> Path:
        return cache_dir() / "bin" / f"{self.name}-{self.version}-{_digest(GO / self.folder)}"


def _kubernetes(name: str) -> Program:
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}", "k8s.io/kubernetes")


PROGRAMS = [
    *map(_kubernetes, ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl")),
    Program("kueue", "kubernetes", "sigs.k8s.io/kueue/cmd/kueue", "sigs.k8s.io/kueue"),
    Program("coredns", "kubernetes", "./coredns", "github.com/coredns/coredns"),
    Program("metrics-server", "metrics", "sigs.k8s.io/metrics-server/cmd/metrics-server", "sigs.k8s.io/metrics-server"),
    Program("registry", "registry", ".", "github.com/distribution/distribution/v3"),
]
SYSTEM = ":/usr/sbin:/sbin"  # where iptables and ip are, also for a PATH without
# What Debian has; a machine may bring its own in KUBEBUILDER_ASSETS.
DEBIAN = {
    "etcd": "etcd-server", "containerd": "containerd", "ctr": "containerd", "containerd-shim-runc-v2": "containerd",
    "runc": "runc", "ip": "iproute2", "iptables": "iptables", "openssl": "openssl", "debootstrap": "debootstrap",
    "busybox": "busybox-static",
}  # fmt: skip


def program(name: str) -> Path:
    """Where this program is; `build_all` has been run before."""
    found = _given(name)
    if found is None:
        raise Unavailable(f"{name} is neither built nor installed: run `make cluster`")
    return found


def build_all(say: Say) -> None:
    """Build what is missing, one after the other: each build uses every core."""
    with locked(cache_dir() / "build.lock"):
        for wanted in PROGRAMS:
            if _given(wanted.name) is None:
                _build(wanted, say)


def all_built() -> bool:
    return all(_given(wanted.name) is not None for wanted in PROGRAMS)


def missing() -> Iterator[str]:
    """What a person has to install before a cluster can run here, in words."""
    if os.geteuid() != 0:
        yield "root (containers need it)"
    for name, package in DEBIAN.items():
        if _given(name) is None:
            yield f"{name} (Debian: {package})"
    if not Path("/usr/lib/cni/bridge").exists():
        yield "CNI plugins (Debian: containernetworking-plugins)"
    if shutil.which("go") is None:
        unbuilt = [wanted.name for wanted in PROGRAMS if _given(wanted.name) is None]
        if unbuilt:
            yield f"Go 1.25 or newer, to build {', '.join(unbuilt)}"


def _given(name: str) -> Path | None:
    """From KUBEBUILDER_ASSETS (what envtest has), then built, then installed."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and name in ("etcd", "kube-apiserver", "kubectl") and (Path(assets) / name).exists():
        return Path(assets) / name
    ours = next((wanted.cached for wanted in PROGRAMS if wanted.name == name), None)
    if ours is not None and ours.exists():
        return ours
    if ours is not None and name != "kubectl":  # another version's control plane on PATH is not the pinned one
        return None
    found = shutil.which(name, path=os.environ.get("PATH", "") + SYSTEM)
    return Path(found) if found else None


def _build(wanted: Program, say: Say) -> None:
    say(f"building {wanted.name} {wanted.version} …")
    began = time.monotonic()
    target = wanted.cached
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    command = ["go", "build", "-trimpath", "-ldflags", _ldflags(wanted), "-o", str(fresh), wanted.package]
    done = subprocess.run(command, cwd=GO / wanted.folder, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"building {wanted.name} failed:\n{done.stderr[-4000:]}")
    fresh.rename(target)
    say(f"built {wanted.name} in {time.monotonic() - began:.0f} s")


def _environment() -> dict[str, str]:
    return {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly", "GOTOOLCHAIN": "local"}


def _ldflags(wanted: Program) -> str:
    """Kubernetes learns its version here: without it Kueue and kubectl cannot parse what the server says."""
    if wanted.module != "k8s.io/kubernetes":
        return "-s -w"
    major, minor = wanted.version.removeprefix("v").split(".")[:2]
    package = "k8s.io/component-base/version"
    facts = {"gitVersion": wanted.version, "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s -w", *(f"-X {package}.{key}={value}" for key, value in facts.items())])


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:10]
