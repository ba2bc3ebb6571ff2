"""The manifest with which browsers install the site; it and its icons are public."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from tests.support.people import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def manifest():
    return Client().get("/manifest.webmanifest")


def test_it_is_public_and_the_same_for_all(manifest):
    assert manifest.status_code == 200
    assert manifest.headers["Content-Type"] == "application/manifest+json"
    assert "public" in manifest.headers["Cache-Control"]
    assert not manifest.cookies


def test_it_has_what_chromium_asks_of_an_app(manifest, settings):
    content = manifest.json()
    assert content["name"] == content["short_name"] == settings.SITE_NAME
    assert content["display"] == "standalone"
    assert content["start_url"] == content["scope"] == "/"
    assert {icon["sizes"] for icon in content["icons"] if icon["purpose"] == "any"} == {"192x192", "512x512"}
    assert any(icon["purpose"] == "maskable" for icon in content["icons"])


def test_an_icon_is_as_large_as_it_says(manifest):
    for icon in manifest.json()["icons"]:
        head = Path(finders.find(icon["src"].removeprefix("/static/"))).read_bytes()[:24]
        assert head.startswith(b"\x89PNG")
        assert "{}x{}".format(*struct.unpack(">II", head[16:24])) == icon["sizes"]


@pytest.mark.parametrize("path", ["/accounts/login/", "/nowhere/"])
def test_every_page_names_it(client, path):
    assert '<link rel="manifest" href="/manifest.webmanifest"' in client.get(path).text


def test_what_is_shared_stands_in_the_composer_and_is_not_sent(client, manifest):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    names = manifest.json()["share_target"]["params"]
    shared = {names["title"]: "A <page>", names["text"]: "Read this", names["url"]: "https://example.org/?a=1&b=2"}
    page = client.get(manifest.json()["share_target"]["action"], shared).text
    assert "A &lt;page&gt;\nRead this\nhttps://example.org/?a=1&amp;b=2</textarea>" in page
    assert not alice.conversations.exists()


def test_browsers_are_told_how_what_is_shared_is_encoded(manifest):
    """It is the default, but Chromium writes a warning into the console of every page that does not say so."""
    assert manifest.json()["share_target"]["enctype"] == "application/x-www-form-urlencoded"


def test_who_is_not_signed_in_gets_what_is_shared_after_signing_in(client):
    answer = client.get("/", {"shared_text": "Read this"})
    assert answer.url.endswith("next=/%3Fshared_text%3DRead%2Bthis")


@pytest.mark.parametrize(("theme", "colours"), [("", 2), ("light", 1), ("dark", 1)])
def test_the_browser_s_frame_has_the_colour_of_the_theme(client, theme, colours):
    if theme:
        client.cookies["theme"] = theme
    assert client.get("/accounts/login/").text.count('<meta name="theme-color"') == colours
