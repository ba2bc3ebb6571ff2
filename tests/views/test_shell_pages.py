"""Pages beside the list of conversations: whole, alone for a page that has the list, and where there is no list."""

from __future__ import annotations

import pytest
from django.urls import reverse

from chatsite.accounts.models import GateRule
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
NAMES = (
    "conversations:usage",
    "conversations:scenarios",
    "conversations:new_scenario",
    "conversations:scenario_from_file",
)
OF_ACCOUNT = ("account", "conversations:saved_prompts", "conversations:about_me", "conversations:readings")
LIST, MAIN = 'id="conversation-list"', '<main class="shell-page"'


@pytest.fixture
def alice(client):
    alice = make_user("alice")
    client.force_login(alice, "allauth.account.auth_backends.AuthenticationBackend")
    post(begin(alice), "Ferries to Reine")
    return alice


@pytest.mark.parametrize("name", [*NAMES, *OF_ACCOUNT])
def test_a_page_stands_beside_the_list(client, alice, name):
    page = client.get(reverse(name)).content.decode()
    assert LIST in page
    assert MAIN in page
    assert "Ferries to Reine" in page
    assert page.count("<h1") == 1


@pytest.mark.parametrize("name", [*NAMES, *OF_ACCOUNT])
def test_a_page_that_has_the_list_gets_the_view_alone_and_the_style_that_it_needs(client, alice, name):
    answer = client.get(reverse(name), headers={"X-Without-Shell": "true"})
    view = answer.content.decode()
    assert MAIN in view
    assert "css/shell_page" in view
    assert LIST not in view
    assert "<html" not in view
    assert "X-Without-Shell" in answer["Vary"]


def test_a_view_alone_does_not_read_the_list(client, alice, django_assert_max_num_queries):
    with django_assert_max_num_queries(100) as whole:
        client.get(reverse("conversations:scenarios"))
    with django_assert_max_num_queries(100) as alone:
        client.get(reverse("conversations:scenarios"), headers={"X-Without-Shell": "true"})
    assert len(whole) - len(alone) == 1  # conversations, whether there are folders, what is deleted soon


@pytest.mark.parametrize("alone", [{}, {"X-Without-Shell": "true"}])
def test_who_is_kept_out_by_the_gate_has_an_account_and_no_list(client, alice, alone):
    alice.gate_rule = GateRule.BLOCKED
    alice.save()
    page = client.get(reverse("account"), headers=alone).content.decode()
    assert "Your account" in page
    assert LIST not in page
    assert MAIN not in page
    assert "Ferries to Reine" not in page
    assert "<html" in page


def test_a_conversation_is_alone_for_a_page_that_has_the_list(client, alice):
    answer = client.get("/", headers={"X-Without-Shell": "true"})
    assert LIST not in answer.content.decode()
    assert 'data-part="view"' in answer.content.decode()
    assert "X-Without-Shell" in answer["Vary"]
