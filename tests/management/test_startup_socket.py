"""The site's socket is had, or the operator reads one sentence that says why not."""

import socket

import pytest

from conversations.management.startup import CannotListen, listen


def test_it_listens_where_it_is_told():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        assert client.getpeername() == listener.getsockname()


def test_it_listens_on_ipv6():
    with listen("::1", 0) as listener:
        assert listener.family == socket.AF_INET6


def test_a_port_in_use_is_said_with_the_way_out():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(CannotListen, match=rf"Port {port} on 127.0.0.1 is taken.*PORT={port + 1} make run"):
            listen("127.0.0.1", port)


def test_an_address_of_another_machine_is_said():
    with pytest.raises(CannotListen, match=r"HOST=192\.0\.2\.1 is no address of this machine"):
        listen("192.0.2.1", 0)
