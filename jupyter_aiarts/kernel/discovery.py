"""Finding the Jupyter server a kernel, a terminal or a script belongs to.

In this order: what the person said, `AIARTS_SERVER`, the runtime file of the process that started this kernel
(`JPY_PARENT_PID`), the server whose terminal this is (`JUPYTER_SERVER_URL`), JupyterHub's variables. Nothing
found is an answer too: `api.connect` then works in-process or says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional
from urllib.parse import parse_qs, urlsplit, urlunsplit

# What people copy from their browser's address bar ends in one of these.
PAGES = re.compile(r"/(lab|tree|notebooks|doc|edit|terminals|api)(/.*)?$")
ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}


class Endpoint(NamedTuple):
    """A server's base URL, its token, and how it was found (for `doctor` and messages)."""

    url: str
    token: str
    found_by: str


def find_server(
    server: Optional[str] = None, token: Optional[str] = None, environ: Optional[Mapping[str, str]] = None
) -> Optional[Endpoint]:
    """The server to ask, or None. Called once per kernel or command by `api.connect`."""
    env = os.environ if environ is None else environ
    if server:
        return _told(server, token or _token_for(server, env), "--server")
    if env.get("AIARTS_SERVER"):
        return _told(env["AIARTS_SERVER"], token or env.get("AIARTS_TOKEN", ""), "AIARTS_SERVER")
    found = _by_parent(env) or _by_terminal(env) or _by_hub(env)
    return found._replace(token=token) if found and token else found


def _token_for(server: str, env: Mapping[str, str]) -> str:
    """`AIARTS_TOKEN` belongs to `AIARTS_SERVER`; it is not sent to another address."""
    home = env.get("AIARTS_SERVER")
    return env.get("AIARTS_TOKEN", "") if not home or base_url(home) == base_url(server) else ""


def _told(address: str, token: str, found_by: str) -> Endpoint:
    in_address = parse_qs(urlsplit(address).query).get("token", [""])[0]
    return Endpoint(base_url(address), token or in_address, found_by)


def base_url(address: str) -> str:
    """The server's base URL in what a person pasted: no page, no query, no trailing slash."""
    parts = urlsplit(address if "//" in address else "http://" + address)
    return urlunsplit((parts.scheme, parts.netloc, PAGES.sub("", parts.path.rstrip("/")), "", ""))


def runtime_folders(env: Mapping[str, str]) -> List[Path]:
    """Where a server of this user writes its runtime file, most certain first."""
    if env.get("JUPYTER_RUNTIME_DIR"):
        return [Path(env["JUPYTER_RUNTIME_DIR"])]
    if env.get("JUPYTER_DATA_DIR"):
        return [Path(env["JUPYTER_DATA_DIR"]) / "runtime"]
    home = Path(env.get("HOME") or os.path.expanduser("~"))
    folders = [Path(env.get("XDG_DATA_HOME") or home / ".local/share") / "jupyter/runtime"]
    if sys.platform == "darwin":
        folders.insert(0, home / "Library/Jupyter/runtime")
    return folders


def _by_parent(env: Mapping[str, str]) -> Optional[Endpoint]:
    pid = env.get("JPY_PARENT_PID", "")
    if not pid.isdigit():
        return None
    for folder in runtime_folders(env):
        server = _running(folder / f"jpserver-{pid}.json")
        if server:
            return _endpoint(server, env, "JPY_PARENT_PID")
    return None


def _by_terminal(env: Mapping[str, str]) -> Optional[Endpoint]:
    """A Jupyter terminal knows its server's URL but not its token; the runtime file with that URL has it."""
    url = env.get("JUPYTER_SERVER_URL")
    if not url:
        return None
    for server in _all_running(env):
        if base_url(str(server["url"])) == base_url(url):
            return _endpoint(server, env, "JUPYTER_SERVER_URL")
    return None


def _all_running(env: Mapping[str, str]) -> Iterator[Dict[str, Any]]:
    for folder in runtime_folders(env):
        for path in sorted(folder.glob("jpserver-*.json")):
            server = _running(path)
            if server:
                yield server


def _running(path: Path) -> Optional[Dict[str, Any]]:
    """The server a runtime file describes, if that file is ours and its process lives; files outlive
    servers."""
    try:
        if path.stat().st_uid != os.getuid():
            return None
        server = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    pid = server.get("pid") if isinstance(server, dict) else None
    if not isinstance(pid, int) or path.name != f"jpserver-{pid}.json" or not _alive(pid):
        return None
    return server if str(server.get("url", "")).startswith(("http://", "https://")) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _endpoint(server: Mapping[str, Any], env: Mapping[str, str], found_by: str) -> Endpoint:
    # A hub's single-user server has no token of its own; it accepts the hub's.
    token = str(server.get("token") or env.get("JUPYTERHUB_API_TOKEN", ""))
    return Endpoint(_reachable(str(server["url"])), token, found_by)


def _by_hub(env: Mapping[str, str]) -> Optional[Endpoint]:
    token = env.get("JUPYTERHUB_API_TOKEN")
    url = env.get("JUPYTERHUB_SERVICE_URL") or env.get("JUPYTERHUB_PUBLIC_URL")
    if not token or not url or not url.startswith(("http://", "https://")):
        return None
    parts = urlsplit(_reachable(url))
    path = env.get("JUPYTERHUB_SERVICE_PREFIX") or parts.path
    return Endpoint(urlunsplit((parts.scheme, parts.netloc, path.rstrip("/"), "", "")), token, "JupyterHub")


def _reachable(url: str) -> str:
    """An address one can connect to: `0.0.0.0` is where a server listens, not where it is."""
    parts = urlsplit(url)
    host = ANY_HOST.get(parts.hostname or "")
    if host is None:
        return url.rstrip("/")
    place = f"{host}:{parts.port}" if parts.port else host
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
