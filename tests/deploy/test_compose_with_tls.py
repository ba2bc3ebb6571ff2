"""compose.yaml with deploy/compose.caddy.yaml over it: Caddy alone is reached, and its address alone is believed."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from tests.support.manifests import read_compose
from tests.support.source import PROJECT

OVERRIDE = read_compose("deploy/compose.caddy.yaml")
BASE = read_compose("compose.yaml")
CADDY = OVERRIDE["services"]["caddy"]


def test_only_caddy_is_reached_from_outside():
    assert OVERRIDE["services"]["app"]["ports"] == [], "what compose.yaml opens is taken away"
    assert CADDY["ports"] == ["80:80", "443:443", "443:443/udp"]
    assert set(OVERRIDE["services"]) == {"app", "caddy"}


def test_the_app_believes_caddys_address_which_no_other_container_is_given():
    address = ip_address(CADDY["networks"]["proxy"]["ipv4_address"])
    [config] = OVERRIDE["networks"]["proxy"]["ipam"]["config"]
    hosts = list(ip_network(config["subnet"]).hosts())
    assert OVERRIDE["services"]["app"]["environment"] == {"TRUSTED_PROXIES": str(address)}
    assert address == hosts[-1], "the first ones are given out"
    assert list(CADDY["networks"]) == ["proxy"]


def test_caddy_asks_the_app_where_it_listens_and_has_the_file_that_is_tested():
    app = BASE["services"]["app"]
    assert CADDY["environment"]["WINDOWSEAT"] == f"app:{app['environment']['PORT']}"
    assert CADDY["environment"]["SITE_URL"] == app["environment"]["SITE_URL"]
    source, target, mode = CADDY["volumes"][0].split(":")
    assert (PROJECT / source).is_file()
    assert (target, mode) == ("/etc/caddy/Caddyfile", "ro")


def test_caddy_writes_to_what_is_named_alone_and_can_gain_nothing():
    assert CADDY["read_only"] is True
    assert (CADDY["cap_drop"], CADDY["cap_add"]) == (["ALL"], ["NET_BIND_SERVICE"])
    assert CADDY["security_opt"] == ["no-new-privileges:true"]
    assert CADDY["pids_limit"] > 0
    assert CADDY["mem_limit"]
    assert "privileged" not in CADDY
