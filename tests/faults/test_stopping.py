"""Stop ends a reply soon, wherever it is, keeps what has come, and closes the connection to the provider."""

from __future__ import annotations

import time

import pytest

from .goals import STOPPED_AT_PROVIDER


def stop_by_socket(page, reply):
    page.stop(reply)


def stop_by_http(page, reply):
    assert page.browser.stop(page.conversation, reply) == 200


def check_left(site, asked_at):
    """The connection to the provider was closed, and soon."""
    left = site.upstream.wait_until_ended()
    assert left["ended"] == "disconnected"
    STOPPED_AT_PROVIDER.measure(left["ended_at"] - asked_at)


WAYS = pytest.mark.parametrize("stop", [stop_by_socket, stop_by_http])


@WAYS
def test_stopping_in_the_middle_keeps_the_text(site, page, chance, stop):
    site.answer_with("endless")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 500))
    asked_at = time.time()
    stop(page, reply)
    assert page.wait_for_end(reply)["state"] == "stopped"
    assert site.wait_for_end(reply)["content"] == page.texts[reply].text
    check_left(site, asked_at)


@WAYS
@pytest.mark.parametrize("language_model", ["hang-before", "hang-headers"])
def test_stopping_before_the_first_token(site, page, stop, language_model):
    site.answer_with(language_model)
    reply = page.ask()
    site.upstream.wait_for_requests(1)
    asked_at = time.time()
    stop(page, reply)
    assert page.wait_for_end(reply)["state"] == "stopped"
    check_left(site, asked_at)
    assert site.wait_for_end(reply)["content"] == ""


def test_stopping_at_once_after_sending(site, page, chance):
    site.answer_with("endless")
    reply = page.ask()
    page.stop(reply)
    assert page.wait_for_end(reply)["state"] == "stopped"


def test_stopping_twice_is_stopping_once(site, page):
    site.answer_with("endless")
    reply = page.ask()
    page.wait_for_text(reply)
    for _ in range(3):
        page.stop(reply)
    assert page.wait_for_end(reply)["state"] == "stopped"
    assert not [frame for frame in page.hear_out() if frame["type"] == "error"]


def test_stopping_after_the_end_changes_nothing(site, page):
    site.answer_with("ok")
    reply = page.ask()
    page.wait_for_end(reply)
    page.stop(reply)
    assert stop_by_http(page, reply) is None
    assert site.wait_for_end(reply)["state"] == "complete"


def test_the_next_message_is_answered_after_a_stop(site, page):
    site.answer_with("endless")
    reply = page.ask()
    page.wait_for_text(reply)
    page.stop(reply)
    page.wait_for_end(reply)
    site.answer_with("ok")
    assert page.wait_for_end(page.ask())["state"] == "complete"


def test_a_reply_can_be_made_again_right_after_a_stop(site, page, chance):
    site.answer_with("endless")
    reply = page.ask()
    page.wait_for_text(reply, chance.randint(1, 500))
    assert page.browser.stop(page.conversation, reply) == 200
    assert site.wait_for_end(reply)["state"] == "stopped"
    reply = page.regenerate(reply)
    page.wait_for_text(reply)
    page.stop(reply)  # by the socket, which does not wait
    again = page.regenerate(reply)
    site.answer_with("ok")
    page.stop(again)
    assert site.wait_for_end(again)["state"] == "stopped"


def test_stopping_someone_elses_reply_stops_nothing(site, page, shared_browser):
    site.answer_with("endless-20")
    reply = page.ask()
    page.wait_for_text(reply)
    other = site.open_page(shared_browser)
    other.stop(reply)
    assert other.wait_for("error")["code"] == "conversation_not_found"
    site.upstream.wait_for_more_tokens()
    site.upstream.release()
    assert page.wait_for_end(reply)["state"] == "complete"
