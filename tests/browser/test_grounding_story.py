"""The ready example as a newcomer meets it: three questions to a guide that has a whole schedule and a small window."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from conversations.example import NAME, QUESTIONS

from .page_actions import choose_scenario, content_of, say

LOAD_AND_WAIT = """
import time
from django.core.management import call_command
from conversations.models import Document
call_command("load_example")
deadline = time.monotonic() + 600
while not Document.objects.get(scenario__name="Conference guide").is_ready and time.monotonic() < deadline:
    time.sleep(0.1)
print(Document.objects.get(scenario__name="Conference guide").state)
"""
REMOVE = "from django.core.management import call_command; call_command('load_example', '--remove')"
BUILD_TIMES, TESTING, MOBILE = QUESTIONS
FITTING = re.compile(r"(\d+) of (\d+) matching passages fit in the window")


@pytest.fixture(scope="module")
def guide(site):
    """The example, read by the running site."""
    assert site.run(LOAD_AND_WAIT).endswith("ready")
    yield
    site.run(REMOVE)


@pytest.fixture
def asking(guide, page):
    """A new conversation with the guide."""
    page.reload()
    choose_scenario(page, NAME)
    page.wait_for_url("**/?scenario=*")
    return page


def sources(reply):
    return reply.locator(".sources")


def fitting(reply):
    """Return how many passages were sent and how many found, as the line under the reply says."""
    expect(sources(reply)).to_contain_text(FITTING)
    said = FITTING.search(sources(reply).inner_text())
    assert said
    return int(said[1]), int(said[2])


def card(page):
    return page.get_by_role("dialog", name="Passage")


def test_a_question_is_answered_from_the_schedule_with_a_passage_to_open(asking):
    reply = say(asking, BUILD_TIMES)
    expect(reply).to_contain_text("Cutting Build Times from Forty Minutes to Four")
    reply.locator("[data-citation]").first.click()
    expect(card(asking)).to_contain_text("Our build took forty minutes")
    asking.keyboard.press("Escape")
    expect(card(asking)).to_be_hidden()


def test_the_third_question_is_answered_from_a_part_of_what_was_found(asking):
    for question in (BUILD_TIMES, TESTING):
        say(asking, question)
    reply = say(asking, MOBILE)
    sent, found = fitting(reply)
    assert 0 < sent < found
    # What is left of the last passage, which was cut, may not say what it is about.
    assert reply.locator("[data-citation]").count() in (sent - 1, sent)
    expect(reply).to_contain_text(f"{found - sent} more passages were found but did not fit")


def test_a_talk_that_is_listed_twice_is_named_once(asking):
    reply = say(asking, "which talks are about screen readers?")
    expect(reply).to_contain_text("Screen Readers, Gestures and You")
    assert content_of(reply).count("Screen Readers, Gestures and You") == 1


def test_what_was_found_for_one_question_is_not_sent_with_the_next(asking):
    say(asking, BUILD_TIMES)
    reply = say(asking, "thanks")
    expect(sources(reply)).not_to_contain_text("passages fit")


def test_the_passage_of_a_number_that_is_tabbed_to_stays_beside_it(asking):
    citations = say(asking, MOBILE).locator("[data-citation]")
    citations.last.focus()
    for _ in range(citations.count() - 1):
        asking.keyboard.press("Shift+Tab")
    expect(citations.first).to_be_focused()
    expect(card(asking)).to_contain_text("speakers:")
    number, shown = citations.first.bounding_box(), card(asking).bounding_box()
    assert shown["y"] >= number["y"] + number["height"] or shown["y"] + shown["height"] <= number["y"]
