"""What breaks at the provider, seen through the whole product: right state, right words, the text kept."""

from __future__ import annotations

import html

import pytest

from conversations.core.errors.stored_errors import sentence_for

from .pages import shown_text

UNTOLD = "…"  # a moment, which is told by the reader's clock
STORED = "SELECT * FROM conversations_message WHERE id = %s"
# Language model → state, error code, what is kept.
FAULTS = {
    "cut-after-5": ("failed", "stream_broken", "word0 word1 word2 word3 word4"),
    "eof-after-5": ("failed", "stream_broken", "word0 word1 word2 word3 word4"),
    "no-finish": ("failed", "stream_broken", "Hello from the upstream."),
    "bad-json-after-3": ("failed", "malformed_stream", "word0 word1 word2"),
    "not-a-chunk": ("failed", "malformed_stream", "word0"),
    "error-in-stream-after-3": ("failed", "provider_unavailable", "word0 word1 word2"),
    "html-200": ("failed", "malformed_stream", ""),
    "status-401": ("failed", "credentials_rejected", ""),
    "status-503-times-1": ("complete", "", "Hello from the upstream."),
    "length": ("complete", "", "word0 word1 word2"),
    "huge-line": ("complete", "", "x" * 2_000),
}
# What the provider refuses → error code, and how often it is asked: again only if that may help.
REFUSALS = {
    "leak-401": ("credentials_rejected", 1),
    "status-403": ("credentials_rejected", 1),
    "status-404": ("language_model_not_found", 1),
    "status-408": ("provider_timed_out", 1),  # it may be working on it still, and bill it
    "status-409": ("provider_unavailable", 3),
    "status-413": ("context_too_long", 1),
    "status-422": ("provider_rejected", 1),
    "status-429": ("provider_rate_limited", 3),
    "quota-429": ("quota_exhausted", 1),
    "status-429-after-3600": ("provider_rate_limited_until", 1),
    "status-500": ("provider_unavailable", 3),
    "html-502": ("provider_unavailable", 3),
    "status-503": ("provider_unavailable", 3),
    "status-529": ("provider_unavailable", 3),
}

# Long enough for the words before it to come, however slow the machine is.
SILENCE_SECONDS = "5"


@pytest.mark.parametrize("language_model", FAULTS)
def test_the_end_says_what_happened_and_the_text_is_kept(site, page, language_model):
    site.answer_with(language_model)
    reply = page.ask()
    ended = site.wait_for_end(reply)
    assert tuple(ended[name] for name in ("state", "error_code", "content")) == FAULTS[language_model]


def test_the_page_is_told_why_and_after_a_reload_reads_the_same(site, page, shared_browser):
    site.answer_with("cut-after-5")
    frame = page.wait_for_end(page.ask())
    assert frame["code"] == "stream_broken"
    reloaded = shared_browser.sync(page.conversation)[-1]
    assert shown_text(reloaded).startswith("word0 word1 word2 word3 word4")
    assert sentence_for("stream_broken") in reloaded["html"]


def test_a_reply_that_failed_can_be_made_again(site, page):
    site.answer_with("cut-after-5")
    failed = page.ask()
    page.wait_for_end(failed)
    site.answer_with("ok")
    assert page.wait_for_end(page.regenerate(failed))["state"] == "complete"


def test_what_never_began_is_asked_for_again_and_then_given_up(site, page):
    site.answer_with("cut-before")
    reply = page.ask()
    assert site.wait_for_end(reply)["state"] == "failed"
    assert [row["attempt"] for row in site.ledger(reply)] == [1, 2, 3]


def test_a_provider_that_falls_silent_is_waited_for_and_then_given_up(new_site):
    """It is asked once: it may be working on it still, and bill it. What came before the silence is kept."""
    site = new_site(OPENAI_TIMEOUT_SECONDS=SILENCE_SECONDS)
    site.serve()
    kept = {"hang-before": "", "hang-headers": "", "hang-after-3": "word0 word1 word2"}
    replies = {language_model: site.ask(site.open_page(), language_model) for language_model in kept}
    for language_model, reply in replies.items():
        ended = {"state": "failed", "content": kept[language_model], "error_code": "provider_timed_out"}
        assert site.wait_for_end(reply) == ended
    attempts = {language_model: len(site.ledger(reply)) for language_model, reply in replies.items()}
    assert attempts == {"hang-before": 1, "hang-headers": 1, "hang-after-3": 1}


def test_each_refusal_has_its_sentence_and_the_key_is_never_shown(site, shared_browser):
    """It is asked again twice at most. The question stays, and the key, which one provider repeats, is nowhere."""
    pages = {refusal: site.open_page(shared_browser) for refusal in REFUSALS}
    replies = {refusal: site.ask(page, refusal) for refusal, page in pages.items()}
    for refusal, (code, times) in REFUSALS.items():
        page, reply = pages[refusal], replies[refusal]
        assert site.wait_for_end(reply) == {"state": "failed", "content": "", "error_code": code}, refusal
        question, answer = shared_browser.sync(page.conversation)
        [message] = site.database.rows(STORED, reply)
        sentence, _, _ = sentence_for(code, message["error_params"], tell=lambda _: UNTOLD).partition(UNTOLD)
        assert sentence in html.unescape(answer["html"]), refusal
        assert (question["state"], len(site.ledger(reply))) == ("complete", times), refusal
        assert page.wait_for_end(reply)["code"] == code
        shown = (page.frames, question, answer, site.ledger(reply), message)
        assert "sk-canary" not in str(shown)
    assert "sk-canary" not in site.log.read_text()


def test_characters_that_cannot_be_stored_do_not_keep_a_reply_from_ending(site, page):
    """Half of an emoji in each of two chunks, NUL, and a surrogate that is alone."""
    site.answer_with("surrogates")
    reply = page.ask()
    ended = site.wait_for_end(reply)
    assert (ended["state"], ended["content"]) == ("complete", "a😀bc d")
