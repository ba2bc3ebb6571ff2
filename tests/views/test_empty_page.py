"""What a page shows before anything is said: one sentence, and on the demo model a tour of the window."""

from __future__ import annotations

import re

import pytest

from conversations.models import Scenario
from conversations.services.messages.estimate_draft import estimate_draft
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
TOUR = 'data-part="tour"'


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def empty_page(client, user, **scenario):
    chosen = Scenario.objects.create(owner=user, name="Mine", **scenario)
    return client.get(f"/?scenario={chosen.pk}").text, chosen


@pytest.mark.parametrize("system_prompt", ["", "Answer as a steward would. " * 100], ids=["plain", "instructed"])
def test_the_filler_fits_and_leaves_no_room_for_the_first_message_and_its_reply(client, alice, system_prompt):
    page, scenario = empty_page(client, alice, system_prompt=system_prompt)
    (line,), (lines,) = re.findall(r'data-line="([^"]+)"', page), re.findall(r'data-lines="(\d+)"', page)
    filler = "\n".join(line.replace("{number}", str(number + 1)) for number in range(int(lines)))
    estimated = estimate_draft(user=alice, conversation=None, content=filler, scenario_id=scenario.pk)
    assert estimated.error is None
    assert estimated.budget_tokens - estimated.prompt_tokens < 76  # of “My name is Anna.”, and of what is said to it


def test_the_tour_introduces_the_user_by_their_name(client, alice):
    alice.name = "Grace"
    alice.save()
    page, _ = empty_page(client, alice)
    assert 'data-content="My name is Grace."' in page


@pytest.mark.parametrize("policy", ["last-n-messages", "full"])
def test_there_is_no_tour_where_size_moves_nothing_out_of_the_window(client, alice, policy):
    page, _ = empty_page(client, alice, policy_name=policy)
    assert TOUR not in page


def test_there_is_no_tour_where_instructions_fill_the_window(client, alice):
    page, _ = empty_page(client, alice, system_prompt="word " * 4_000)
    assert TOUR not in page


def test_there_is_no_tour_with_a_real_language_model(client, alice, settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "a-key", "gpt-4o-mini"
    assert TOUR not in client.get("/").text


def test_without_recall_nothing_is_said_of_it(client, alice):
    with_recall, _ = empty_page(client, alice)
    without, _ = empty_page(client, alice, recall_share=0)
    assert "fits its window, and recalls what your question needs." in with_recall
    assert "fits its window.<" in without
    assert "3. See that it is gone" in without
