"""Documents in the admin: what each is and how far it has come, without a word of it."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.models import Document, Scenario
from tests.admin.readings import read_by
from tests.admin.stored import make_conversation
from tests.support.documents import add, make_failed, make_ready

CHANGELIST = "admin:conversations_document_changelist"
SECRET = "the canary is in the cellar"


@pytest.fixture
def document(alice):
    return make_ready(add(alice, make_conversation(alice), "<plan>.txt", SECRET.encode()), SECRET, tokens=1_234)


def page_of(browser, document):
    return browser.get(reverse("admin:conversations_document_change", args=[document.pk])).text


def test_a_list_and_a_page_show_the_document_and_neither_its_name_nor_its_words(admin_browser, document):
    for page in (admin_browser.get(reverse(CHANGELIST)).text, page_of(admin_browser, document)):
        assert str(document) in page
        assert "1,234" in page
        assert "plan" not in page
        assert SECRET not in page


def test_its_name_is_shown_in_a_reading_of_its_conversation(admin_browser, superuser, document):
    read_by(superuser, document.conversation)
    page = page_of(admin_browser, document)
    assert "&lt;plan&gt;.txt" in page
    assert SECRET not in page


def test_the_site_s_own_documents_have_their_names(admin_browser):
    guide = add(None, Scenario.objects.create(name="Guide"), "guide.txt")
    assert "guide.txt" in admin_browser.get(reverse(CHANGELIST)).text
    assert "guide.txt" in page_of(admin_browser, guide)


def test_what_is_wrong_with_it_is_said(admin_browser, document):
    assert "protected by a password" in page_of(admin_browser, make_failed(document, "document_encrypted"))


def test_its_conversation_leads_to_it_and_it_to_its_conversation(admin_browser, document):
    conversation = reverse("admin:conversations_conversation_change", args=[document.conversation_id])
    assert f'href="{conversation}"' in page_of(admin_browser, document)
    listed = f"{reverse(CHANGELIST)}?conversation={document.conversation_id}"
    assert listed in admin_browser.get(conversation).text
    assert str(document) in admin_browser.get(listed).text


@pytest.mark.parametrize("is_of_the_site", [True, False])
def test_a_scenario_leads_to_its_documents(admin_browser, alice, is_of_the_site):
    scenario = Scenario.objects.create(name="Guide", owner=None if is_of_the_site else alice)
    add(None, scenario)
    its_own = reverse("conversations:scenario_documents", args=[scenario.pk])
    in_the_admin = f"{reverse(CHANGELIST)}?scenario={scenario.pk}"
    page = admin_browser.get(reverse("admin:conversations_scenario_change", args=[scenario.pk])).text
    assert f'href="{its_own if is_of_the_site else in_the_admin}"' in page
    assert admin_browser.get(its_own).status_code == (200 if is_of_the_site else 404)


def test_a_new_scenario_has_none_yet(admin_browser):
    assert "Save the scenario first" in admin_browser.get(reverse("admin:conversations_scenario_add")).text


def test_many_documents_take_no_more_queries_than_few(queries_for, alice, document):
    few = queries_for(reverse(CHANGELIST))
    for number in range(5):
        add(alice, document.conversation, content=b"%d" % number)
    assert queries_for(reverse(CHANGELIST)) == few
    assert Document.objects.count() == 6


def test_a_reviewer_sees_none(reviewer_browser, document):
    assert reviewer_browser.get(reverse(CHANGELIST)).status_code == 403
    page = reviewer_browser.get(reverse("admin:conversations_conversation_change", args=[document.conversation_id]))
    assert reverse(CHANGELIST) not in page.text
