"""MCP servers in the admin: who writes them down, what is shown of them, and that their authorization never is."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret, encrypt_secret
from conversations.models import McpServer
from tests.support.hostile_addresses import INSIDE, NEVER, WRITTEN
from tests.support.mcp_server import NUMBERS, add, serve_tools

LIST = reverse("admin:conversations_mcpserver_changelist")
ADD = reverse("admin:conversations_mcpserver_add")
SECRET = "Bearer abc-123-secret"


@pytest.fixture
def server(settings):
    settings.MCP_HOSTS = ["127.0.0.1"]
    with serve_tools() as server:
        server.offer("add", add, NUMBERS, description="Adds two numbers.")
        yield server


@pytest.fixture
def stored(server, db):
    return McpServer.objects.create(name="sums", url=server.url)


def form(**fields):
    values = {"name": "sums", "url": "https://tools.example.org/mcp", "timeout_seconds": 30, "enabled": ""}
    return {name: value for name, value in (values | fields).items() if value != ""}


def change_url(stored):
    return reverse("admin:conversations_mcpserver_change", args=[stored.pk])


def save(browser, stored, **fields):
    return browser.post(change_url(stored), form(name=stored.name, **fields))


def mistakes(response):
    assert response.status_code == 200
    return dict(response.context["adminform"].form.errors)


def test_saving_a_server_lists_its_tools(admin_browser, server):
    page = admin_browser.post(ADD, form(url=server.url, enabled="on", _continue="1"), follow=True).content.decode()
    assert "It offers 1 tool." in page
    assert "sums__add" in page
    assert "Adds two numbers." in page
    assert "asks first" in page


def test_one_that_is_not_in_use_is_not_asked(admin_browser, server):
    admin_browser.post(ADD, form(url=server.url))
    assert McpServer.objects.get().listed_at is None
    assert not server.requests


def test_its_tools_are_listed_again_by_a_button(admin_browser, server, stored):
    server.offer("subtract")
    response = admin_browser.post(reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk]), follow=True)
    assert "sums__subtract" in response.content.decode()
    assert LogEntry.objects.get().object_id == str(stored.pk)


def test_a_listing_that_fails_is_told_in_words_and_the_former_one_stays(admin_browser, server, stored):
    list_url = reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk])
    admin_browser.post(list_url)
    McpServer.objects.update(url=server.nonsense_url("down"))
    page = admin_browser.post(list_url, follow=True).content.decode()
    assert "The tool’s server could not be reached. HTTP 503." in page
    assert "Its previous list is kept." in page
    assert "sums__add" in page


def test_why_an_address_is_refused_is_said_in_the_language_of_the_page(admin_browser, superuser, settings, db):
    settings.MCP_HOSTS = []
    type(superuser).objects.update(language="zh-hans")
    page = admin_browser.post(ADD, form(url="http://127.0.0.1/mcp")).content.decode()
    assert "内部网络" in page
    assert "private network" not in page


def test_so_is_why_it_could_not_be_listed(admin_browser, superuser, settings, server, stored):
    settings.MCP_HOSTS = []
    type(superuser).objects.update(language="zh-hans")
    stored.url = "http://10.0.0.1/mcp"
    stored.save()
    list_url = reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk])
    page = admin_browser.post(list_url, follow=True).content.decode()
    assert "内部网络" in page
    assert "private network" not in page


def test_what_was_not_taken_is_shown_with_its_reason(admin_browser, server, stored):
    server.offer("bomb", schema={"type": "object", "properties": {"x": {"$ref": "https://example.org/x.json"}}})
    admin_browser.post(reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk]))
    page = admin_browser.get(change_url(stored)).content.decode()
    assert "Its schema refers to another document" in page
    assert "sums__add" in page
    assert "sums__bomb" not in page


def test_hostile_words_of_a_server_are_text(admin_browser, server, stored):
    schema = {"type": "object", "description": "</pre><script>alert(1)</script>"}
    server.offer("<script>alert(1)</script>", schema=schema, description="<img src=x onerror=alert(1)>")
    admin_browser.post(reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk]))
    page = admin_browser.get(change_url(stored)).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


def test_an_authorization_is_sealed_sent_and_never_shown(admin_browser, settings):
    settings.MCP_HOSTS = ["127.0.0.1"]
    with serve_tools(authorization=SECRET) as server:
        admin_browser.post(ADD, form(url=server.url, enabled="on", authorization=SECRET))
    stored = McpServer.objects.get()
    assert not stored.list_error
    assert SECRET not in stored.sealed_authorization
    assert decrypt_secret(stored.sealed_authorization) == SECRET
    assert "abc-123" not in admin_browser.get(change_url(stored)).content.decode()
    assert "abc-123" not in "".join(LogEntry.objects.values_list("change_message", flat=True))


def test_nor_is_it_in_a_form_that_was_wrong(admin_browser):
    response = admin_browser.post(ADD, form(name="Bad Name", authorization=SECRET))
    assert "name" in mistakes(response)
    assert SECRET not in response.content.decode()


def test_an_empty_field_keeps_the_authorization(admin_browser, stored):
    McpServer.objects.update(sealed_authorization=encrypt_secret(SECRET))
    save(admin_browser, stored, url=stored.url, timeout_seconds=7)
    stored.refresh_from_db()
    assert (decrypt_secret(stored.sealed_authorization), stored.timeout_seconds) == (SECRET, 7)


@pytest.mark.parametrize("url", ["https://evil.example.org/mcp", "http://127.0.0.1:2/mcp", "https://127.0.0.1/mcp"])
def test_it_is_not_sent_elsewhere(admin_browser, stored, url):
    McpServer.objects.update(sealed_authorization=encrypt_secret(SECRET))
    assert "authorization" in mistakes(save(admin_browser, stored, url=url))
    assert McpServer.objects.get().url == stored.url


def test_another_path_of_the_same_server_may_have_it(admin_browser, stored):
    McpServer.objects.update(sealed_authorization=encrypt_secret(SECRET))
    assert save(admin_browser, stored, url=stored.url + "/2").status_code == 302


def test_it_can_be_removed_and_then_the_address_changed(admin_browser, stored):
    McpServer.objects.update(sealed_authorization=encrypt_secret(SECRET))
    save(admin_browser, stored, url="https://tools.example.org/mcp", forget_authorization="on")
    assert McpServer.objects.get().sealed_authorization == ""


def test_it_does_not_travel_in_clear(admin_browser):
    response = admin_browser.post(ADD, form(url="http://tools.example.org/mcp", authorization=SECRET))
    assert "Over http://" in mistakes(response)["authorization"][0]


@pytest.mark.parametrize("value", ["Bearer a\nX-Other: b", "Bearer é", "a\x00b"])
def test_what_can_not_be_a_header_is_refused(admin_browser, value):
    assert "authorization" in mistakes(admin_browser.post(ADD, form(authorization=value)))


def refused_urls():
    """Row 25's table, without what becomes another address because a form takes white space away around it."""
    written = [url for url in WRITTEN if url == url.strip()]
    return [
        *written,
        "stdio:python3",
        "python3 -m http.server",
        "/bin/sh -c id",
        *(f"http://{address}/mcp" for address in (*INSIDE, *NEVER)),
    ]


@pytest.mark.parametrize("url", refused_urls())
def test_an_address_that_leads_inside_is_refused(admin_browser, url):
    assert "url" in mistakes(admin_browser.post(ADD, form(url=url)))
    assert not McpServer.objects.exists()


def test_the_setting_that_opens_a_host_inside_is_named(admin_browser):
    assert "MCP_HOSTS" in mistakes(admin_browser.post(ADD, form(url="http://127.0.0.1/mcp")))["url"][0]


def test_a_new_address_has_none_of_the_old_ones_tools(admin_browser, stored):
    admin_browser.post(reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk]))
    save(admin_browser, stored, url="https://tools.example.org/mcp")
    assert McpServer.objects.get().tools == []


@pytest.mark.parametrize("name", ["Sums", "a__b", "a_b", "-a", "a--b", "calculator.", "é", "x" * 31, "own", "built-in"])
def test_a_name_can_not_look_like_another_tools(admin_browser, name):
    assert "name" in mistakes(admin_browser.post(ADD, form(name=name)))


def test_a_reviewer_sees_none_of_it(reviewer_browser, stored):
    for url in (LIST, ADD, change_url(stored)):
        assert reviewer_browser.get(url).status_code == 403
    list_url = reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk])
    assert reviewer_browser.post(list_url).status_code == 403


def test_a_look_at_the_address_of_the_button_lists_nothing(admin_browser, stored, server):
    assert admin_browser.get(reverse("admin:conversations_mcpserver_list_tools", args=[stored.pk])).status_code == 405
    assert not server.requests
