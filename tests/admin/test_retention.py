"""Retention rules and legal holds in the admin: who may set them, what forms refuse, and what is recorded."""

from __future__ import annotations

import pytest
from django.urls import reverse

from chatsite.accounts.models import SecurityEvent
from conversations.core.errors import ConversationNotFound
from conversations.models import LegalHold, RetentionRule, Scenario
from conversations.services.retention.legal_holds import place_hold
from tests.support.people import begin, make_user

RULES = reverse("admin:conversations_retentionrule_changelist")
ADD_RULE = reverse("admin:conversations_retentionrule_add")
HOLDS = reverse("admin:conversations_legalhold_changelist")
ADD_HOLD = reverse("admin:conversations_legalhold_add")


@pytest.fixture(autouse=True)
def notice(settings):
    settings.RETENTION_NOTICE_DAYS, settings.RETENTION_DAYS = 14, 365


@pytest.fixture
def conversation(alice):
    return begin(alice)


def page_of(browser, address):
    return browser.get(address).content.decode()


# Rules


def test_a_rule_is_added_and_listed_beside_that_of_the_site(admin_browser):
    scenario = Scenario.objects.create(name="Short talks", offered=True)
    assert admin_browser.post(ADD_RULE, {"role": "", "scenario": scenario.pk, "days": 20}).status_code == 302
    assert admin_browser.post(ADD_RULE, {"role": "user", "scenario": "", "days": 40}).status_code == 302
    page = page_of(admin_browser, RULES)
    for words in ("Short talks", "the role user", "365 days without activity", "the shortest counts"):
        assert words in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"role": "user", "days": "13"}, "told 14 days before"),
        ({"role": "user", "days": "0"}, "1"),
        ({"role": "user", "days": "99999"}, "36500"),
        ({"role": "user", "days": "-3"}, "1"),
        ({"role": "user", "days": "soon"}, "whole number"),
        ({"role": "", "days": "20"}, "Choose a role or a scenario"),
        ({"role": "emperor", "days": "20"}, "emperor"),
    ],
)
def test_a_rule_that_can_not_hold_is_refused_with_a_sentence(admin_browser, fields, said):
    answer = admin_browser.post(ADD_RULE, {"scenario": "", **fields})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not RetentionRule.objects.exists()


def test_a_rule_for_both_a_second_one_and_one_for_a_users_own_scenario_are_refused(admin_browser, alice):
    scenario, own = Scenario.objects.create(name="A"), Scenario.objects.create(name="Own", owner=alice)
    RetentionRule.objects.create(role="user", days=20)
    for fields in (
        {"role": "admin", "scenario": scenario.pk},
        {"role": "user", "scenario": ""},
        {"role": "", "scenario": own.pk},
    ):
        assert admin_browser.post(ADD_RULE, {"days": 30, **fields}).status_code == 200
    assert RetentionRule.objects.count() == 1


# Holds


def test_a_conversation_is_held_from_its_page_and_the_hold_is_lifted(admin_browser, superuser, alice, conversation):
    of_conversation = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    assert f"{ADD_HOLD}?conversation={conversation.pk}" in page_of(admin_browser, of_conversation)
    assert str(conversation.public_id) in page_of(admin_browser, f"{ADD_HOLD}?conversation={conversation.pk}")
    fields = {"conversation_id": str(conversation.public_id)[:8], "email": "", "reason": "a lawsuit"}
    assert admin_browser.post(ADD_HOLD, fields).status_code == 302
    hold = LegalHold.objects.get()
    assert (hold.conversation, hold.placed_by, hold.reason) == (conversation, superuser, "a lawsuit")
    address = reverse("admin:conversations_legalhold_change", args=[hold.pk])
    assert address in page_of(admin_browser, of_conversation)
    assert "Lift this hold" in page_of(admin_browser, address)
    assert "in force" in page_of(admin_browser, HOLDS)
    lift = reverse("admin:conversations_legalhold_lift", args=[hold.pk])
    assert admin_browser.get(lift).status_code == 405
    for _twice in range(2):
        assert admin_browser.post(lift).url == address
    hold.refresh_from_db()
    assert (hold.lifted_by, hold.lifted_by_email) == (superuser, superuser.email)
    assert "Lift this hold" not in page_of(admin_browser, address)
    events = SecurityEvent.objects.filter(kind__startswith="hold").order_by("pk")
    assert [(event.kind, event.user, event.about) for event in events] == [
        ("hold_placed", alice, f"hold {hold.pk} by {superuser.pk}"),
        ("hold_lifted", alice, f"hold {hold.pk} by {superuser.pk}"),
    ]


def test_all_of_a_user_are_held_from_the_users_page(admin_browser, alice):
    of_user = reverse("admin:accounts_user_change", args=[alice.pk])
    assert f"{ADD_HOLD}?user={alice.pk}" in page_of(admin_browser, of_user)
    assert alice.email in page_of(admin_browser, f"{ADD_HOLD}?user={alice.pk}")
    fields = {"conversation_id": "", "email": alice.email.upper(), "reason": "a lawsuit"}
    assert admin_browser.post(ADD_HOLD, fields).status_code == 302
    hold = LegalHold.objects.get()
    assert (hold.user, hold.is_of_user) == (alice, True)
    assert reverse("admin:conversations_legalhold_change", args=[hold.pk]) in page_of(admin_browser, of_user)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Name a conversation or a user"),
        ({"conversation_id": "ABCDEF12", "email": "alice@example.org"}, "Name a conversation or a user"),
        ({"conversation_id": "abcdef12"}, "no such conversation"),
        ({"conversation_id": "%"}, "no such conversation"),
        ({"email": "missing@example.org"}, "no such user"),
        ({"email": "alice@example.org", "reason": "x"}, "at least 5"),
        ({"email": "alice@example.org", "reason": "x" * 501}, "at most 500"),
        ({"email": "alice@example.org", "reason": "a\x00bcdef"}, "Null characters"),
    ],
)
def test_a_hold_on_nothing_or_without_a_reason_is_refused(admin_browser, alice, fields, said):
    answer = admin_browser.post(ADD_HOLD, {"conversation_id": "", "email": "", "reason": "a lawsuit", **fields})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not LegalHold.objects.exists()


def test_what_is_deleted_while_the_form_is_sent_is_said_to_be_gone(admin_browser, alice, monkeypatch):
    def gone(**_: object):
        raise ConversationNotFound

    monkeypatch.setattr("conversations.admin.retention.hold.place_hold", gone)
    fields = {"conversation_id": "", "email": alice.email, "reason": "a lawsuit"}
    assert "has just been deleted" in admin_browser.post(ADD_HOLD, fields, follow=True).content.decode()


@pytest.mark.parametrize("query", ["?conversation=x", "?conversation=999", "?user=-1", "?user=999999999999999999999"])
def test_an_address_that_leads_from_nowhere_shows_an_empty_form(admin_browser, query):
    assert admin_browser.get(ADD_HOLD + query).status_code == 200


def test_reviewers_see_that_a_conversation_is_held_and_neither_place_nor_lift(
    reviewer_browser, superuser, conversation
):
    hold = place_hold(admin=superuser, conversation=conversation, reason="a lawsuit")
    page = page_of(reviewer_browser, reverse("admin:conversations_conversation_change", args=[conversation.pk]))
    assert "Legal hold" in page
    assert "a lawsuit" not in page
    lift = reverse("admin:conversations_legalhold_lift", args=[hold.pk])
    for address in (HOLDS, ADD_HOLD, ADD_RULE, RULES):
        assert reviewer_browser.get(address).status_code in (302, 403)
    assert reviewer_browser.post(lift).status_code in (302, 403)
    hold.refresh_from_db()
    assert hold.lifted_at is None


def test_no_admin_changes_or_deletes_a_hold(admin_browser, superuser):
    hold = place_hold(admin=superuser, user=make_user("alice2"), reason="a lawsuit")
    delete = reverse("admin:conversations_legalhold_delete", args=[hold.pk])
    assert admin_browser.post(delete, {"post": "yes"}).status_code == 403
    change = reverse("admin:conversations_legalhold_change", args=[hold.pk])
    admin_browser.post(change, {"reason": "another", "email": "x", "conversation_id": ""})
    hold.refresh_from_db()
    assert hold.reason == "a lawsuit"
