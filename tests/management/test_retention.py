"""`manage.py retention`: says what goes and when, and changes nothing unless told to."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from conversations.models import Conversation, RetentionRule
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.retention.legal_holds import place_hold
from tests.support.people import begin, make_user, post
from tests.support.retention import pass_days

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(settings):
    settings.RETENTION_DAYS, settings.RETENTION_NOTICE_DAYS = 90, 14
    conversation = begin(make_user("alice"))
    end_reply(post(conversation, "my secret question").reply.pk, COMPLETE, content="Indeed.")
    return conversation


def run(*arguments):
    written = io.StringIO()
    call_command("retention", *arguments, stdout=written)
    return written.getvalue()


def test_it_says_what_goes_within_the_days_and_changes_nothing(conversation):
    RetentionRule.objects.create(role="user", days=60)
    assert "0 conversations go within 30 days" in run()
    assert str(conversation.public_id) in run("--days", "61")
    pass_days(100)
    said = run()
    assert f"{conversation.public_id}" in said
    assert "role user: 60 days" in said
    assert "not told" in said
    assert "secret" not in said
    assert "0 conversations go" in run("--days", "13")
    assert not Conversation.objects.filter(retention_ends_at__isnull=False).exists()


def test_with_apply_it_does_what_the_worker_does(conversation):
    pass_days(100)
    assert "1 got a date" in run("--apply")
    pass_days(15)
    post(conversation, "still here?")  # it streams
    Conversation.objects.update(last_active_at=conversation.created_at, retention_ends_at=conversation.created_at)
    pass_days(200)
    assert "told, in use" in run("--apply")


def test_only_one_owners_and_what_is_held_is_counted(conversation):
    bob = begin(make_user("bob"))
    end_reply(post(bob, "Hello").reply.pk, COMPLETE, content="Indeed.")
    pass_days(100)
    assert str(bob.public_id) not in run("--owner", "alice@example.org")
    place_hold(admin=make_user("root", role="admin"), conversation=bob, reason="a lawsuit")
    said = run()
    assert str(bob.public_id) not in said
    assert "1 conversations are kept by legal holds" in said


def test_without_a_rule_it_says_so(settings, conversation):
    settings.RETENTION_DAYS = 0
    assert "Nothing goes" in run()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--days", "many"), "whole number"),
        (("--owner", "x@y"), "no user"),
        (("--apply", "--owner", "x@y"), "whole site"),
    ],
)
def test_wrong_arguments_get_a_sentence(arguments, said):
    with pytest.raises(CommandError, match=said):
        run(*arguments)
