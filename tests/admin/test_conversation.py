"""The list of conversations and each as a thread."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.models import Conversation, Message, Rating
from tests.admin.readings import read_by
from tests.admin.stored import make_completion, make_conversation, make_person, say

LIST = reverse("admin:conversations_conversation_changelist")
HOSTILE = "<script>alert(1)</script>'\"{{ 7*7 }}\u202e\x07"


def read_page(reviewer: User, browser, conversation: Conversation, query: str = "") -> str:
    """Return the page within a reading of the conversation."""
    read_by(reviewer, conversation)
    return page_of(browser, conversation, query)


def page_of(browser, conversation: Conversation, query: str = "") -> str:
    url = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    return browser.get(url + query).content.decode()


def titles(browser, query: str) -> set[str]:
    response = browser.get(LIST + query)
    assert response.status_code == 200
    return {row.title for row in response.context["cl"].result_list}


def shown_positions(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'title="This message by itself">(\d+)<', page)]


def test_the_list_takes_the_same_queries_for_5_and_for_50(queries_for, alice):
    for _ in range(5):
        make_conversation(alice, turns=2)
    five = queries_for(LIST)
    for number in range(45):
        make_conversation(make_person(f"person{number}"))
    assert queries_for(LIST) == five <= 8


def test_the_list_adds_up_the_ledger(admin_browser, alice):
    conversation = make_conversation(alice, turns=2)
    make_completion(alice, reply=conversation.head, cost_usd=None)
    (row,) = admin_browser.get(LIST).context["cl"].result_list
    assert (row.message_count, row.input_tokens, row.output_tokens) == (4, 309, 21)
    page = admin_browser.get(LIST).content.decode()
    assert "$0.00<small>25</small>" in page
    assert "1 unknown" in page


@pytest.mark.parametrize(
    ("cached", "figure", "sentence"),
    [
        ([40, 0], "40", "19.4 % of the input came from the cache."),
        ([0, 0], "0", "0.0 % of the input came from the cache."),
        ([40, None], "40", "of the requests that report it (103 of 206 tokens)."),
        ([None, None], "not reported", "The provider does not report what came from its cache."),
    ],
)
def test_the_page_tells_which_part_of_the_input_came_from_the_cache(admin_browser, alice, cached, figure, sentence):
    conversation = make_conversation(alice, turns=0)
    for tokens in cached:
        make_completion(alice, conversation=conversation, cached_input_tokens=tokens)
    page = page_of(admin_browser, conversation)

    assert f"<dt>Of that, from the provider’s cache</dt><dd>{figure}</dd>" in page
    assert sentence in page


def test_the_page_of_a_conversation_without_input_says_nothing_of_a_cache(admin_browser, alice):
    page = page_of(admin_browser, make_conversation(alice, turns=0))
    assert "s cache" not in page
    assert "from the cache" not in page


def test_a_conversation_without_completions_costs_nothing_that_is_known(admin_browser, alice):
    make_conversation(alice, turns=0)
    row = admin_browser.get(LIST).context["cl"].result_list[0]
    assert row.cost_usd is None
    assert "$0" not in admin_browser.get(LIST).content.decode()


def test_the_most_expensive_come_first_and_those_without_a_cost_last(admin_browser, alice):
    dear, cheap, _ = (make_conversation(alice, turns=0) for _ in range(3))
    make_completion(alice, conversation=cheap, cost_usd="1")
    make_completion(alice, conversation=dear, cost_usd="2")
    rows = admin_browser.get(LIST + "?o=-5").context["cl"].result_list
    assert list(rows)[:2] == [dear, cheap]


def test_it_is_found_by_owner_and_public_id_and_not_by_its_title(admin_browser, alice):
    bob = make_person("bob")
    make_conversation(alice, title="Boats")
    planes = make_conversation(bob, title="Planes")
    assert titles(admin_browser, "?q=bob@") == {"Planes"}
    assert titles(admin_browser, f"?q={planes.public_id}") == {"Planes"}
    assert titles(admin_browser, f"?q={planes.public_id.hex[:8]}") == {"Planes"}
    assert titles(admin_browser, "?q=boat") == titles(admin_browser, "?q=0cd5") == set()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?state=in+use", {"plain", "failed"}),
        ("?state=archived", {"archived"}),
        ("?state=deleted", {"deleted"}),
        ("?state=failed", {"failed"}),
        ("?state=nonsense", {"plain", "failed", "archived", "deleted"}),
        ("?language_model=rare", {"plain"}),
        ("?language_model=%27%3B--", set()),
    ],
)
def test_it_is_filtered_by_state_and_language_model(admin_browser, alice, query, found):
    plain = make_conversation(alice, title="plain")
    make_completion(alice, reply=plain.head, language_model="rare")
    make_conversation(alice, title="archived", archived=True)
    make_conversation(alice, title="deleted", deleted_at=timezone.now())
    say(make_conversation(alice, title="failed"), "assistant", "", state="failed")
    assert titles(admin_browser, query) == found


def test_it_is_filtered_by_scenario_and_date(admin_browser, alice):
    conversation = make_conversation(alice, title="new")
    assert titles(admin_browser, f"?scenario__id__exact={conversation.scenario_id}") == {"new"}
    assert titles(admin_browser, "?last_active_at__gte=2200-01-01+00:00:00%2B00:00") == set()


def test_a_thread_opens_at_its_end_newest_last(admin_browser, superuser, alice):
    page = read_page(superuser, admin_browser, make_conversation(alice, turns=15))
    assert shown_positions(page) == list(range(11, 31))
    assert page.index("question 15") < page.index("answer 15")


@pytest.mark.parametrize(("finish_reason", "is_told"), [("length", True), ("stop", False)])
def test_a_reply_that_was_cut_off_is_not_shown_as_a_whole_one(admin_browser, alice, finish_reason, is_told):
    conversation = make_conversation(alice, turns=0)
    reply = say(conversation, "assistant", "1, 2, 3,")
    make_completion(alice, reply=reply, finish_reason=finish_reason)
    assert ("cut off: " in page_of(admin_browser, conversation)) is is_told


def test_a_thread_is_paged_to_its_beginning_and_back(admin_browser, alice):
    conversation = make_conversation(alice, turns=15)
    first = page_of(admin_browser, conversation, "?from=0")
    assert shown_positions(first) == list(range(1, 21))
    assert '"?from=20"' in first
    assert shown_positions(page_of(admin_browser, conversation, "?from=20")) == list(range(11, 31))


@pytest.mark.parametrize("start", ["-1", "x", "99999999999999999999", "٣", ""])
def test_a_nonsensical_page_is_a_page(admin_browser, alice, start):
    conversation = make_conversation(alice)
    url = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    assert admin_browser.get(url, {"from": start}).status_code == 200


def test_an_empty_conversation_says_so(admin_browser, alice):
    assert "No messages yet" in page_of(admin_browser, make_conversation(alice, turns=0))


@pytest.mark.parametrize("is_read", [True, False])
def test_a_thread_takes_the_same_queries_however_long(queries_for, superuser, alice, is_read):
    short, long = make_conversation(alice, turns=3), make_conversation(alice, turns=40)
    for conversation in (short, long) if is_read else ():
        read_by(superuser, conversation)
    urls = [reverse("admin:conversations_conversation_change", args=[c.pk]) for c in (short, long)]
    assert queries_for(urls[0]) == queries_for(urls[1]) <= 17


def test_grounding_is_apart_from_content(admin_browser, superuser, alice):
    conversation = make_conversation(alice, turns=0)
    passage = {"text": "looked-up words", "source": "manual.md", "score": 0.5}
    say(conversation, "user", "own words", grounding=[passage], grounding_tokens=15)
    page = read_page(superuser, admin_browser, conversation)
    content, grounding = page.split("<details", 1)
    assert "own words" in content
    assert "looked-up words" not in content
    assert "manual.md" in grounding
    assert "score 0.5" in grounding


def test_other_branches_are_reachable_but_not_in_the_thread(admin_browser, alice):
    conversation = make_conversation(alice)
    shown = conversation.head
    other = Message.objects.create(
        conversation=conversation,
        parent=shown.parent,
        position=shown.position,
        active=False,
        role="assistant",
        content="another answer",
        encoding="letters",
    )
    page = page_of(admin_browser, conversation)
    assert "another answer" not in page
    assert "1 other version" in page
    message_page = admin_browser.get(reverse("admin:conversations_message_change", args=[shown.pk])).content.decode()
    assert reverse("admin:conversations_message_change", args=[other.pk]) in message_page


def test_an_edited_first_message_has_its_other_version(admin_browser, alice):
    conversation = make_conversation(alice)
    fields = {"role": "user", "content": "first try", "encoding": "letters", "active": False}
    Message.objects.create(conversation=conversation, position=0, **fields)
    assert "1 other version" in page_of(admin_browser, conversation)


def test_hostile_text_is_text(admin_browser, superuser, alice):
    User.objects.filter(pk=alice.pk).update(name=HOSTILE[:100])
    conversation = make_conversation(alice, title=HOSTILE, turns=0)
    say(conversation, "user", HOSTILE, grounding=[{"text": HOSTILE, "source": HOSTILE, "score": 1}])
    tool = {"id": "1", "type": "function", "function": {"name": HOSTILE, "arguments": HOSTILE}}
    say(conversation, "assistant", HOSTILE, tool_calls=[tool])
    page = read_page(superuser, admin_browser, conversation)
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_a_huge_message_is_shown_in_part(admin_browser, superuser, alice):
    conversation = make_conversation(alice, turns=0)
    say(conversation, "user", "x" * 500_000)
    page = read_page(superuser, admin_browser, conversation)
    assert len(page) < 200_000
    assert "480,000 more characters" in page


def test_ratings_are_counted_and_filtered(admin_browser, alice):
    rated, other = make_conversation(alice, turns=2), make_conversation(alice)
    Conversation.objects.filter(pk=rated.pk).update(title="rated")
    Conversation.objects.filter(pk=other.pk).update(title="other")
    first, last = rated.messages.filter(role="assistant").order_by("position")
    Rating.objects.create(reply=first, verdict="good", rated_at=timezone.now())
    Rating.objects.create(reply=last, verdict="bad", remark="wrong", rated_at=timezone.now())
    rows = {row.title: (row.good, row.bad) for row in admin_browser.get(LIST).context["cl"].result_list}
    assert rows == {"rated": (1, 1), "other": (0, 0)}
    assert titles(admin_browser, "?rating=good") == titles(admin_browser, "?rating=remark") == {"rated"}
    assert "1 / 1" in admin_browser.get(LIST).text
    assert "wrong" not in page_of(admin_browser, rated)
