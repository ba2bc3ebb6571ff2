"""What owners see of retention and of legal holds: in the list, in the conversation, on pages of their own."""

from __future__ import annotations

import pytest
from django.urls import reverse

from conversations.models import Conversation, LegalHold, RetentionRule, Scenario
from conversations.services.conversations.conversations import rename_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention.legal_holds import place_hold
from conversations.services.retention.sweep_retention import sweep_retention
from tests.support.people import begin, make_user, post
from tests.support.retention import pass_days

pytestmark = pytest.mark.django_db
SOON = reverse("conversations:deleted_soon")
DELETED = reverse("conversations:deleted")


@pytest.fixture(autouse=True)
def rule(settings):
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS = 90, 14


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def page(client, alice):
    """Return what tells whether a page says something."""
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    return lambda address: client.get(address, follow=True).content.decode()


@pytest.fixture
def conversation(alice):
    return named(alice, "An old plan")


def named(user, title):
    conversation = begin(user)
    end_reply(post(conversation, "Hello").reply.pk, COMPLETE, content="Indeed.")
    rename_conversation(conversation, title=title)
    return conversation


def tell():
    pass_days(80)
    sweep_retention()


def test_where_nothing_is_deleted_soon_no_page_speaks_of_it(page, conversation):
    assert "deleted soon" not in page(reverse("conversations:conversation", args=[conversation.public_id]))
    assert "None of your conversations" in page(SOON)


def test_a_page_asks_once_for_what_it_says_of_retention(page, conversation, django_assert_max_num_queries):
    with django_assert_max_num_queries(100) as asked:
        page(reverse("conversations:conversation", args=[conversation.public_id]))
    said = (LegalHold._meta.db_table, 'retention_ends_at" IS NOT NULL')
    assert len([each for each in asked if any(words in each["sql"] for words in said)]) == 1


def test_without_rules_and_holds_the_account_page_does_not_speak_of_retention(page, settings):
    settings.RETENTION_DAYS = 0
    assert "retention" not in page(reverse("account"))


def test_the_list_the_conversation_and_the_account_say_what_is_deleted_soon(page, conversation):
    tell()
    address = reverse("conversations:conversation", args=[conversation.public_id])
    for words in ("1 conversation is deleted soon", "Not used for a while", "Keep this conversation"):
        assert words in page(address)
    account = page(reverse("account"))
    assert "is deleted after 90 days" in account
    assert "1 conversation is deleted on" in account
    assert 'href="#retention"' in account
    assert "An old plan" in page(SOON)


def test_one_is_kept_from_its_page_and_one_or_all_from_the_page_of_them(client, page, alice, conversation):
    named(alice, "Another")
    named(alice, "A third")
    tell()
    keep = reverse("conversations:keep", args=[conversation.public_id])
    assert client.post(keep).url == reverse("conversations:conversation", args=[conversation.public_id])
    assert "An old plan" not in page(SOON).partition('id="kept-conversations"')[2]
    [another, _third] = Conversation.objects.filter(retention_ends_at__isnull=False).order_by("pk")
    assert client.post(reverse("conversations:keep", args=[another.public_id]), {"back": "soon"}).url == SOON
    assert "1 conversation is kept." in client.post(SOON, follow=True).content.decode()
    assert not Conversation.objects.filter(retention_ends_at__isnull=False).exists()


def test_one_that_was_deleted_by_retention_says_so_and_is_restored(client, page, conversation):
    tell()
    pass_days(15)
    sweep_retention()
    assert "not used for a while" in page(DELETED)
    gone = reverse("conversations:conversation", args=[conversation.public_id])
    answer = client.get(gone)
    assert answer.status_code == 404
    assert "It was not used for a while." in answer.content.decode()
    client.post(reverse("conversations:restore", args=[conversation.public_id]))
    assert client.get(gone).status_code == 200


def test_scenarios_with_a_shorter_rule_are_named_on_the_account_page(page, alice):
    RetentionRule.objects.create(scenario=Scenario.objects.create(name="Short talks", offered=True), days=20)
    RetentionRule.objects.create(scenario=Scenario.objects.create(name="Not offered"), days=20)
    account = page(reverse("account"))
    assert "Short talks: after 20 days" in account
    assert "Not offered" not in account


def test_what_is_held_says_by_whom_since_when_and_why_and_is_not_removed(client, page, alice, conversation):
    place_hold(admin=make_user("root", role="admin"), conversation=conversation, reason="a <lawsuit>")
    for address in (reverse("conversations:conversation", args=[conversation.public_id]), reverse("account")):
        said = page(address)
        for words in ("root@example.org", "a &lt;lawsuit&gt;"):
            assert words in said
    delete_conversation(conversation)
    assert "kept by a legal hold" in page(DELETED)
    assert "Delete all of them permanently" not in page(DELETED)
    one = reverse("conversations:deleted_conversation", args=[conversation.public_id])
    assert "until the hold is lifted" in page(one)
    assert client.post(one).status_code == 403
    assert (
        "except for what a legal hold keeps"
        in client.post(reverse("conversations:empty_deleted"), follow=True).content.decode()
    )
    assert Conversation.objects.exists()
    delete_conversation(named(alice, "Not held"))
    assert "Delete all of them permanently" in page(DELETED)


def test_a_hold_on_all_of_a_user_is_on_the_account_page(page, alice):
    place_hold(admin=make_user("root", role="admin"), user=alice, reason="a lawsuit")
    assert "All your conversations" in page(reverse("account"))
