"""Sockets that are open and say nothing, or nothing about what is shown: the page asks, and opens another."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from .page_actions import ask_for_long_reply, composer, content_of, messages, replies, say, wait_until, write

DEAD_MS = 30_000
KEPT = 6  # connections, of which a check asks each
STEP_MS = 1_000
ANY_ANSWER = re.compile("/(sync|healthz)")
ABOUT_ANOTHER = {"type": "conversation.writing", "conversation": str(uuid.uuid4()), "writing": True}
COUNT_CHECKS = """(paths) => {
  const { fetch } = window;
  Object.assign(window, { checks: 0, openChecks: 0 });
  window.fetch = (address, ...options) => {
    const isCheck = paths.some((path) => address.includes(path));
    window.checks += isCheck;
    window.openChecks += isCheck;
    return fetch(address, ...options).finally(() => { window.openChecks -= isCheck; });
  };
}"""


class Sockets:
    """The sockets of *page*, from its next on. What those that are `forget`ed are sent, by either side, is lost.

    *opened* counts them, *passed* the frames from the server that came through.
    """

    def __init__(self, page: Page) -> None:
        self.opened = self.passed = 0
        self._forgotten = 0
        page.route_web_socket("**/ws/", self._connect)

    def forget(self) -> None:
        """Lose all that the sockets opened so far are sent. They stay open."""
        self._forgotten = self.opened

    def _connect(self, socket: WebSocketRoute) -> None:
        self.opened += 1
        number, server = self.opened, socket.connect_to_server()

        def pass_on(payload: str) -> None:
            if self._forgotten < number:
                self.passed += 1
                socket.send(payload)

        socket.on_message(lambda payload: self._forgotten < number and server.send(payload))
        server.on_message(pass_on)


@pytest.fixture
def sockets(page: Page) -> Sockets:
    """Those of the page, which shows a conversation and whose clock the test moves on besides."""
    say(page, "A conversation")
    sockets = Sockets(page)
    page.clock.install()
    page.reload()
    expect(messages(page)).to_have_count(2)
    wait_until(page, lambda: sockets.passed)  # the answer to what the page asks first
    return sockets


def move_on_until(page: Page, condition: Callable[[], object]) -> int:
    """Move the page's clock on until *condition* is true; returns by how many milliseconds."""
    moved = itertools.count(0, STEP_MS)

    def is_true() -> bool:
        page.clock.run_for(STEP_MS)
        return bool(next(moved) and condition())

    wait_until(page, is_true)
    return next(moved)


def wait_for_more_text(page: Page) -> None:
    length = len(content_of(replies(page).last))
    wait_until(page, lambda: len(content_of(replies(page).last)) > length)


def test_a_socket_that_the_network_has_forgotten_is_replaced_while_a_reply_streams(page, sockets):
    ask_for_long_reply(page)
    sockets.forget()
    move_on_until(page, lambda: sockets.opened > 1)
    wait_for_more_text(page)
    expect(messages(page)).to_have_count(4)


def test_a_message_that_is_sent_by_it_is_sent_by_http_and_answered(page, sockets):
    sockets.forget()
    write(page, "Is there an answer?")
    move_on_until(page, lambda: sockets.opened > 1)
    expect(replies(page)).to_have_count(2)
    expect(messages(page).filter(has_text="Is there an answer?")).to_have_count(1)
    expect(composer(page)).to_have_value("")


def test_it_is_replaced_after_a_while_where_http_has_no_answer_either(page, sockets):
    page.route(ANY_ANSWER, lambda route: None)  # which never ends
    ask_for_long_reply(page)
    sockets.forget()
    assert move_on_until(page, lambda: sockets.opened > 1) >= DEAD_MS
    wait_for_more_text(page)


def test_it_is_replaced_soon_where_all_connections_that_are_kept_are_as_dead(page, sockets):
    held = []
    page.route("**/healthz", lambda route: held.append(route), times=KEPT)
    page.evaluate(COUNT_CHECKS, ["/healthz", "/sync/"])
    ask_for_long_reply(page)
    sockets.forget()

    def is_replaced() -> bool:
        # Else the clock would be moved on while an answer is on its way, which takes time of the real one.
        wait_until(page, lambda: page.evaluate("openChecks") in (0, KEPT))
        return sockets.opened > 1

    assert move_on_until(page, is_replaced) < DEAD_MS
    assert len(held) == KEPT


def test_a_server_that_is_slow_by_http_too_is_waited_for(page, sockets):
    page.route("**/sync/**", lambda route: None)
    page.evaluate(COUNT_CHECKS, ["/healthz"])
    ask_for_long_reply(page)
    sockets.forget()
    for _ in range(2 * DEAD_MS // STEP_MS):
        page.clock.run_for(STEP_MS)
        # They are given up after seconds of the clock that is moved on, however soon the server answers.
        wait_until(page, lambda: page.evaluate("openChecks === 0"))
    assert page.evaluate("checks") > 0
    assert sockets.opened == 1


def test_a_page_that_comes_into_view_finds_out(page, sockets):
    """As after a machine's sleep, when no reply streams and so nothing is waited for."""
    sockets.forget()
    page.clock.run_for(STEP_MS * 60)
    assert sockets.opened == 1
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    move_on_until(page, lambda: sockets.opened > 1)


def test_frames_about_other_conversations_do_not_hide_that_this_one_is_not_heard(page):
    say(page, "A conversation")

    def connect(socket: WebSocketRoute) -> None:
        def pass_on(payload: str) -> None:
            is_heard = not json.loads(payload)["type"].startswith("reply.")
            socket.send(payload if is_heard else json.dumps(ABOUT_ANOTHER))

        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/ws/", connect)
    page.reload()
    expect(messages(page)).to_have_count(2)
    ask_for_long_reply(page)
    for _ in range(2):
        wait_for_more_text(page)
