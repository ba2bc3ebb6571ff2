"""The site behind nginx and Caddy, each a real process with its file of deploy/: what a proxy may break, and hide."""

from __future__ import annotations

import json
import re
import ssl
import uuid
from contextlib import suppress

import pytest
from django.conf import settings
from websockets.exceptions import InvalidStatus

from conversations.management.commands.serve import server_config
from tests.support.api_clients import HELLO, make_key
from tests.support.patience import wait_for
from tests.support.ports import free_port
from tests.support.proxies import ADDRESS, CADDY_FILE, NGINX_FILE, ProxiedBrowser, run_caddy, run_nginx

from .conftest import checked
from .pages import open_socket

MEGABYTES = 2  # of one document here, so that a request may have 10: ten times what nginx takes by itself
TOO_LARGE = "More than 10 MB can’t be sent at once. Send fewer files, or smaller ones."
BOUNDARY = "boundary"
PART = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{{name}}.txt"\r\n'
    "Content-Type: text/plain\r\n\r\n"
)
REPLY_TIMEOUT_SECONDS = int(settings.ENV.declared["REPLY_TIMEOUT_SECONDS"].default)
IN_SECONDS = {"s": 1, "m": 60}


@pytest.fixture(scope="module")
def shared(make_site):
    with make_site(SITE_URL=ADDRESS, TRUSTED_PROXIES="127.0.0.1", DOCUMENT_MEGABYTES=str(MEGABYTES)) as site:
        site.serve()
        yield site


@pytest.fixture(
    scope="module",
    params=[pytest.param(run_nginx, marks=pytest.mark.nginx), pytest.param(run_caddy, marks=pytest.mark.caddy)],
    ids=["nginx", "caddy"],
)
def proxy(request, shared, tmp_path_factory):
    with request.param(tmp_path_factory.mktemp("proxy"), site_port=int(shared.settings["PORT"])) as running:
        shared.browser = ProxiedBrowser(running)
        shared.browser.sign_up(f"{uuid.uuid4().hex[:8]}@example.org")
        yield running


@pytest.fixture
def site(shared, proxy):
    with checked(shared):
        yield shared


def test_a_reply_streams_over_a_socket(site):
    page = site.open_page()
    reply = site.ask(page, "held-60")
    assert page.wait_for_text(reply, len("word0 word1"))
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
    assert page.texts[reply].text.split()[-1] == "word59"


def test_a_stream_of_the_api_comes_in_pieces(site, proxy):
    """The provider holds the end until the beginning has come."""
    answer = ask_program(site, proxy, model="held-60", stream=True)
    line = wait_for(lambda: next_text(answer), "the first piece")
    assert "word" in line
    site.upstream.release()
    assert b"[DONE]" in answer.read()


def test_a_whole_answer_of_the_api_may_take_its_time(site, proxy):
    answer = ask_program(site, proxy, model="ok")
    assert json.loads(answer.read())["choices"][0]["message"]["content"] == "Hello from the upstream."


def test_as_many_files_as_the_site_takes_pass(site, proxy):
    status, answer = upload(site, proxy, files=5, size=MEGABYTES * 1_000_000)
    assert status == 201, answer
    assert site.database.value("SELECT count(*) FROM conversations_document") >= 5


@pytest.mark.parametrize("size", [11_000_000, 60_000_000])
def test_what_is_too_large_is_refused_in_the_sites_own_words(site, proxy, size):
    status, answer = upload(site, proxy, files=1, size=size)
    assert (status, answer["message"]) == (413, TOO_LARGE)


def test_the_security_log_has_the_visitors_address_and_not_what_they_claim(site, proxy):
    claims = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9"}
    liar = ProxiedBrowser(proxy, source="127.0.0.2", **claims)
    liar.sign_up(f"{uuid.uuid4().hex[:8]}@example.org")
    newest = "SELECT network FROM accounts_securityevent ORDER BY id DESC LIMIT 1"
    assert site.database.value(newest).split("/")[0] == "127.0.0.2"


def test_the_site_knows_that_it_is_asked_over_https_whatever_a_visitor_claims(site, proxy):
    connection = proxy.connection()
    connection.request(
        "GET", "/accounts/login/", headers={"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"}
    )
    answer = connection.getresponse()
    assert answer.status == 200
    assert "Strict-Transport-Security" in answer.headers
    assert "evil.example" not in answer.read().decode()


def test_another_name_is_not_served(site, proxy):
    connection = proxy.connection()
    connection.putrequest("GET", "/accounts/login/", skip_host=True)
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    answer = connection.getresponse()
    assert b"<form" not in answer.read()
    with pytest.raises(ssl.SSLError):
        proxy.connect(name="evil.example")


@pytest.mark.parametrize(
    "run",
    [pytest.param(run_nginx, marks=pytest.mark.nginx), pytest.param(run_caddy, marks=pytest.mark.caddy)],
    ids=["nginx", "caddy"],
)
def test_a_site_that_does_not_answer_is_a_page_of_plain_words(run, tmp_path):
    with run(tmp_path, site_port=free_port()) as proxy:
        status, body = ProxiedBrowser(proxy).request("/c/")
    assert status == 502
    assert "<p>It may be starting. Load this page again in a few seconds." in body


def test_a_socket_from_another_sites_page_is_refused(site):
    with pytest.raises(InvalidStatus) as refused:
        open_socket(site.browser, {"Origin": "https://evil.example"})
    assert refused.value.response.status_code == 403


def test_nginx_waits_longer_than_a_reply_may_take_and_the_site_for_a_connection():
    whole = NGINX_FILE.read_text(encoding="utf-8")
    for name in ("proxy_read_timeout", "proxy_send_timeout"):
        assert seconds_of(rf"{name} (\d+)(s|m);", whole) > REPLY_TIMEOUT_SECONDS
    assert seconds_of(r"keepalive_timeout (\d+)(s);", whole) < server_config().timeout_keep_alive


def test_caddy_waits_longer_than_a_reply_may_take_and_the_site_for_a_connection():
    whole = CADDY_FILE.read_text(encoding="utf-8")
    assert seconds_of(r"response_header_timeout (\d+)(s|m)", whole) > REPLY_TIMEOUT_SECONDS
    assert seconds_of(r"keepalive (\d+)(s)", whole) < server_config().timeout_keep_alive


def test_an_open_page_is_never_silent_for_as_long_as_a_proxy_waits_by_itself():
    assert server_config().ws_ping_interval < 60  # nginx's own limit


def seconds_of(pattern, whole):
    number, unit = re.search(pattern, whole).groups()
    return int(number) * IN_SECONDS[unit]


def ask_program(site, proxy, **fields):
    """Ask at /v1 as a program does, and return the answer as soon as it begins."""
    connection = proxy.connection()
    headers = {"Authorization": f"Bearer {make_key(site)}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": HELLO, **fields}), headers)
    return connection.getresponse()


def next_text(answer):
    line = answer.readline().decode()
    return line if '"content":' in line and "word" in line else ""


def upload(site, proxy, *, files, size):
    """Send so many files of *size* bytes; return the status and what the answer says."""
    connection = proxy.connection()
    names = [uuid.uuid4().hex for _ in range(files)]
    parts = [PART.format(name=name).encode() + (name * (size // 32)).encode() + b"\r\n" for name in names]
    body = b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()
    headers = {
        "Accept": "application/json",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Cookie": site.browser.cookie_header,
        "X-CSRFToken": site.browser.cookie("csrftoken"),
        "Referer": f"{ADDRESS}/",
    }
    with suppress(OSError):  # an answer comes before all is sent, and the connection ends with it
        connection.request("POST", f"/c/{site.begin()}/documents/add/", body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())
