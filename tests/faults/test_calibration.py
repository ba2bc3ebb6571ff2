"""A language model whose tokenizer counts a fifth more than we do: what it reports is learned, and then obeyed."""

from __future__ import annotations

import time
from decimal import Decimal

from conversations.core.window.policies import DEFAULT_RECALL_SHARE
from tests.support.patience import PATIENCE_SECONDS
from tests.support.upstream import count_prompt

LIMIT, REPLY_RESERVE, PERCENT = 6_144, 1_024, 120
LANGUAGE_MODEL = f"context-limit-{LIMIT}-counts-{PERCENT}"
CONFIGURED = f"{LANGUAGE_MODEL} context_window={LIMIT} reply_reserve={REPLY_RESERVE} input_usd=1 output_usd=2"
LONG_MESSAGE = "The window slides over the words of people. " * 80
LEARNED_RATIO = "SELECT ratio FROM conversations_calibration"


def test_what_a_tokenizer_counts_more_is_learned_and_the_limit_holds_from_then_on(new_site):
    site = new_site(LANGUAGE_MODELS=CONFIGURED)
    site.serve()
    page = site.open_page()
    before = ask_until_a_window_is_smaller(site, page)
    assert any(is_refused(exchange) for exchange in site.upstream.log()), "the window was never full before"

    for _ in range(10):
        assert page.wait_for_end(page.ask(LONG_MESSAGE))["state"] == "complete"
    after = site.upstream.log()[before:]
    assert len(after) == 10
    assert not [count for exchange in after if (count := tokens_of(exchange)) > LIMIT]
    # Equal messages are recalled only once, so most of what is kept free for recall stays free.
    kept_for_recall = DEFAULT_RECALL_SHARE * (LIMIT - REPLY_RESERVE)
    assert max(map(tokens_of, after)) > LIMIT * 0.8 - kept_for_recall, "the windows are smaller than they need be"


def ask_until_a_window_is_smaller(site, page):
    """Return how many requests were made until the ratio was obeyed; every reply was made all the same.

    The ledger is read every few seconds, however many replies there are between.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        reply = page.ask(LONG_MESSAGE)
        assert page.wait_for_end(reply)["state"] == "complete"
        [first, *_] = site.ledger(reply)
        if Decimal(first["window"]["calibration"]) > 1:
            assert site.database.value(LEARNED_RATIO) <= PERCENT / 100
            return len(site.upstream.log())
    raise AssertionError(f"nothing was learned in {PATIENCE_SECONDS} s")


def tokens_of(exchange):
    return count_prompt(exchange["body"], PERCENT) + exchange["body"]["max_tokens"]


def is_refused(exchange):
    return tokens_of(exchange) > LIMIT
