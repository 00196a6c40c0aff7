"""Why an image cannot be had, in the runtime's words: who refused it, and which part of its name is wrong.

Every runtime wraps the registry's answer in sentences of its own, which repeat the image's name. So a status or a word
counts only after the last of these, where the reason stands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_aiarts.explain.rules.said import closer, lines
from jupyter_aiarts.model.cause import Cause

if TYPE_CHECKING:
    from jupyter_aiarts.model.spec import JobSpec

_ABOUT = ("pull", "image", "manifest", "registr")
_QUOTED = re.compile(r'"[^"]{0,600}"')
_HOST = re.compile(r"lookup ([\w.-]{1,253})")
_DIAL = re.compile(r"dial tcp \[?([\w.:-]{1,253}?)\]?: ")
_SHARE = re.compile(r"https?://([\w.:-]{1,253})/")
_NO_TAG = ("manifest unknown", "manifest_unknown", "tag unknown")
_NO_NAME = ("name unknown", "name_unknown", "repository name not known", "repository does not exist")

_WORDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (  # code, form, words; the first that are found count
    ("disk-full", "node-disk-full", ("no space left on device", "disk quota exceeded")),
    ("image-not-https", "", ("server gave http response to https client",)),
    ("image-wrong-arch", "", ("no match for platform", "no matching manifest", "exec format error")),
    ("image-unreachable", "", ("proxyconnect", "proxy authentication required")),
    ("image-no-access", "image-rate-limit", ("toomanyrequests", "too many requests", "pull rate limit")),
    ("image-unreachable", "image-untrusted", ("x509:", "certificate signed by", "tls: failed to verify")),
    ("image-no-access", "image-denied-or-missing", ("insufficient_scope", "may require", "the resource is denied")),
    (
        "image-no-access",
        "image-login-refused",
        ("401 unauthorized", "status: 401", "incorrect username", "invalid username"),
    ),
    ("image-no-access", "image-no-right", ("403 forbidden", "status: 403")),
    ("image-not-found", "image-not-on-node", ("pull policy of never",)),
    ("image-not-found", "image-bad-name", ("invalid reference", "couldn't parse image", "lowercase", "short-name")),
    ("image-not-found", "image-no-tag", _NO_TAG),
    ("image-not-found", "image-no-name", _NO_NAME),
    ("image-unreachable", "image-host-unknown", ("no such host",)),
    ("image-unreachable", "image-refused", ("connection refused",)),
    ("image-unreachable", "image-broken-off", ("unexpected eof", "connection reset", "broken pipe", "short read")),
    (
        "image-unreachable",
        "image-timeout",
        ("i/o timeout", "deadline exceeded", "handshake timeout", "no route to host", "network is unreachable",
         "client.timeout"),
    ),
    ("image-unreachable", "", ("500 internal", "502 bad gateway", "503 service unavailable", "504 gateway")),
)  # fmt: skip


def read(cause: Cause, spec: JobSpec | None) -> Cause | None:
    """Which of the many ways in which an image can be missing."""
    for line in lines(cause):
        low = line.lower()
        if cause.code == "unknown" and not _is_about_images(low):
            continue
        image = cause.values.get("image")
        found = _told(cause, line, _QUOTED.sub('""', low).replace(str(image).lower() if image else '""', ""))
        if found is not None:
            return found
    return None


def _is_about_images(low: str) -> bool:
    """Of an unknown sentence: whether it speaks of fetching an image, and not of a volume or a container."""
    return any(word in low for word in _ABOUT) and "volume" not in low and "container process" not in low


def _told(cause: Cause, line: str, low: str) -> Cause | None:
    """`low` is the line without what is quoted: an image may be called "unauthorized"."""
    for code, form, words in _WORDS:
        if any(word in low for word in words):
            if cause.code not in ("unknown", code) and not _is_closer(cause.code, code):
                return None  # the engine has seen more than these words
            values = _where(line)
            if form in ("image-host-unknown", "image-timeout") and "lookup " in low and "no such host" not in low:
                form = "image-dns-silent"
            if form in _HOSTED and "host" not in values:
                form = ""
            return closer(cause, code, form, **values)
    return None


_HOSTED = ("image-host-unknown", "image-dns-silent", "image-refused", "image-timeout", "image-untrusted")


def _is_closer(given: str, found: str) -> bool:
    """Whether a code may be made another one: words that the engine takes for access or for a missing image."""
    return (given, found) in {
        ("image-no-access", "image-unreachable"),
        ("image-not-found", "image-no-access"),
        ("image-no-access", "image-not-found"),
        ("image-not-found", "disk-full"),
        ("image-unreachable", "image-no-access"),
    }


def _where(line: str) -> dict[str, Any]:
    """The name or address of the registry, as far as the sentence has it."""
    for pattern in (_HOST, _SHARE, _DIAL):
        found = pattern.search(line)
        if found is not None:
            return {"host": found[1]}
    return {}
