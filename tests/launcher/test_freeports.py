"""The ports that ranks on this machine are given."""

import socket
from contextlib import ExitStack
from pathlib import Path

from jupyter_aiarts.launcher.freeports import free_ports


def test_all_ports_of_the_row_can_be_listened_on() -> None:
    for count in (1, 4, 32):
        start = free_ports(count)
        with ExitStack() as held:
            for port in range(start, start + count):
                held.enter_context(socket.create_server(("", port)))


def test_no_port_is_one_of_those_that_connections_of_this_machine_go_out_from() -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    for _ in range(200):
        start = free_ports(8)
        assert start + 8 <= low or start > high


def test_a_row_with_a_port_that_somebody_has_is_not_taken() -> None:
    start = free_ports(5)
    with socket.create_server(("127.0.0.1", start + 2)):
        assert {free_ports(2, start, start + 5) for _ in range(50)} == {start, start + 3}
        assert not start <= free_ports(5, start, start + 5) < start + 5


def test_a_port_of_a_connection_that_has_just_ended_is_not_taken() -> None:
    start = free_ports(2)
    with socket.create_server(("127.0.0.1", start)) as server:
        caller = socket.create_connection(("127.0.0.1", start), source_address=("127.0.0.1", start + 1))
        called, _ = server.accept()
        caller.close()  # first, so that the minute is its own
        called.close()
    assert not start <= free_ports(2, start, start + 2) < start + 2
