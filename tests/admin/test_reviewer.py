"""A reviewer reads what was said and what it cost, and meets nothing else of the admin by any of its ways."""

from __future__ import annotations

import re

import pytest
from django.contrib.contenttypes.models import ContentType
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.models import Completion, Conversation, Scenario
from tests.admin.stored import make_conversation

READABLE = ("conversation", "message", "completion", "toolcall", "reading", "run", "share")


@pytest.fixture
def conversation(alice) -> Conversation:
    return make_conversation(alice)


@pytest.fixture
def pages(conversation) -> list[str]:
    lists = [reverse(f"admin:conversations_{name}_changelist") for name in READABLE]
    rows = {"conversation": conversation, "message": conversation.head, "completion": Completion.objects.get()}
    changes = [reverse(f"admin:conversations_{name}_change", args=[row.pk]) for name, row in rows.items()]
    return [reverse("admin:index"), "/admin/conversations/", *lists, *changes]


def test_no_page_leads_anywhere_that_is_shut(reviewer_browser, pages):
    for page in pages:
        response = reviewer_browser.get(page)
        assert response.status_code == 200, page
        for link in set(re.findall(r'href="(/admin/[^"?#]*)', response.content.decode())) - {"/admin/logout/"}:
            assert reviewer_browser.get(link).status_code in (200, 302), f"{page} leads to {link}"


def test_the_navigation_names_what_can_be_read_only(reviewer_browser):
    page = reviewer_browser.get(reverse("admin:index")).content.decode()
    named = set(re.findall(r'href="/admin/(\w+/\w+)/"', page))
    assert named == {f"conversations/{name}" for name in READABLE}


@pytest.mark.parametrize("app", ["accounts", "account", "auth", "mfa", "socialaccount", "sessions", "nothing"])
def test_other_apps_are_not_there(reviewer_browser, app):
    assert reviewer_browser.get(f"/admin/{app}/").status_code == 404


def test_autocompletion_finds_no_one(reviewer_browser):
    asked = {"app_label": "conversations", "model_name": "scenario", "field_name": "owner", "term": "a"}
    assert reviewer_browser.get(reverse("admin:autocomplete"), asked).status_code == 403


def test_the_history_of_people_and_scenarios_is_shut(reviewer_browser, alice, conversation):
    for name, row in (("accounts_user", alice), ("conversations_scenario", Scenario.objects.first())):
        assert reviewer_browser.get(reverse(f"admin:{name}_history", args=[row.pk])).status_code == 403


@pytest.mark.parametrize("model", [User, Conversation, Scenario])
def test_there_is_no_way_round_to_an_object(reviewer_browser, alice, conversation, model):
    kind = ContentType.objects.get_for_model(model)
    assert reviewer_browser.get(f"/admin/r/{kind.pk}/{model.objects.first().pk}/").status_code == 404


@pytest.mark.parametrize("action", ["deactivate", "activate", "delete_selected"])
def test_an_action_on_people_is_refused(reviewer_browser, alice, action):
    forged = {"action": action, "_selected_action": [alice.pk], "post": "yes"}
    assert reviewer_browser.post(reverse("admin:accounts_user_changelist"), forged).status_code == 403
    alice.refresh_from_db()
    assert alice.is_active


def test_people_are_not_found_by_filters_of_what_can_be_read(reviewer_browser, conversation):
    for lookup in ("owner__password__startswith", "owner__role", "owner__gate_password__hash__startswith"):
        response = reviewer_browser.get(reverse("admin:conversations_conversation_changelist"), {lookup: "a"})
        assert response.status_code in (302, 400), lookup


@pytest.mark.parametrize(
    "address", ["/admin/search/?s=user", "/admin/search/?s=user&page=x", "/admin/search/?extended&s=a"]
)
def test_there_is_no_search_over_everything(reviewer_browser, admin_browser, address):
    assert reviewer_browser.get(address).status_code == admin_browser.get(address).status_code == 404
