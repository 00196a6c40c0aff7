"""Names and ids: what is allowed, and how a safe one is made from any text."""

from __future__ import annotations

import hashlib
import json
import re
import string
import unicodedata

from jupyter_aiarts.errors import JobNotFound

_LETTERS = string.ascii_lowercase
_ALPHABET = string.ascii_lowercase + string.digits

ID_PATTERN = r"[a-z][a-z0-9]{9}"
"""A job's id. Checked before any path, label or URL is built from one."""

TEMPLATE_NAME = r"(?!\.)[\w.-]{1,63}"
"""A template's name: letters of any script, digits, `_`, `.`, `-`; no leading dot."""

USER_NAME = r"(?!\.)[A-Za-z0-9._-]{1,63}"
"""A user's name where it becomes part of a path (`{user}` in mounts, `DLWS_USER_NAME`)."""

SLUG_LENGTH = 30
"""`<slug>-<id>-<run>` plus a pod's index must stay within the 63 characters of a DNS label."""


def new_id() -> str:
    """A fresh job id, for a submission that brings no id of its own."""
    import secrets  # by whoever submits: everybody imports this module

    return secrets.choice(_LETTERS) + "".join(secrets.choice(_ALPHABET) for _ in range(9))


def id_for_submission(cluster: str, namespace: str, owner: str, submission_id: str) -> str:
    """The job id that these four always give, so that submitting twice gives one job."""
    # A JSON list keeps ("a", "bc") and ("ab", "c") apart.
    text = json.dumps([cluster, namespace, owner, submission_id])
    number = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
    number, first = divmod(number, len(_LETTERS))
    letters = [_LETTERS[first]]
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def check_id(text: str) -> str:
    """`text` itself when it is shaped like a job id; otherwise no such job can exist."""
    if not re.fullmatch(ID_PATTERN, text):
        raise JobNotFound(
            f"No job has the id {text[:80]!r}: an id is a small letter and nine small letters or digits.",
            hint="Take the id from the list of jobs.",
        )
    return text


def slug(name: str) -> str:
    """A readable part for object names: a DNS label that starts with a letter and ends with no dash.

    Different names may give the same slug; the job id beside it keeps objects apart.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    dashed = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not dashed:
        return "job"
    if not dashed[0].isalpha():  # a Service's name must start with a letter
        dashed = f"j{dashed}"
    return dashed[:SLUG_LENGTH].rstrip("-")


def user_name(text: str) -> str:
    """A user's name that is safe as a variable and as one part of a path: it matches `USER_NAME`.

    What follows an `@` is cut, as the old platform did. Where characters had to be replaced, a hash keeps
    different people apart. People of two domains are not kept apart: never derive access from it.
    """
    alias = text.split("@", 1)[0]
    if re.fullmatch(USER_NAME, alias):
        return alias
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", alias).strip(".-")[:40] or "user"
    return f"{readable}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
