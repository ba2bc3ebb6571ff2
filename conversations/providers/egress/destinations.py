"""Destinations of outgoing requests (SSRF): the one place that decides about a URL and the address it resolves to.

    parse_destination(url, named_hosts=…) → Destination      before anything: how the URL is written
    Destination.open_socket(addr_info) → socket           at each connection: the address it is about to have

A name can have another address each time it is looked up, so nothing is looked up ahead: the address is checked where
the socket for it is made. Hosts that an operator names in the settings may be inside: loopback and private networks.
Services that hand out a machine's own credentials are never reached.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from conversations.core.errors.error_messages import gettext_noop

IPAddress = IPv4Address | IPv6Address

# A URL that browsers, libraries and this file parse alike: anything else could mean one host here and another there.
URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?(?:[/?#][!-~]*)?",
    re.ASCII | re.IGNORECASE,
)
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
LOOKS_LIKE_A_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
PORTS = {"http": 80, "https": 443}

# Credentials of the machine, and addresses of many machines. Addresses of metadata services, checked 2026-11-21:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html (also Google's and Azure's)
# https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
# https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
NEVER_REACHED = [
    ip_network(network)
    for network in (
        "0.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "::/128",
        "fe80::/10",
        "ff00::/8",
        "fd00:ec2::254/128",
        "fd20:ce::254/128",
    )
]
INSIDE = gettext_noop("Its host has an address inside a private network, and MCP_HOSTS does not list it.")
# Not the internet, though some versions of Python call them global: old private addresses, translators inside,
# protocol assignments, the 6to4 relay, documentation, segment routing.
# https://www.iana.org/assignments/iana-ipv6-special-registry/ and .../iana-ipv4-special-registry/ (2026-11-25)
NOT_OUTSIDE = [
    ip_network(network)
    for network in (
        "fec0::/10",
        "64:ff9b:1::/48",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "3fff::/20",
        "5f00::/16",
    )
]
# NAT64, the same inside this network, IPv4-translated, and the obsolete IPv4-compatible: their last bits are an IPv4
# address.
NAT64 = ip_network("64:ff9b::/96")
LOCAL_NAT64 = ip_network("64:ff9b:1::/48")
IPV4_TRANSLATED = ip_network("::ffff:0:0:0/96")
IPV4_COMPATIBLE = ip_network("::/96")
LOOPBACK = ip_address("::1")


class EgressRefused(OSError):
    """No connection is made. Its text is a sentence for the author of the URL, which the catalogs translate."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A server that requests may go to. *host* is without brackets; *is_named* if the operator named it."""

    scheme: str
    host: str
    port: int
    is_named: bool

    def open_socket(self, addr_info: tuple[Any, ...]) -> socket.socket:
        """Return an unconnected socket for an address that `getaddrinfo` found. Raises `EgressRefused`."""
        family, kind, protocol, _, address = addr_info
        require_reachable(ip_address(address[0].partition("%")[0]), is_named=self.is_named)
        return socket.socket(family, kind, protocol)


def parse_destination(url: str, *, named_hosts: Collection[str] = ()) -> Destination:
    """Return the server that *url* means; *named_hosts* may be inside. Looks nothing up. Raises `EgressRefused`."""
    scheme, host, port = _parse(url)
    destination = Destination(scheme, host, port, is_named=host in {_plain_host(each.lower()) for each in named_hosts})
    if address := _address(host):
        require_reachable(address, is_named=destination.is_named)
    return destination


def named_destination(url: str) -> Destination:
    """Return the server of a URL that the operator wrote into the settings. Raises `EgressRefused`."""
    return parse_destination(url, named_hosts=[_parse(url)[1]])


def has_credentials(url: str) -> bool:
    """Return whether a user name or a password stands before the host of *url*: aiohttp sends none beside a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.username) or parts.password is not None


def _parse(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port."""
    written = URL.fullmatch(url)
    if written is None:
        raise EgressRefused(_problem(url))
    scheme = written["scheme"].lower()
    port = int(written["port"] or PORTS[scheme])
    if not 0 < port < 2**16:
        raise EgressRefused(gettext_noop("Its port is not valid."))
    return scheme, _plain_host(written["host"].lower()), port


def require_reachable(address: IPAddress, *, is_named: bool) -> None:
    """Raise `EgressRefused` unless a connection to *address* may be opened."""
    for each in _with_embedded_ipv4(address):
        if any(each in network for network in NEVER_REACHED):
            raise EgressRefused(gettext_noop("Windowseat never connects to the address of its host."))
        if not is_named and (not each.is_global or any(each in network for network in NOT_OUTSIDE)):
            raise EgressRefused(INSIDE)


def _with_embedded_ipv4(address: IPAddress) -> list[IPAddress]:
    """Return *address* and the IPv4 addresses that it stands for."""
    if isinstance(address, IPv4Address):
        return [address]
    if mapped := address.ipv4_mapped:
        return [mapped]
    last_bits = IPv4Address(int(address) & 0xFFFFFFFF)
    if address in NAT64 or address in IPV4_TRANSLATED:
        return [last_bits]
    if address in LOCAL_NAT64 or (address in IPV4_COMPATIBLE and address != LOOPBACK):
        return [address, last_bits]
    return [address, *filter(None, (address.sixtofour, *(address.teredo or ())))]


def _plain_host(host: str) -> str:
    """Return an address or a name without brackets and final dot. Raises `EgressRefused` for what could be either."""
    if _address(bare := host.removeprefix("[").removesuffix("]")):
        return bare
    name = host.removesuffix(".")
    labels = name.split(".")
    if LOOKS_LIKE_A_NUMBER.fullmatch(labels[-1]):
        raise EgressRefused(gettext_noop("Enter its address as four decimal numbers, such as 192.0.2.10."))
    if len(name) > 253 or not all(LABEL.fullmatch(label) for label in labels):
        raise EgressRefused(gettext_noop("Its host name is not valid."))
    return name


def _address(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def _problem(url: str) -> str:
    if not re.match(r"https?://", url, re.IGNORECASE):
        return gettext_noop("Enter an address that begins with http:// or https://.")
    authority = re.split(r"[/?#]", url.partition("://")[2])[0]
    if "@" in authority:
        return gettext_noop("Enter the address without a user name and password.")
    if not url.isascii():
        return gettext_noop(
            "Enter the host name in plain letters; names in other alphabets have a form that begins with xn--."
        )
    return gettext_noop("Enter a plain address, such as https://api.example.org/v1.")
