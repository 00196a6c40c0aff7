"""TCP as the meeting and the port use it: both families on one listener, and silence that is noticed."""

import socket
from typing import Tuple

BACKLOG = 512  # all nodes of the largest job may come at once; the kernel takes less where it is told to


def listen(port: int) -> socket.socket:
    """A non-blocking listener on every address of this machine or pod; raises `OSError`."""
    try:
        return _listen(socket.AF_INET6, "::", port)
    except OSError:
        return _listen(socket.AF_INET, "", port)  # no IPv6 here


def watch_over(connection: socket.socket, seconds: float) -> None:
    """Make a peer that says nothing, not even that it is there, an error after about `seconds`.

    A node without power sends no FIN: only probes, and data that nobody acknowledges, tell.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    options = {
        "TCP_KEEPIDLE": max(int(seconds / 3), 1),
        "TCP_KEEPINTVL": max(int(seconds / 6), 1),
        "TCP_KEEPCNT": 4,
        "TCP_USER_TIMEOUT": int(seconds * 1000),
    }
    for name, value in options.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def host_and_port(address: str) -> Tuple[str, int]:
    """The parts of `host:port` or `[host]:port`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _listen(family: int, host: str, port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
