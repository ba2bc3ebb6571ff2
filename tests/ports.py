"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket

# Below those that the system gives to outgoing connections (from 32768 on Linux): a server takes seconds to start, and
# by then any connection of another test could have taken one of these.
PORTS = range(20_000, 32_000)
_random = random.SystemRandom()


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    for _ in range(100):
        port = _random.choice(PORTS)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)):
                return port
    raise RuntimeError("no free port was found")
