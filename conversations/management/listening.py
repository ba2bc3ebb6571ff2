"""The socket that the site listens on, taken before anything else is done, with a sentence when it can't be had."""

from __future__ import annotations

import errno
import socket

BACKLOG = 2048
EVERY_IPV6 = "::"


class CannotListen(Exception):
    """The message is one sentence, fit for the operator."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG, dualstack_ipv6=host == EVERY_IPV6)
    except OSError as error:
        raise CannotListen(_reason(host, port, error)) from error


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken. Stop what uses it, or choose another: PORT={port % 65535 + 1} make run"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"Port {port} is for the system's own services. Choose one above 1023: PORT=8000 make run"
    return f"HOST={host} is no address of this machine that the site can listen on."
