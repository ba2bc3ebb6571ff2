"""Who may open a socket: a signed-in person, from the site's own pages."""

from __future__ import annotations

import base64
import os
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest
from websockets.exceptions import InvalidStatus

from tests.support.patience import PATIENCE_SECONDS, wait_for

from .pages import open_socket

SOCKETS_PER_USER = 40  # the default
FOREIGN = [
    "",  # no Origin at all
    "null",
    "https://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://evil.127.0.0.1.example",
    "https://{host}",
    "ws://{host}",
    "http://{host}.evil.example",
    "http://evil.example/{host}",
    "http://user@evil.example",
    "file://",
]
MALFORMED = [
    "http://127.0.0.1:port",
    "http://127.0.0.1:99999",
    "http://[::1",
    "http://[not-an-address]",
    "//",
    "http://",
    "é",
    "a b",
]


@pytest.fixture(scope="module")
def eve(shared_site):
    """One person for all rounds: an address may sign up twenty times a minute."""
    return shared_site.sign_up()


def handshake(browser, **headers):
    """Return the status with which the server answers the handshake, 101 if it takes it."""
    try:
        open_socket(browser, headers).close()
    except InvalidStatus as refused:
        return refused.response.status_code
    return 101


def handshake_and_stay(opened, browser):
    """Return the status as `handshake` does; a socket that is taken stays open until *opened* is closed."""
    try:
        opened.callback(open_socket(browser).close)
    except InvalidStatus as refused:
        return refused.response.status_code
    return 101


@pytest.mark.parametrize("origin", FOREIGN + MALFORMED)
def test_another_origin_is_refused(site, shared_browser, origin):
    host = shared_browser.address.removeprefix("http://")
    assert handshake(shared_browser, Origin=origin.replace("{host}", host)) == 403


@pytest.mark.parametrize("cookie", ["", "sessionid=", "sessionid=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sessionid=é;=;;"])
def test_no_one_is_refused(site, shared_browser, cookie):
    assert handshake(shared_browser, Cookie=cookie) == 403


def test_a_person_on_the_sites_own_page_is_let_in(site, shared_browser):
    assert handshake(shared_browser) == 101


def test_a_user_with_too_many_open_pages_is_told_to_try_again_later(site, shared_browser, eve):
    pages = [open_socket(eve) for _ in range(SOCKETS_PER_USER)]
    with pytest.raises(InvalidStatus) as refused:
        open_socket(eve)
    assert refused.value.response.status_code == 429
    assert int(refused.value.response.headers["Retry-After"]) > 0
    assert handshake(shared_browser) == 101
    pages[0].close()
    wait_for(lambda: handshake(eve) == 101, "there is room for a page again")
    for page in pages:
        page.close()


def test_handshakes_far_beyond_that_at_once_are_refused_too(site, eve):
    """None of them is lost: each is answered, and afterwards pages open again."""
    with ExitStack() as opened, ThreadPoolExecutor(3 * SOCKETS_PER_USER) as pool:
        statuses = list(pool.map(partial(handshake_and_stay, opened), [eve] * 3 * SOCKETS_PER_USER))
    assert set(statuses) == {101, 429}
    wait_for(lambda: handshake(eve) == 101, "pages open again")


def begin_handshake(browser, *, origin="", more=()):
    """Return a connection on which a page has asked for a socket, with *more* header lines, and read no answer."""
    port = int(browser.address.rpartition(":")[2])
    lines = [
        "GET /ws/ HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        f"Origin: {origin or browser.address}",
        f"Cookie: {browser.cookie_header}",
        *more,
    ]
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection


def test_pages_that_leave_during_their_handshake_take_no_place_of_others(site, eve):
    for _ in range(2 * SOCKETS_PER_USER):
        connection = begin_handshake(eve)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()  # reset, as of a page that is loaded again before it has a socket
    wait_for(lambda: handshake(eve) == 101, "there is room for a page")


def test_both_names_of_this_machine_are_its_own(site, shared_browser):
    assert handshake(shared_browser, Origin=shared_browser.address.replace("127.0.0.1", "localhost")) == 101


def test_two_origins_are_not_the_sites_own(site, shared_browser):
    """The last header would decide, were it believed: browsers send one."""
    more = ("X-Forwarded-Host: evil.example", "X_Origin: 127.0.0.1")
    with begin_handshake(shared_browser, origin="https://evil.example", more=more) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 403")
