"""Who may enter the admin, and what staff see of it."""

import pytest
from django.test import Client
from django.urls import reverse

from tests.admin.conftest import signed_in
from tests.admin.stored import make_conversation

LISTS = [
    "conversations_conversation",
    "conversations_message",
    "conversations_completion",
    "conversations_reading",
    "conversations_run",
    "conversations_calibration",
    "conversations_price",
    "conversations_mcpserver",
    "conversations_scenario",
    "accounts_user",
]
READ_BY_REVIEWERS = {f"conversations_{name}" for name in ("conversation", "message", "completion", "reading", "run")}
PAGES = ["admin:index", *(f"admin:{name}_changelist" for name in LISTS)]


@pytest.mark.parametrize("page", PAGES)
def test_an_anonymous_visitor_is_sent_to_the_sign_in(db, page):
    response = Client().get(reverse(page))
    assert response.status_code == 302
    assert "login" in response.url


@pytest.mark.parametrize("page", PAGES)
def test_an_ordinary_user_sees_nothing(alice, page):
    response = signed_in(alice).get(reverse(page), follow=True)
    assert "conversations/completion" not in response.content.decode()
    assert response.redirect_chain or response.status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_a_superuser_sees_every_page(admin_browser, page):
    assert admin_browser.get(reverse(page)).status_code == 200


@pytest.mark.parametrize("name", sorted(set(LISTS) - READ_BY_REVIEWERS))
def test_a_reviewer_reads_nothing_else(reviewer_browser, name):
    assert reviewer_browser.get(reverse(f"admin:{name}_changelist")).status_code == 403


def test_a_reviewer_reads_but_never_writes(reviewer_browser, alice):
    conversation = make_conversation(alice)
    url = reverse("admin:conversations_conversation_change", args=[conversation.pk])
    assert reviewer_browser.get(url).status_code == 200
    assert reviewer_browser.post(url, {"title": "forged"}).status_code == 403
