"""The guard in tests/conftest.py works, for those who forget it is there."""

from __future__ import annotations

import socket
import threading

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1"])
def test_other_machines_are_out_of_reach(address: str):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client:
        for connect in (client.connect, client.connect_ex):
            with pytest.raises(RuntimeError, match="do not reach the network"):
                connect((address, 9))


def test_names_are_not_looked_up():
    with pytest.raises(RuntimeError, match=r"do not reach the network: example\.org"):
        socket.create_connection(("example.org", 80))


def test_this_machine_is_in_reach():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            server.accept()[0].close()

        answer = threading.Thread(target=hang_up)
        answer.start()
        with socket.create_connection(("localhost", server.getsockname()[1]), timeout=10) as client:
            assert client.recv(1) == b""
        answer.join()
