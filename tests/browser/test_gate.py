"""The gate as people meet it: set up by the admin, gone through, changed while they write."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .page_actions import composer, draft_kept, say

GATE = re.compile(r"/gate/\?next=")
RAW = "a window seat, please"
MAKE_ADMIN = "from chatsite.accounts.models import User; User.objects.filter(email='{}').update(role='admin')"
OPEN_AGAIN = """
from chatsite.accounts.models import Gate, GateEntry, GatePassword, User
for model in (Gate, GateEntry, GatePassword):
    model.objects.all().delete()
User.objects.exclude(gate_rule='site').update(gate_rule='site')
"""
ROTATE = f"from chatsite.accounts.gate.passwords import set_password; set_password({RAW!r})"


@pytest.fixture(autouse=True)
def _open_again(site):
    """The other tests' people have no password."""
    yield
    site.run(OPEN_AGAIN)


@pytest.fixture
def admin_page(site, signed_in):
    page = signed_in()
    page.goto("/account/")
    email = page.locator(".facts dd").first.inner_text()
    site.run(MAKE_ADMIN.format(email))
    page.goto("/admin/accounts/gate/")
    return page


def shut(page, *, seats=""):
    """Let the admin's *page* ask everybody for one password, and return the one it makes up."""
    page.locator("[name=mode]").select_option("shared")
    page.locator("[name=seats]").fill(seats)
    page.locator("[name=contact]").fill("Grace, at the front desk")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("none is set")).to_be_visible()
    page.get_by_role("button", name="Set the password").click()
    raw = page.locator(".secret").inner_text()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name=re.compile("Copied|Ctrl"))).to_be_visible()
    return raw


def unlock(page, raw):
    page.get_by_label("Site password").fill(raw)
    page.get_by_role("button", name="Come in").click()


def come_in(page, raw):
    unlock(page, raw)
    page.wait_for_url(lambda address: "/gate/" not in address)


def test_an_admin_shuts_the_gate_and_a_person_comes_through_and_talks(admin_page, signed_in):
    raw = shut(admin_page)
    page = signed_in()
    expect(page).to_have_url(GATE)
    expect(page.get_by_text("Grace, at the front desk")).to_be_visible()
    unlock(page, "a guess")
    expect(page.get_by_role("alert")).to_have_text("Wrong password. Try again.")
    come_in(page, raw)
    say(page, "My name is Andrew")
    admin_page.goto("/admin/accounts/gate/")
    expect(admin_page.locator(".secret")).to_have_count(0)
    expect(admin_page.get_by_role("cell", name="inside")).to_have_count(1)


def test_a_password_that_changes_while_a_user_writes_leads_to_the_gate_and_keeps_the_draft(admin_page, signed_in, site):
    raw = shut(admin_page)
    page = signed_in()
    come_in(page, raw)
    say(page, "My name is Andrew")
    conversation = page.url
    composer(page).fill("Something I have thought about for long")
    admin_page.locator("[name=password]").fill(RAW)
    with page.expect_navigation(url=GATE):
        admin_page.get_by_role("button", name="Change the password").click()
    assert draft_kept(page) == ["Something I have thought about for long"]
    come_in(page, RAW)
    expect(page).to_have_url(conversation)
    expect(composer(page)).to_have_value("Something I have thought about for long")


def test_a_message_that_is_sent_outside_the_gate_is_the_draft_behind_it(admin_page, signed_in):
    """Without a socket the page learns of it by the refusal, here of nothing else that it asks meanwhile."""
    raw = shut(admin_page)
    page = signed_in()
    come_in(page, raw)
    say(page, "Hello")
    page.route_web_socket("**/ws/", lambda socket: socket.close())
    for path in ("sync", "estimate"):
        page.route(re.compile(f"/{path}/"), lambda route: route.abort())
    page.reload()
    admin_page.get_by_role("button", name="Change the password").click()
    expect(admin_page.locator(".secret")).not_to_have_text(raw)
    composer(page).fill("Where am I?")
    composer(page).press("Enter")
    expect(page).to_have_url(GATE)
    assert "Where am I?" in draft_kept(page)


def test_who_waits_gets_in_without_doing_anything(admin_page, signed_in):
    raw = shut(admin_page, seats="0")
    page = signed_in(java_script_enabled=False)
    unlock(page, raw)
    expect(page.get_by_role("heading")).to_have_text("All seats are taken")
    admin_page.goto("/admin/accounts/gate/")
    admin_page.locator("[name=seats]").fill("1")
    admin_page.get_by_role("button", name="Save").click()
    expect(page).to_have_url("/")


def test_the_password_can_be_looked_at_and_is_hidden_when_it_is_sent(admin_page, signed_in):
    shut(admin_page)
    page = signed_in()
    field = page.get_by_label("Site password")
    field.fill("a guess")
    page.get_by_role("button", name="Show the password").click()
    expect(field).to_have_attribute("type", "text")
    page.get_by_role("button", name="Show the password").click()
    expect(field).to_have_attribute("type", "password")


def test_nothing_of_the_password_is_in_an_address(admin_page, signed_in):
    raw = shut(admin_page)
    page = signed_in()
    addresses = []
    page.on("request", lambda request: addresses.append(request.url + str(request.headers.get("referer"))))
    come_in(page, raw)
    assert addresses
    assert not [address for address in addresses if raw in address]
