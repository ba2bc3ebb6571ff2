"""Retention: who is told when, what is deleted, what keeps it, and what a legal hold keeps from everyone."""

from __future__ import annotations

import datetime as dt
from smtplib import SMTPRecipientsRefused

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.access import find_conversation
from conversations.core.errors import ConversationHeld, ConversationNotFound
from conversations.models import Conversation, ConversationImport, LegalHold, RetentionMail, RetentionRule, Scenario
from conversations.models.conversation_import import ImportState
from conversations.selectors.conversations.deleted_conversations import list_deleted_conversations
from conversations.selectors.retention.deadlines import rules_for
from conversations.selectors.retention.notices import list_deleted_soon
from conversations.services.conversations.conversations import choose_scenario, rename_conversation
from conversations.services.conversations.deletion import (
    delete_conversation,
    delete_permanently,
    restore_conversation,
    sweep_deleted_conversations,
    sweep_temporary_conversations,
    sweep_unused_conversations,
)
from conversations.services.documents.documents import delete_document
from conversations.services.portability.delete_account import delete_account
from conversations.services.portability.export_lease import take_lease
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention import mail_owners as mailing
from conversations.services.retention.keep_conversations import keep_all_conversations, keep_conversation
from conversations.services.retention.legal_holds import lift_hold, place_hold
from conversations.services.retention.mail_owners import mail_owners
from conversations.services.retention.sweep_retention import SweptRetention, sweep_retention
from conversations.services.review.readings import open_reading
from tests.support.append_only import end_readings
from tests.support.documents import add
from tests.support.people import begin, make_user, post
from tests.support.retention import pass_days

pytestmark = pytest.mark.django_db
NOTHING = SweptRetention(0, 0, 0)


@pytest.fixture(autouse=True)
def rule(settings):
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS, settings.DELETED_CONVERSATION_DAYS = 90, 14, 30


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def admin():
    return make_user("root", role="admin")


@pytest.fixture
def conversation(alice):
    return answered(begin(alice))


def answered(conversation, content="Hello"):
    end_reply(post(conversation, content).reply.pk, COMPLETE, content="Indeed.")
    return Conversation.objects.get(pk=conversation.pk)


def days_left(conversation):
    """Return in how many days it is deleted, as its owner was told; None if no one was told anything."""
    conversation.refresh_from_db()
    told = conversation.retention_ends_at
    return told and round((told - timezone.now()) / dt.timedelta(days=1), 2)


def is_deleted(conversation):
    conversation.refresh_from_db()
    return conversation.deleted_at is not None


def tell(conversation):
    """Let the time of its notice begin."""
    pass_days(76)
    sweep_retention()
    assert days_left(conversation) == 14


# The usual course


def test_its_owner_is_told_in_time_and_it_goes_on_that_day_and_can_be_restored(alice, conversation):
    pass_days(75)
    assert sweep_retention() == NOTHING
    pass_days(1)
    assert sweep_retention() == SweptRetention(told=1, changed=0, deleted=0)
    assert (days_left(conversation), list_deleted_soon(alice)) == (14, [conversation])
    pass_days(13.9)
    assert sweep_retention() == NOTHING
    pass_days(0.2)
    assert sweep_retention() == SweptRetention(told=0, changed=0, deleted=1)
    assert list_deleted_conversations(alice) == [conversation]
    restore_conversation(user=alice, public_id=conversation.public_id)
    assert sweep_retention() == NOTHING
    conversation.refresh_from_db()
    assert not conversation.deleted_by_retention
    tell(conversation)


def test_it_is_gone_after_the_days_of_what_was_deleted(conversation):
    tell(conversation)
    pass_days(15)
    sweep_retention()
    pass_days(29)
    assert sweep_deleted_conversations() == 0
    pass_days(2)
    assert sweep_deleted_conversations() == 1


def test_without_a_rule_nothing_goes(settings, conversation):
    settings.RETENTION_DAYS = 0
    pass_days(10_000)
    assert sweep_retention() == NOTHING


def test_temporary_deleted_and_unused_ones_are_passed_over(alice, conversation):
    delete_conversation(conversation)
    begin(alice)
    temporary = answered(begin(alice))
    Conversation.objects.filter(pk=temporary.pk).update(temporary_until=timezone.now() + dt.timedelta(days=999))
    pass_days(100)
    assert sweep_retention() == NOTHING


# Touches


def test_a_message_keeps_it(conversation):
    tell(conversation)
    answered(conversation, "And then?")
    assert days_left(conversation) is None
    pass_days(14)
    assert sweep_retention() == NOTHING


def test_keeping_it_counts_the_days_again_and_leaves_its_place_in_the_list(alice, conversation):
    tell(conversation)
    before = Conversation.objects.get().last_active_at
    keep_conversation(conversation)
    assert (days_left(conversation), conversation.last_active_at) == (None, before)
    tell(conversation)
    assert keep_all_conversations(make_user("bob")) == 0
    assert keep_all_conversations(alice) == 1
    tell(conversation)


def test_a_star_a_folder_and_the_archive_change_nothing(conversation):
    tell(conversation)
    Conversation.objects.update(starred=True, archived=True)
    pass_days(15)
    assert sweep_retention().deleted == 1


def test_what_its_owner_opens_stays_for_a_day(alice, conversation):
    tell(conversation)
    assert find_conversation(alice, conversation.public_id).retention_ends_at
    assert days_left(conversation) == 14
    pass_days(14.5)
    assert find_conversation(alice, conversation.public_id)
    assert (sweep_retention(), days_left(conversation)) == (NOTHING, 1)
    pass_days(1.1)
    assert sweep_retention().deleted == 1


def test_what_was_found_at_the_moment_of_its_deletion_is_brought_back(alice, conversation, monkeypatch):
    tell(conversation)
    pass_days(15)
    found = Conversation.objects.get()
    sweep_retention()
    monkeypatch.setattr("conversations.access.OWNED.first", lambda *_: found)
    assert find_conversation(alice, found.public_id)
    assert (is_deleted(conversation), days_left(conversation)) == (False, 1)


def test_what_its_owner_deleted_is_not_brought_back_by_opening_it(alice, conversation, monkeypatch):
    tell(conversation)
    pass_days(15)
    found = Conversation.objects.get()
    delete_conversation(conversation)
    monkeypatch.setattr("conversations.access.OWNED.first", lambda *_: found)
    with pytest.raises(ConversationNotFound):
        find_conversation(alice, found.public_id)


# In use


def test_what_is_answered_read_exported_or_imported_stays_until_that_has_ended(alice, admin, conversation):
    tell(conversation)
    pass_days(15)
    reply = conversation.messages.get(role="assistant")
    conversation.messages.filter(pk=reply.pk).update(state="streaming")
    assert sweep_retention() == NOTHING
    conversation.messages.filter(pk=reply.pk).update(state="complete")
    open_reading(admin, conversation, "a complaint")
    assert sweep_retention() == NOTHING
    end_readings()
    lease = take_lease(alice)
    assert sweep_retention() == NOTHING
    lease.delete()
    sent = ConversationImport.objects.create(owner=alice, state=ImportState.RUNNING, lease_until=timezone.now())
    assert sweep_retention() == NOTHING
    ConversationImport.objects.filter(pk=sent.pk).update(state=ImportState.ENDED)
    assert sweep_retention().deleted == 1


# Rules


def test_of_several_rules_the_shortest_counts(alice, settings):
    settings.RETENTION_DAYS = 90
    short = Scenario.objects.create(name="Short", offered=True)
    hidden = Scenario.objects.create(name="Hidden")
    RetentionRule.objects.create(scenario=short, days=20)
    RetentionRule.objects.create(scenario=hidden, days=15)
    RetentionRule.objects.create(role="user", days=40)
    by_role, by_scenario = answered(begin(alice)), answered(begin(alice))
    by_site = answered(begin(make_user("rita", role="reviewer")))
    choose_scenario(by_scenario, user=alice, scenario_id=short.pk)
    for days, expected in ((7, {by_scenario}), (20, {by_scenario, by_role}), (50, {by_scenario, by_role, by_site})):
        pass_days(days)
        sweep_retention()
        told = Conversation.objects.filter(retention_ends_at__isnull=False) | Conversation.objects.filter(
            deleted_by_retention=True
        )
        assert set(told) == expected
    assert rules_for(alice) == (40, [RetentionRule.objects.get(scenario=short)])
    settings.RETENTION_DAYS = 0
    assert rules_for(by_site.owner)[0] is None


def test_a_shorter_rule_gives_the_whole_time_of_notice(settings, conversation):
    settings.RETENTION_DAYS = 1000
    pass_days(500)
    assert sweep_retention() == NOTHING
    settings.RETENTION_DAYS = 20
    sweep_retention()
    assert days_left(conversation) == 14


def test_a_told_date_becomes_no_earlier_and_a_longer_rule_moves_it_or_takes_it_back(settings, conversation):
    tell(conversation)
    settings.RETENTION_DAYS = 20
    assert (sweep_retention(), days_left(conversation)) == (NOTHING, 14)
    pass_days(2)
    settings.RETENTION_DAYS = 91
    assert (sweep_retention().changed, days_left(conversation)) == (1, 13)
    settings.RETENTION_DAYS = 365
    assert (sweep_retention().changed, days_left(conversation)) == (1, None)
    settings.RETENTION_DAYS = 90
    sweep_retention()
    assert days_left(conversation) == 14


def test_a_rule_that_is_lengthened_just_before_keeps_it(settings, conversation):
    tell(conversation)
    pass_days(15)
    settings.RETENTION_DAYS = 120
    assert sweep_retention().deleted == 0


def test_a_rule_is_for_a_role_or_a_scenario():
    scenario = Scenario.objects.create(name="A")
    for wrong in ({}, {"role": "user", "scenario": scenario}, {"role": "user", "days": 0}):
        with pytest.raises(IntegrityError), transaction.atomic():
            RetentionRule.objects.create(**{"days": 5, **wrong})


# Legal holds


def test_what_is_held_is_neither_told_of_nor_deleted_until_the_hold_is_lifted(admin, conversation):
    tell(conversation)
    hold = place_hold(admin=admin, conversation=conversation, reason="a lawsuit")
    assert days_left(conversation) is None
    pass_days(200)
    assert sweep_retention() == NOTHING
    assert lift_hold(hold, admin=admin)
    assert not lift_hold(hold, admin=admin)
    sweep_retention()
    assert days_left(conversation) == 14


def test_a_hold_on_a_user_is_on_all_of_theirs_also_on_those_begun_later(admin, alice, conversation):
    place_hold(admin=admin, user=alice, reason="a lawsuit")
    answered(begin(alice))
    other = answered(begin(make_user("bob")))
    pass_days(80)
    assert sweep_retention().told == 1
    assert days_left(other) == 14


def test_its_owner_deletes_what_is_held_only_until_it_could_be_restored(admin, alice, conversation):
    other = answered(begin(alice))
    hold = place_hold(admin=admin, conversation=conversation, reason="a lawsuit")
    for each in (conversation, other):
        delete_conversation(each)
    with pytest.raises(ConversationHeld):
        delete_permanently(alice, conversation.public_id)
    delete_permanently(alice)
    assert list(Conversation.objects.all()) == [conversation]
    pass_days(100)
    assert sweep_deleted_conversations() == 0
    [listed] = list_deleted_conversations(alice)
    assert listed.is_held
    restore_conversation(user=alice, public_id=conversation.public_id)
    delete_conversation(conversation)
    pass_days(100)
    lift_hold(hold, admin=admin)
    assert list_deleted_conversations(alice) == []
    assert sweep_deleted_conversations() == 1
    hold.refresh_from_db()
    assert (hold.conversation, hold.conversation_public_id, hold.reason) == (None, conversation.public_id, "a lawsuit")


def test_a_temporary_one_that_is_held_stays_hidden_and_is_not_removed(admin, alice, conversation):
    hold = place_hold(admin=admin, user=alice, reason="a lawsuit")
    empty = begin(alice)
    Conversation.objects.filter(pk=conversation.pk).update(temporary_until=timezone.now())
    pass_days(3)
    assert (sweep_temporary_conversations(), sweep_unused_conversations()) == (0, 0)
    with pytest.raises(ConversationNotFound):
        find_conversation(alice, conversation.public_id)
    lift_hold(hold, admin=admin)
    assert (sweep_temporary_conversations(), sweep_unused_conversations()) == (1, 1)
    assert not Conversation.objects.filter(pk=empty.pk).exists()


def test_an_account_with_something_that_is_held_is_not_deleted(admin, alice, conversation):
    hold = place_hold(admin=admin, conversation=conversation, reason="a lawsuit")
    with pytest.raises(ValidationError, match="legal hold"):
        delete_account(alice)
    assert Conversation.objects.exists()
    lift_hold(hold, admin=admin)
    delete_account(alice)
    assert not User.objects.filter(pk=alice.pk).exists()
    assert LegalHold.objects.get().placed_by_email == admin.email


def test_documents_of_what_is_held_stay(admin, alice, conversation):
    document = add(alice, conversation)
    hold = place_hold(admin=admin, conversation=conversation, reason="a lawsuit")
    with pytest.raises(ConversationHeld):
        delete_document(document)
    lift_hold(hold, admin=admin)
    delete_document(document)


def test_what_is_gone_can_no_longer_be_held(admin, alice, conversation):
    found = Conversation.objects.get()
    Conversation.objects.all().delete()
    with pytest.raises(ConversationNotFound):
        place_hold(admin=admin, conversation=found, reason="a lawsuit")
    ghost = make_user("ghost")
    User.objects.filter(pk=ghost.pk).delete()
    with pytest.raises(ConversationNotFound):
        place_hold(admin=admin, user=ghost, reason="a lawsuit")


@pytest.mark.parametrize("of_user", [True, False])
def test_the_database_itself_deletes_nothing_that_is_held_and_no_hold(admin, alice, conversation, of_user):
    held = {"user": alice} if of_user else {"conversation": conversation}
    hold = place_hold(admin=admin, reason="a lawsuit", **held)
    for wrong in (
        lambda: conversation.delete(),
        lambda: Conversation.objects.all().delete(),
        lambda: Conversation.objects.all()._raw_delete("default"),
        lambda: hold.delete(),
        lambda: LegalHold.objects.update(reason="none"),
        lambda: LegalHold.objects.update(conversation=None, user=None),
        lambda: LegalHold.objects.update(placed_by_email="x@example.org"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            wrong()
    lift_hold(hold, admin=admin)
    for wrong in (
        lambda: LegalHold.objects.update(lifted_at=None, lifted_by_email=""),
        lambda: LegalHold.objects.update(reason="none"),
        lambda: LegalHold.objects.all()._raw_delete("default"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            wrong()
    conversation.delete()
    assert LegalHold.objects.get().conversation is None


# Mail


def test_an_owner_is_mailed_once_a_week_without_a_title_and_only_where_the_site_sends_mail(
    settings, alice, conversation, mailoutbox
):
    rename_conversation(conversation, title="My secret plan")
    alice.language = "zh-hans"
    alice.save()
    tell(conversation)
    assert mail_owners() == 0
    settings.SMTP_URL = "smtp://mail"
    answered(begin(make_user("bob")))
    assert (mail_owners(), mail_owners()) == (1, 0)
    [mail] = mailoutbox
    assert mail.to == [alice.email]
    assert "即将删除" in mail.subject
    assert settings.SITE_URL in mail.body
    assert "secret" not in mail.subject + mail.body
    RetentionMail.objects.update(mailed_at=timezone.now() - dt.timedelta(days=7, minutes=1))
    assert mail_owners() == 1
    keep_conversation(conversation)
    RetentionMail.objects.all().delete()
    assert mail_owners() == 0


def test_a_mail_that_can_not_be_sent_is_tried_again(settings, conversation, monkeypatch, mailoutbox):
    settings.SMTP_URL = "smtp://mail"
    tell(conversation)

    def fail(*_: object, **__: object) -> None:
        raise ConnectionRefusedError

    with monkeypatch.context() as away:
        away.setattr("conversations.services.retention.mail_owners.send_mail", fail)
        assert mail_owners() == 0
    assert (mail_owners(), len(mailoutbox)) == (1, 1)


def test_owners_that_can_not_be_mailed_keep_no_others_waiting(settings, conversation, monkeypatch, mailoutbox):
    settings.SMTP_URL = "smtp://mail"
    monkeypatch.setattr(mailing, "MAILED_AT_ONCE", 1)
    theirs = begin(make_user("bob"))
    answered(theirs)
    tell(conversation)
    assert days_left(theirs) == 14
    send = mailing.send_mail

    def refuse_the_first(subject: str, message: str, sender: None, recipients: list[str]) -> int:
        if recipients == [conversation.owner.email]:
            raise SMTPRecipientsRefused({})
        return send(subject, message, sender, recipients)

    monkeypatch.setattr(mailing, "send_mail", refuse_the_first)
    assert [mail_owners() for _ in range(3)] == [0, 1, 0]
    assert [mail.to for mail in mailoutbox] == [[theirs.owner.email]]
