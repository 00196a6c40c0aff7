"""What a page with our labextension draws live in a cell's output, beside text and HTML: a mime type of our own.

It says only what is meant, such as a job's id. The page asks the server itself, so a live view takes no time of the
kernel, goes on while training blocks it, leaves no thread in it, and is there again when the notebook is reopened
without a kernel. Whoever does not know the type shows the HTML.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from jupyter_aiarts.kernel.discovery import find_server

if TYPE_CHECKING:
    from jupyter_aiarts.kernel.client import Client

MIME = "application/vnd.jupyter-aiarts.v1+json"
MOST_IDS = 20  # of a list that only its ids can describe: each is asked for; a longer one is shown as it was


def drawn(
    client: Optional[Client], kind: str, environ: Optional[Mapping[str, str]] = None, **more: Any
) -> Optional[Dict[str, Any]]:
    """The payload of `MIME`, without the keys that say nothing; None where the page would ask another server."""
    if client is None or not _is_the_pages(client.transport.where, os.environ if environ is None else environ):
        return None
    known: Dict[str, Any] = {key: value for key, value in more.items() if value not in (None, False, "")}
    return {"kind": kind, **known}


def _is_the_pages(where: str, environ: Mapping[str, str]) -> bool:
    """Whether a client asks the server around this kernel, or, in-process, the same jobs as that one has."""
    if not where.startswith(("http://", "https://")):
        return True
    around = find_server(environ={name: value for name, value in environ.items() if name != "AIARTS_SERVER"})
    return around is not None and around.url == where
