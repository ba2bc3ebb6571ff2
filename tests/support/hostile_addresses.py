"""Addresses that no request may leave for, and a server that notices if one does."""

from __future__ import annotations

import socket
import threading

from aiohttp.abc import AbstractResolver

# Refused as they are written, before any look-up.
WRITTEN = [
    *("", "localhost", "//localhost/v1", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org/"),
    *("unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun%2Fdocker.sock/v1", "javascript:alert(1)", "http:///v1"),
    *("http://user@example.org/", "http://user:word@example.org/", "https://example.org@127.0.0.1/"),
    *("http://127.0.0.1@example.org/", "http://example.org:80@127.0.0.1/", "http://example.org#@127.0.0.1/ x"),
    *("http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://017700000001/", "http://0177.0.0.1/"),
    *("http://127.1/", "http://127.0.1/", "http://0/", "http://127.0.0.1./", "http://127.0.0.01/", "http://1.2.3.4.5/"),
    *("http://256.1.1.1/", "http://①②⑦.⓪.⓪.①/", "http://ｌocalhost/", "http://127。0。0。1/", "http://exämple.org/"),
    *("http://example.org:0/", "http://example.org:65536/", "http://example.org:http/", "http://example.org:-1/"),
    *("http://[::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1/", "http://[127.0.0.1]x/", "http://%6cocalhost/"),
    *("http:\\\\127.0.0.1\\", "http://example.org\\@127.0.0.1/", "http://example.org\t/", "http://exa mple.org/"),
    *("http://example.org\r\nHost: inside/", " http://example.org/", "http://example..org/", "http://-x.example.org/"),
    *("http://.example.org/", f"http://{'a' * 64}.org/", "http://example.org/\x00"),
]
# Addresses of the network that this machine is in.
INSIDE = [
    *("127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1"),
    *("198.18.0.1", "192.0.0.1", "[::1]", "[fd00::1]", "[fc00::1]", "[fec0::1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a00:1]", "[2002:7f00:1::]", "[2002:c0a8:1::]"),
    *("[::ffff:0:7f00:1]", "[::ffff:0:a00:1]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1::808:808]", "[64:ff9b:1:2::a00:1]"),
    *("192.0.0.9", "192.0.0.10", "192.88.99.1", "[3fff::1]", "[3fff:fff::1]", "[5f00::1]"),
    *("[::7f00:1]", "[::a00:1]", "[::ffff:0:c000:9]"),
]
# Addresses that hand out credentials, or belong to no machine.
NEVER = [
    *("169.254.169.254", "169.254.0.1", "0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "240.0.0.1"),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "[::]", "[fe80::1]", "[ff02::1]", "[fd00:ec2::254]"),
    *("[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]"),
    *("[::ffff:0:a9fe:a9fe]", "[::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[::ffff:0:0:0]"),
]


class Canary:
    """Counts who connects to it."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.hits = 0
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def _count(self):
        while True:
            connection, _ = self._listener.accept()
            with connection:
                if connection.recv(1) == b"":
                    return
                self.hits += 1

    def close(self):
        """Return once everybody who came before has been counted."""
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._listener.close()


class Rebinding(AbstractResolver):
    """Names the addresses one after the other, as a server of names does that wants in."""

    def __init__(self, *addresses):
        self._addresses = list(addresses)

    async def resolve(self, host, port=0, family=socket.AF_INET):
        address = self._addresses.pop(0)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}]

    async def close(self):
        pass
