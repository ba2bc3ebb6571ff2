"""Whether a host is public: one that a page for all may name. Nothing is looked up, only how it is written counts.

A name whose address is inside can't be told from others here: to the internet, too, it is a name.
"""

from __future__ import annotations

from .destinations import EgressRefused, parse_destination

# Names that the internet's DNS doesn't have: RFC 6761, 6762 (with its appendix G), 7686 and 8375, ICANN's `internal`,
# and what Kubernetes, Consul, Docker and Tailscale call the machines of their networks.
# https://www.iana.org/assignments/special-use-domain-names/ (2026-11-29)
INSIDE_SUFFIXES = (
    *("local", "localhost", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa"),
    *("test", "invalid", "onion", "svc", "consul", "docker", "ts.net"),
)


def is_public_host(host: str) -> bool:
    """Tell whether *host*, a name or an address without brackets, may be one of the internet."""
    name = host.lower().removesuffix(".")
    try:
        name = name.encode("idna").decode() if not name.isascii() else name
        parse_destination(f"http://[{name}]/" if ":" in name else f"http://{name}/")
    except (EgressRefused, UnicodeError):
        return False
    labels = name.split(".")
    return ":" in name or not (
        len(labels) == 1
        or any(f".{name}".endswith(f".{suffix}") for suffix in INSIDE_SUFFIXES)
        or "svc" in labels[2:]  # of Kubernetes, which has the domain of its cluster behind it
    )
