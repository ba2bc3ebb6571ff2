"""`kill -9` of the one process that serves and makes replies, in the middle of several."""

from __future__ import annotations

import time

import pytest

from tests.support.patience import wait_for

from .goals import INTERRUPTED, WORDS_LOST

STORED = "SELECT content FROM conversations_message WHERE id = %s"


@pytest.fixture
def replies(mortal_site, chance):
    """By language model, a page and its reply, at a site that was killed in their middle and started again."""
    pages = {name: mortal_site.open_page() for name in ("held-60", "endless")}
    replies = {name: (page, mortal_site.ask(page, name)) for name, page in pages.items()}
    for name in ("held-60", "endless"):
        page, reply = replies[name]
        page.wait_for_text(reply, chance.randint(1, 400))
        wait_for(lambda: mortal_site.database.value(STORED, reply), "some of it is stored")  # noqa: B023
    page, reply = replies["held-60"]
    wait_for(lambda: words(mortal_site.database.value(STORED, reply)) == 60, "all that has come is stored")
    mortal_site.process.kill()
    return replies


def test_what_was_said_is_kept_and_marked_and_can_be_made_again(mortal_site, replies):
    mortal_site.serve()
    served_at = time.monotonic()
    for name, (page, reply) in replies.items():
        ended = mortal_site.wait_for_end(reply)
        assert (ended["state"], ended["error_code"]) == ("interrupted", "reply_interrupted")
        seen = page.texts[reply].text if reply in page.texts else ""
        assert seen.startswith(ended["content"]) or ended["content"].startswith(seen)
        if name == "endless":
            WORDS_LOST.measure(max(0, words(seen) - words(ended["content"])))
        [row] = mortal_site.ledger(reply)
        assert (row["usage_estimated"], row["error_code"]) == (True, "reply_interrupted")
    INTERRUPTED.measure(time.monotonic() - served_at)
    assert words(mortal_site.wait_for_end(replies["held-60"][1])["content"]) == 60
    mortal_site.answer_with("ok")
    for page, reply in replies.values():
        page.open()
        assert page.wait_for_end(page.regenerate(reply))["state"] == "complete"


def test_what_was_said_is_continued_as_one_reply(mortal_site, replies):
    mortal_site.serve()
    page, reply = replies["held-60"]
    said = mortal_site.wait_for_end(reply)["content"]
    page.open()
    page.wait_for_end(reply)
    assert page.continue_reply(reply) == reply
    page.wait_for_text(reply, 2 * len(said))
    whole = mortal_site.let_end(reply)
    assert (whole["state"], whole["content"]) == ("complete", said + said)
    page.wait_for_end(reply)
    assert page.texts[reply].text == whole["content"]
    first, second = mortal_site.ledger(reply)
    assert (first["error_code"], second["error_code"]) == ("reply_interrupted", "")
    assert (first["output_tokens"], second["output_tokens"]) == (pytest.approx(120, abs=60), 60)
    assert second["window"]["entries"][-2]["sent_to"] == len(said)


def words(text):
    return len(text.split())
