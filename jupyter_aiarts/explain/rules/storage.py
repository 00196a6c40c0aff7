"""Why a volume cannot be mounted, in the kubelet's words: what is missing, by its name, or who does not let it in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules.said import closer, first, lines
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_MISSING = re.compile(r'\b(configmap|secret)s? "([^"\s]{1,253})" not found', re.IGNORECASE)
_KEY = re.compile(r"couldn't find key ([\w.-]{1,253}) in (ConfigMap|Secret) (?:[\w.-]{1,63}/)?([\w.-]{1,253})")
_REFERENCE = re.compile(r"references non-existent (config|secret) key: ([\w.-]{1,253})")
_HOST_PATH = re.compile(r"hostPath type check failed: (\S{1,1000}) (is not an? [\w ]{1,40})")
_UNMOUNTED = re.compile(r"unmounted volumes=\[([^\]]{0,1000})\]")
_SHARE = re.compile(r"([\w.-]{1,253}):(/\S{0,500})")
_ATTACHED = re.compile(r"Multi-Attach error")
_DRIVER = re.compile(r"driver name ([\w.-]{1,253}) not found in the list of registered CSI drivers")
_CLAIM = re.compile(r'persistentvolumeclaim "([^"\s]{1,253})"( not found)?', re.IGNORECASE)
_SUBFOLDER = "subpath"
_USED_BY = re.compile(r"used by pod\(s\) ([\w., -]{1,300})")

_NFS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # code, form, words of mount.nfs and of the kernel
    ("mount-denied", "nfs-denied", ("access denied by server", "permission denied", "operation not permitted")),
    ("mount-missing", "nfs-no-export", ("no such file or directory", "does not exist")),
    ("mount-missing", "nfs-no-client", ("bad option", "wrong fs type", "unknown filesystem", "no such device")),
    (
        "mount-missing",
        "nfs-unreachable",
        ("timed out", "connection refused", "no route to host", "network is unreachable", "failed to resolve",
         "name or service not known", "deadline exceeded"),
    ),
)  # fmt: skip


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """What it is that could not be mounted, and why."""
    return _named(cause) or _nfs(cause) or _claimed(cause) or _late(cause)


def _named(cause: Cause) -> Cause | None:
    """Objects that are not there: a ConfigMap, a Secret, a key in one, a folder of the node."""
    missing, key, path = first(_MISSING, cause), first(_KEY, cause), first(_HOST_PATH, cause)
    reference = first(_REFERENCE, cause)
    if path is not None:
        return closer(cause, "mount-missing", "host-path-missing", path=path[1], lack=path[2])
    if key is not None:
        return closer(cause, "mount-missing", "key-missing", key=key[1], kind=key[2], object=key[3])
    if reference is not None:
        return closer(cause, "mount-missing", "reference-missing", key=reference[2])
    if missing is not None and cause.code in ("mount-missing", "unknown"):
        kind = "ConfigMap" if missing[1].lower() == "configmap" else "Secret"
        return closer(cause, "mount-missing", "object-missing", kind=kind, object=missing[2])
    return None


def _nfs(cause: Cause) -> Cause | None:
    for line in lines(cause):
        low = line.lower()
        if "-t nfs" not in low and "mount.nfs" not in low and "nfs" not in low.partition("output:")[2]:
            continue
        output = low.partition("output:")[2] or low
        share = next((found for word in line.split()[:100] if (found := _SHARE.fullmatch(word.rstrip(",;.")))), None)
        values: dict[str, Any] = {"server": share[1], "path": share[2]} if share is not None else {}
        for code, form, words in _NFS:
            if values and any(word in output for word in words):
                return closer(cause, code, form, **values)
    return None


def _claimed(cause: Cause) -> Cause | None:
    """Volumes behind a claim."""
    text = "\n".join(lines(cause))
    low = text.lower()
    if _SUBFOLDER in low:
        return closer(cause, "mount-denied", "subfolder-refused")
    if _ATTACHED.search(text):
        user = _USED_BY.search(text)
        named = {"pods": user[1].strip(" .")} if user is not None else {}
        return closer(cause, "mount-denied", "volume-in-use-by" if named else "volume-in-use", **named)
    driver = _DRIVER.search(text)
    if driver is not None:
        return closer(cause, "mount-missing", "storage-driver-missing", driver=driver[1])
    claim = _CLAIM.search(text)
    if claim is not None and ("non-existent persistentvolume" in low or "lost" in low):
        return closer(cause, "mount-missing", "claim-lost", claim=claim[1])
    if claim is not None and claim[2]:
        return closer(cause, "mount-missing", "claim-gone", claim=claim[1])
    return None


def _late(cause: Cause) -> Cause | None:
    """A kubelet that has only waited: the volumes it names first, for the others may be fine."""
    found = first(_UNMOUNTED, cause)
    if found is None or not found[1].strip():
        return None
    return closer(cause, "mount-missing", "mount-late", volumes=", ".join(found[1].split()))
