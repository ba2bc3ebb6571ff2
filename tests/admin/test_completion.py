"""The ledger, row by row, and the window record of a request."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import get_args

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from conversations.admin.ledger.window_record import KINDS, ShownWindow
from conversations.core.money.cost_drivers import CostDriver
from conversations.core.window.window_record import EntryKind, RecallRecord
from conversations.models import Completion
from tests.admin.stored import make_completion, make_conversation, make_person, make_record
from tests.support.source import PROJECT

LIST = reverse("admin:conversations_completion_changelist")


def page_of(browser, completion: Completion) -> str:
    url = reverse("admin:conversations_completion_change", args=[completion.pk])
    return browser.get(url).content.decode()


@pytest.fixture
def completion(alice) -> Completion:
    """A completion with every kind of decision in its window."""
    reply = make_conversation(alice, turns=0)
    return make_completion(alice, window=make_record().to_json(), conversation=reply)


def test_the_list_takes_the_same_queries_for_5_and_for_50(queries_for, alice):
    for _ in range(5):
        make_completion(alice)
    few = queries_for(LIST)
    for number in range(45):
        make_completion(make_person(f"person{number}"))
    assert queries_for(LIST) == few <= 6


def test_the_list_says_which_step_of_its_reply_a_request_is(admin_browser, alice):
    for step, purpose in ((1, "tool_step"), (2, "reply")):
        make_completion(alice, step=step, purpose=purpose)
    page = admin_browser.get(LIST).content.decode()
    assert "Reply, step 2" in page
    assert "Tool step, step" not in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?outcome=succeeded", {"cheap", "priceless"}),
        ("?outcome=stopped", {"stopped"}),
        ("?outcome=failed", {"failed"}),
        ("?outcome=unfinished", {"open"}),
        ("?cost=unknown", {"priceless"}),
        ("?language_model=cheap", {"cheap"}),
        ("?q=provider_timed", {"failed"}),
    ],
)
def test_it_is_filtered_by_outcome_cost_and_language_model(admin_browser, alice, query, found):
    make_completion(alice, language_model="cheap")
    make_completion(alice, language_model="priceless", cost_usd=None)
    make_completion(alice, language_model="failed", error_code="provider_timed_out")
    make_completion(alice, language_model="open", ended_at=None, cost_usd=None)
    make_completion(alice, language_model="stopped", finish_reason="stopped")
    rows = admin_browser.get(LIST + query).context["cl"].result_list
    assert {row.language_model for row in rows} == found


def test_a_reply_that_was_stopped_did_not_succeed(admin_browser, alice):
    make_completion(alice, finish_reason="stopped")
    shown = admin_browser.get(LIST).context["cl"]
    assert [shown.model_admin.outcome(row)[0] for row in shown.result_list] == ["stopped"]


def test_it_is_reached_from_the_first_page_and_from_its_conversation(admin_browser, alice):
    conversation = make_conversation(alice)
    make_completion(None, error_code="quota_exhausted")
    for query in (f"user={alice.pk}", f"conversation={conversation.pk}"):
        assert len(admin_browser.get(f"{LIST}?{query}").context["cl"].result_list) == 1
    for query in ("user__isnull=1", "error_code=quota_exhausted"):
        assert admin_browser.get(f"{LIST}?{query}").context["cl"].result_list[0].user is None


def test_the_parts_of_a_window_add_up_to_the_prompt(completion):
    window = ShownWindow(completion)
    assert sum(part.tokens for part in window.parts) == window.record.prompt_tokens
    assert window.record.prompt_tokens + window.free_tokens == window.record.budget_tokens
    assert [part.kind for part in window.parts] == ["system", "pin", "older", "grounding", "newest", "priming"]


def test_what_was_recalled_is_a_part_of_its_own(admin_browser, completion):
    record = ShownWindow(completion).record
    *others, newest = record.entries
    recalled = replace(
        record,
        entries=(*others, newest._replace(tokens=newest.tokens + 7)),
        prompt_tokens=record.prompt_tokens + 7,
        recall=RecallRecord(tokens=7, limit_tokens=9, is_looked_up=True),
    )
    Completion.objects.filter(pk=completion.pk).update(window=recalled.to_json())
    before = {part.kind: part.tokens for part in ShownWindow(completion).parts}
    completion.refresh_from_db()
    assert {part.kind: part.tokens for part in ShownWindow(completion).parts} == before | {"recall": 7}
    assert "Recalled" in page_of(admin_browser, completion)


def test_every_part_of_a_window_has_a_name_and_a_colour():
    colours = (PROJECT / "static/css/tokens.css").read_text()
    assert set(KINDS) == set(get_args(EntryKind))
    kinds = (*KINDS, "tools", "grounding", "recall")
    assert not [kind for kind in kinds if not re.search(rf"\.part-{kind}\b", colours)]


def test_the_window_is_a_readable_table(admin_browser, completion):
    page = page_of(admin_browser, completion)
    for words in ("System prompt", "Pinned messages", "Older messages", "Newest message", "Passages"):
        assert words in page
    assert "7 – 9" in page  # the positions of the older messages, counted from 1


def test_the_page_says_what_was_left_out_and_cut(admin_browser, completion):
    page = page_of(admin_browser, completion)
    assert {"excluded", "empty", "does_not_fit"} <= {message.reason for message, _ in ShownWindow(completion).left_out}
    for words in ("excluded", "empty", "did not fit", "left out", "<td>cut</td>"):
        assert words in page


def test_the_page_shows_budget_reserve_and_both_counts(admin_browser, completion):
    page = page_of(admin_browser, completion)
    assert "Reply reserve" in page
    assert "The provider counted +3 input tokens compared with our estimate" in page


def test_a_provider_that_counts_as_we_do_is_said_to(admin_browser, alice):
    page = page_of(admin_browser, make_completion(alice, input_tokens=100))
    assert "The provider counted as many input tokens as we did" in page


def test_our_own_count_is_not_called_the_provider_s(admin_browser, alice):
    page = page_of(admin_browser, make_completion(alice, usage_estimated=True))
    assert "Used (our count)" in page
    assert "The provider counted" not in page


def test_prices_are_shown_with_their_source(admin_browser, alice):
    prices = {"input_price_usd": Decimal("0.15"), "output_price_usd": Decimal("0.6"), "price_source": "the list"}
    page = page_of(admin_browser, make_completion(alice, **prices))
    assert "$0.15" in page
    assert "Source: the list" in page


def test_an_unknown_cost_is_never_nothing(admin_browser, alice):
    page = page_of(admin_browser, make_completion(alice, cost_usd=None))
    assert "unknown" in page
    assert "$0" not in page


@pytest.mark.parametrize("window", [{}, {"entries": []}, [], "text", {"later": "version"}])
def test_a_request_without_a_window_has_a_page(admin_browser, alice, window):
    assert "no window record" in page_of(admin_browser, make_completion(alice, window=window))


def test_hostile_text_is_text(admin_browser, alice):
    hostile = "<img src=x onerror=alert(1)>"
    record = make_record().to_json()
    record["grounding"]["included"][0]["source"] = hostile
    record["policy"]["name"] = hostile
    fields = {"language_model": hostile, "error_code": hostile, "price_source": hostile, "finish_reason": hostile}
    completion = make_completion(alice, window=record, provider_request_id=hostile, **fields)
    for page in (page_of(admin_browser, completion), admin_browser.get(LIST).content.decode()):
        assert "<img src=x" not in page


def test_a_page_says_the_outcome_and_the_policy_in_the_reader_s_words(admin_browser, alice):
    completion = make_completion(alice, window=make_record().to_json(), finish_reason="stop")
    url = reverse("admin:conversations_completion_change", args=[completion.pk])
    page = admin_browser.get(url, headers={"accept-language": "zh-hans"}).content.decode()
    assert "成功 <code>stop</code>" in page
    assert "滑动：放得下的最新消息" in page


def test_an_expensive_request_says_what_most_of_it_was_spent_on(admin_browser, completion):
    Completion.objects.update(cost_usd=Decimal("0.05"), output_tokens=1, output_price_usd=Decimal("0.6"))
    sent = [tokens for part, tokens in make_record().parts.items() if part != "free"]
    assert f"{max(sent)} of {sum(sent)} input tokens" in page_of(admin_browser, completion)


def test_lists_of_tools_are_told_from_what_tools_answered():
    listed, answered = (
        render_to_string("conversations/_cost_driver.html", {"cost_driver": CostDriver(part, 7, 9)})
        for part in ("tools", "tool_steps")
    )
    assert "tool descriptions: 7 of 9 input tokens" in listed
    assert "tool calls: 7 of 9 input tokens" in answered


def test_a_cheap_request_needs_no_reason(admin_browser, completion):
    assert "Expensive" not in page_of(admin_browser, completion)


def test_from_one_step_the_others_are_a_click_away(admin_browser, alice):
    make_conversation(alice)
    first = Completion.objects.get()
    second = make_completion(alice, reply=first.reply, step=2)
    lead = f"{LIST}?reply={first.reply_id}"
    assert f'2 <a href="{lead}">' in page_of(admin_browser, second)
    assert set(admin_browser.get(lead).context["cl"].result_list) == {first, second}
