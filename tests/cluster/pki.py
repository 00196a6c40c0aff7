"""Certificates and tokens of a cluster, made anew at each start: one authority, one server, one client."""

from __future__ import annotations

import secrets
import subprocess
from pathlib import Path

from tests.cluster.build import program
from tests.cluster.paths import NODES, Instance, Unavailable


def make_certificates(instance: Instance) -> None:
    """Everything in `<folder>/pki`: ca, server (all that listens), client (the API server to kubelets), accounts."""
    folder = instance.folder / "pki"
    folder.mkdir(mode=0o700, parents=True)
    _authority(folder)
    _signed(folder, "server", "/CN=server", f"subjectAltName={_names(instance)}")
    _signed(folder, "client", "/O=system:masters/CN=kube-apiserver", "extendedKeyUsage=clientAuth")
    _key(folder / "accounts.key")


def new_token() -> str:
    return secrets.token_hex(16)


def private_file(file: Path, text: str) -> Path:
    """Written so that nobody else can ever open it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text(text)
    return file


def _names(instance: Instance) -> str:
    addresses = ["127.0.0.1", instance.address(1), instance.service_address, *map(instance.node_address, NODES)]
    hosts = ["localhost", *NODES, "kubernetes", "kubernetes.default", "kubernetes.default.svc"]
    return ",".join([*(f"IP:{address}" for address in addresses), *(f"DNS:{host}" for host in hosts)])


def _authority(folder: Path) -> None:
    _key(folder / "ca.key")
    _openssl("req", "-x509", "-new", "-key", str(folder / "ca.key"), "-subj", "/CN=test-authority", "-days", "7",
             "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", str(folder / "ca.crt"))  # fmt: skip


def _signed(folder: Path, name: str, subject: str, extension: str) -> None:
    _key(folder / f"{name}.key")
    _openssl("req", "-x509", "-new", "-key", str(folder / f"{name}.key"), "-subj", subject, "-days", "7",
             "-addext", extension, "-addext", "basicConstraints=critical,CA:FALSE",
             "-CA", str(folder / "ca.crt"), "-CAkey", str(folder / "ca.key"),
             "-out", str(folder / f"{name}.crt"))  # fmt: skip


def _key(file: Path) -> None:
    _openssl("ecparam", "-genkey", "-noout", "-name", "prime256v1", "-out", str(file))


def _openssl(*arguments: str) -> None:
    done = subprocess.run([str(program("openssl")), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"openssl {arguments[0]}: {done.stderr.strip()}")
