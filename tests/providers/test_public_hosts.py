"""Which hosts a page that all can read may name."""

import pytest

from conversations.providers.egress.public_hosts import is_public_host
from tests.support.hostile_addresses import INSIDE, NEVER

OUTSIDE = [
    *(
        "api.openai.com",
        "Models.Example.NET.",
        "93.184.216.34",
        "2606:4700::1111",
        "svc.example.net",
        "bücher.example.net",
    ),
    *("internal.example.net", "local.example.net", "mylan.example.net", "a.svc.net"),
]
NAMES_INSIDE = [
    *("", "models", "localhost", "LOCALHOST.", "db.localhost", "mac.local", "vm.internal", "host.docker.internal"),
    *("nas.lan", "pi.home", "nas.home.arpa", "home.arpa", "wiki.corp", "wiki.intranet", "a.private", "box.localdomain"),
    *("ollama.chat.svc", "ollama.chat.svc.cluster.local", "ollama.chat.svc.k8s.example.net", "ollama.service.consul"),
    *("gpu.tail1234.ts.net", "x.onion", "a.test", "2130706433", "0x7f.0.0.1", "127.1"),
    *("fe80::1%eth0", "a b.example.net", "10.0.0.1.", "::"),
]  # fmt: skip


@pytest.mark.parametrize("host", OUTSIDE)
def test_a_host_of_the_internet_is_public(host):
    assert is_public_host(host)


@pytest.mark.parametrize("host", [*NAMES_INSIDE, *(each.strip("[]") for each in [*INSIDE, *NEVER])])
def test_a_host_of_a_network_inside_is_not(host):
    assert not is_public_host(host)
