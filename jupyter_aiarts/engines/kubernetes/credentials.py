"""Who we are to a cluster: read by the `kubernetes` package, and read again when files change or time runs out.

Everything happens in a thread: importing that package takes half a second, home folders may be slow, and a plugin may
ask somebody. Nothing of this is ever shown: an `Identity` says only where it is good for.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_aiarts.errors import ClusterUnreachable

if TYPE_CHECKING:
    from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CHECK = 10.0  # seconds between looks at the files; the kubelet renews a token minutes before the old one ends
SPARE = timedelta(seconds=30)  # what a plugin gave is renewed so long before its end
PATIENCE = 60.0  # seconds that a plugin may take
AGAIN = 2.0  # seconds in which a refused credential is not asked for a second time

# The package keeps decoded keys in temporary files that all loaders of a process share.
_LOADING = threading.Lock()

Signature = tuple[tuple[str, int, int, int], ...]


class Identity:
    """Where the API server is and what to show it. Compared by object: another one was loaded later."""

    def __init__(self, server: str, namespace: str) -> None:
        self.server = server
        self.namespace = namespace
        self.authorization: str | None = None
        self.tls: ssl.SSLContext | bool = True
        self.server_name: str | None = None
        self.proxy: str | None = None
        self.expires: datetime | None = None
        self.files: Signature = ()

    def __repr__(self) -> str:
        return f"<Identity for {self.server}>"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": self.authorization} if self.authorization else {}


class Credentials:
    """The identity for one cluster, kept fresh. Used by `Api` before every request."""

    def __init__(self, settings: ClusterSettings, service_account: Path = SERVICE_ACCOUNT) -> None:
        self._settings = settings
        self._account = service_account
        self._identity: Identity | None = None
        self._checked = self._loaded = float("-inf")
        self._lock = asyncio.Lock()

    @property
    def known(self) -> Identity | None:
        """What was loaded last, if anything was."""
        return self._identity

    async def current(self) -> Identity:
        """The identity to use now; raises `ClusterUnreachable` where none can be had."""
        if self._identity is not None and time.monotonic() - self._checked < CHECK and not _is_over(self._identity):
            return self._identity
        async with self._lock:
            known = self._identity
            if known is None or _is_over(known) or await asyncio.to_thread(_signature, known) != known.files:
                return await self._load()
            self._checked = time.monotonic()
            return known

    async def renewed(self, refused: Identity) -> Identity:
        """Another identity than the one that was just refused, if there is one by now; else the same."""
        async with self._lock:
            if self._identity is not refused and self._identity is not None:
                return self._identity
            if time.monotonic() - self._loaded < AGAIN:
                return refused
            return await self._load()

    async def _load(self) -> Identity:
        self._loaded = time.monotonic()
        self._identity = await asyncio.to_thread(load, self._settings, self._account)
        self._checked = time.monotonic()
        return self._identity


def _is_over(identity: Identity) -> bool:
    return identity.expires is not None and datetime.now(timezone.utc) >= identity.expires - SPARE


def _signature(identity: Identity) -> Signature:
    return sign([path for path, *_ in identity.files])


def sign(paths: list[str]) -> Signature:
    """What tells one state of these files from another; a file that is gone says so."""
    signed = []
    for path in paths:
        try:
            found = os.stat(path)
            signed.append((path, found.st_ino, found.st_size, found.st_mtime_ns))
        except OSError:
            signed.append((path, 0, 0, 0))
    return tuple(signed)


def load(settings: ClusterSettings, account: Path = SERVICE_ACCOUNT) -> Identity:
    """Read everything; blocks. Raises `ClusterUnreachable` with the reason."""
    from kubernetes.aio.config import ConfigException, kube_config
    from yaml import YAMLError

    tidy: Any = kube_config._cleanup_temp_files  # the package has few types
    with _LOADING:
        try:
            if settings.kubeconfig is None:
                return _from_account(settings, account)
            path = os.path.expanduser(settings.kubeconfig)
            return asyncio.run(asyncio.wait_for(_from_kubeconfig(settings, path), PATIENCE))
        except (ConfigException, OSError, ValueError, TypeError, AttributeError, KeyError) as error:
            # the loader meets a file of a wrong shape with whatever Python says about it
            raise _unusable(settings, f"{type(error).__name__}: {error}") from error
        except YAMLError as error:
            raise _unusable(settings, "it is no YAML") from error
        except asyncio.TimeoutError:
            raise _unusable(settings, f"its credential plugin took longer than {PATIENCE:g} s") from None
        finally:
            tidy()  # keys stay in memory, not in files


def _unusable(settings: ClusterSettings, why: str) -> ClusterUnreachable:
    where = settings.kubeconfig or "the service account of this pod"
    return ClusterUnreachable(
        f"There are no usable credentials for the cluster “{settings.name}” in {where}: {why}.",
        "Check `kubeconfig` and `context` of this cluster in the server's configuration.",
    )


def _from_account(settings: ClusterSettings, account: Path) -> Identity:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import incluster_config

    loader: Any = incluster_config.InClusterConfigLoader
    token, authority = str(account / "token"), str(account / "ca.crt")
    config = Configuration()
    files = sign([token, authority])
    loader(token, authority, try_refresh_token=False).load_and_set(config)
    place = account / "namespace"
    namespace = place.read_text(encoding="utf-8").strip() if place.exists() else "default"
    return _identity(config, namespace, files)


async def _from_kubeconfig(settings: ClusterSettings, path: str) -> Identity:
    from kubernetes.aio.client import Configuration
    from kubernetes.aio.config import kube_config

    read: Any = kube_config.load_kube_config
    files = sign(path.split(os.pathsep))
    if not any(size for _, _, size, _ in files):
        raise FileNotFoundError("there is no such file")
    config = Configuration()
    loader = await read(path, settings.context, config, persist_config=False)
    user = loader._user.value if loader._user is not None else {}
    if "exec" in user and not config.api_key and not config.cert_file:
        raise ValueError("its credential plugin gave none")  # the loader only logs why
    identity = _identity(config, loader.current_context["context"].get("namespace") or "default", files)
    identity.files = (*files, *sign(_files_of(loader, user)))
    identity.expires = getattr(loader, "exec_plugin_expiry", None)
    return identity


def _files_of(loader: Any, user: dict[str, Any]) -> list[str]:
    """Files beside the kubeconfig whose content may be replaced: token, certificate, key, authority."""
    told = [user.get(key) for key in ("tokenFile", "client-certificate", "client-key")]
    told.append(loader._cluster.value.get("certificate-authority"))
    base = loader._get_base_path(loader._cluster.path)
    return [os.path.normpath(os.path.join(base, one)) for one in told if one]


def _identity(config: Any, namespace: str, files: Signature) -> Identity:
    identity = Identity(config.host.rstrip("/"), namespace)
    token = config.api_key.get("BearerToken")
    identity.authorization = " ".join(token.split()) if token else None  # files end with a newline
    identity.tls = _tls(config) if identity.server.startswith("https") else True
    identity.server_name = config.tls_server_name or None
    identity.proxy = config.proxy or environment_proxy(identity.server)
    identity.files = files
    return identity


def environment_proxy(server: str) -> str | None:
    """The proxy that the environment names for a server, as kubectl understands it: this machine needs none."""
    from urllib.request import getproxies, proxy_bypass

    place = urlsplit(server)
    host = place.hostname or ""
    if host == "localhost" or host == "::1" or host.startswith("127.") or proxy_bypass(place.netloc):
        return None
    return getproxies().get(place.scheme)


def _tls(config: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=config.ssl_ca_cert or None)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # authorities of clusters often lack what newer rules ask for
    if not config.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.cert_file:
        context.load_cert_chain(config.cert_file, config.key_file or None)
    return context
