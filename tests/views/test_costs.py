"""Costs on the pages of a conversation: under its replies, in its header, and nowhere where they are hidden."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.urls import reverse

from tests.admin.stored import make_completion, make_conversation, make_person, make_record, say

pytestmark = pytest.mark.django_db
SHOW_COSTS = reverse("conversations:show_costs")
TRACES = ("$0.", "40 cached", "103 in", "7 out", "Expensive ", "cost unknown")


@pytest.fixture
def alice(client):
    user = make_person("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


@pytest.fixture
def conversation(alice):
    """A reply for which two requests were made; the second was expensive."""
    conversation = make_conversation(alice, turns=0)
    say(conversation, "user", "And?")
    reply = say(conversation, "assistant", "So.")
    make_completion(alice, reply=reply, window=make_record().to_json())
    make_completion(alice, reply=reply, window=make_record().to_json(), cost_usd=Decimal("0.02"))
    return conversation


def page_of(client, conversation):
    return client.get(reverse("conversations:conversation", args=[conversation.public_id])).text


def snapshot_of(client, conversation):
    return client.get(reverse("conversations:sync", args=[conversation.public_id])).json()


def switch(client, shows, **options):
    return client.post(SHOW_COSTS, {"shows": shows}, **options)


def test_a_reply_tells_the_sums_of_its_requests_and_why_it_was_expensive(client, conversation):
    page = page_of(client, conversation)
    for said in ("206 in (80 cached)", "14 out", "2 requests", "Expensive because of passages: "):
        assert said in page


def test_the_header_and_the_snapshot_tell_what_the_conversation_has_cost(client, conversation):
    cost = '<span class="usd">$0.02<small>125</small></span>'
    assert cost in page_of(client, conversation)
    assert cost in snapshot_of(client, conversation)["costs"]


def test_the_header_says_of_how_many_requests_the_cost_is_unknown(client, alice, conversation):
    for _ in range(2):
        make_completion(alice, reply=conversation.messages.last(), window=make_record().to_json(), cost_usd=None)
    known = '<span class="usd">$0.02<small>125</small></span> <span class="unknown">+ 2 unknown</span>'
    assert f'<span class="costs-sum">{known}</span>' in page_of(client, conversation)
    assert known in snapshot_of(client, conversation)["costs"]


@pytest.mark.parametrize(
    ("cached", "said"),
    [
        ([40, 0], "19.4 % of the input came from the cache."),
        ([0, 0], "0.0 % of the input came from the cache."),
        ([40, None], "38.8 % of the input came from the cache, of the requests that report it (103 of 206 tokens)."),
        ([None, None], "The provider does not report what came from its cache."),
    ],
)
def test_the_costs_tell_which_part_of_the_input_came_from_the_cache(client, alice, cached, said):
    conversation = make_conversation(alice, turns=0)
    say(conversation, "user", "And?")
    reply = say(conversation, "assistant", "So.")
    for tokens in cached:
        make_completion(alice, reply=reply, window=make_record().to_json(), cached_input_tokens=tokens)
    assert said in page_of(client, conversation)
    assert said in snapshot_of(client, conversation)["costs"]


def test_a_narrow_header_never_says_that_something_cost_nothing(client, alice):
    conversation = make_conversation(alice, turns=0)
    say(conversation, "user", "And?")
    make_completion(
        alice,
        reply=say(conversation, "assistant", "So."),
        window=make_record().to_json(),
        cost_usd=Decimal("0.0008875"),
    )
    assert '<span class="costs-brief">$0.0009</span>' in page_of(client, conversation)


def test_what_is_hidden_is_in_no_page_and_no_frame(client, conversation):
    switch(client, "false")
    snapshot = snapshot_of(client, conversation)
    html = [page_of(client, conversation), snapshot["costs"], *(message["html"] for message in snapshot["messages"])]
    assert not [trace for trace in TRACES for piece in html if trace in piece]
    switch(client, "true")
    assert "$0.02" in page_of(client, conversation)


def test_a_new_conversation_has_cost_nothing_to_tell(client, alice):
    conversation = make_conversation(alice, turns=0)
    assert "$" not in snapshot_of(client, conversation)["costs"].partition("</button>")[0]


def test_the_switch_is_the_persons_own(client, alice):
    bob = make_person("bob")
    switch(client, "false")
    alice.refresh_from_db()
    bob.refresh_from_db()
    assert (alice.shows_costs, bob.shows_costs) == (False, True)


def test_without_scripts_the_switch_leads_back_to_where_it_was(client, conversation):
    there = reverse("conversations:conversation", args=[conversation.public_id])
    assert client.post(f"{SHOW_COSTS}?current={conversation.public_id}", {"shows": "false"}).url == there
    assert switch(client, "true").url == reverse("conversations:usage")


def test_a_script_is_told_that_it_is_done(client, alice):
    assert switch(client, "false", headers={"accept": "application/json"}).json() == {}


@pytest.mark.parametrize("shows", ["", "yes"])
def test_what_is_neither_yes_nor_no_is_refused(client, alice, shows):
    assert switch(client, shows).status_code == 400
