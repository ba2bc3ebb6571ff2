"""`kill -9` of the one process that serves and makes replies, in the middle of several."""

from __future__ import annotations

import time

import pytest

# Language model → most words that a reader had seen and the database had not: a second's worth, or 64.
MOST_WORDS_LOST = {"paced-250-20": 64, "endless": 200, "hang-before": 0}
INTERRUPTED_WITHIN_SECONDS = 30


@pytest.fixture
def killed(new_site, chance):
    """A site that was killed in the middle of three replies and started again; its page and the replies."""
    site = new_site()
    process = site.serve()
    browser = site.sign_up()
    pages = {name: site.open_page(browser) for name in MOST_WORDS_LOST}
    replies = {name: site.ask(page, name) for name, page in pages.items()}
    for name in ("paced-250-20", "endless"):
        pages[name].wait_for_text(replies[name], chance.randint(1, 800))
    process.kill()
    site.serve()
    return site, pages, replies


def test_what_was_said_is_kept_and_marked_and_can_be_made_again(killed):
    site, pages, replies = killed
    deadline = time.monotonic() + INTERRUPTED_WITHIN_SECONDS
    for name, reply in replies.items():
        ended = site.wait_for_end(reply, seconds=deadline - time.monotonic())
        assert (ended["state"], ended["error_code"]) == ("interrupted", "reply_interrupted")
        seen = pages[name].texts.get(reply)
        assert words(seen.text if seen else "") - words(ended["content"]) <= MOST_WORDS_LOST[name]
        [row] = site.ledger(reply)
        assert (row["usage_estimated"], row["error_code"]) == (True, "reply_interrupted")
    site.answer_with("ok")
    for name, reply in replies.items():
        pages[name].open()
        assert pages[name].wait_for_end(pages[name].regenerate(reply))["state"] == "complete"


def words(text):
    return len(text.split())
