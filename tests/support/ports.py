"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket

# Below those that the system gives to outgoing connections (from 32768 on Linux): a server takes seconds to start, and
# by then any connection of another test could have taken one of these.
PORTS = range(20_000, 32_000)
_random = random.SystemRandom()
_marks: list[socket.socket] = []


def free_port() -> int:
    """Return a port of the loopback that no server listens on, and that no other test of this machine is given."""
    for _ in range(100):
        port = _random.choice(PORTS)
        if _reserve(port) and not _answers(port):
            return port
    raise RuntimeError("no free port was found")


def _reserve(port: int) -> bool:
    """Mark the port as given away until this process ends. The mark is a UDP socket, which no server over TCP minds."""
    mark = socket.socket(type=socket.SOCK_DGRAM)
    try:
        mark.bind(("127.0.0.1", port))
    except OSError:
        mark.close()
        return False
    _marks.append(mark)
    return True


def _answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
