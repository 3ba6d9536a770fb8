"""Errors name a taken port with its owner and the remedy."""

import os
import socket
from collections.abc import Iterator

import pytest
from stack.errors import StackError
from stack.ports import check_free


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_taken_port_names_port_setting_owner_and_remedy(taken: int) -> None:
    with pytest.raises(
        StackError, match=rf"port {taken} \(HTTP_PORT\) is taken by \S+ \(pid {os.getpid()}\).*HTTP_PORT=…"
    ):
        check_free("HTTP_PORT", taken, ours=())


def test_our_own_process_may_use_the_port(taken: int) -> None:
    check_free("HTTP_PORT", taken, ours={os.getpid()})


def test_free_port_passes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = int(server.getsockname()[1])
    check_free("HTTP_PORT", port, ours=())
