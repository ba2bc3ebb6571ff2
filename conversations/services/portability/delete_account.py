"""Delete an account and all its content at once. Its amounts stay in the ledger, without a user."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.account.account_deletion import forget_user
from chatsite.accounts.account.last_admin import lock_remaining_admin
from chatsite.accounts.models import User
from chatsite.postgres.connection import long_work
from conversations.models import Conversation, Message, MessagePostings, Run
from conversations.selectors.retention.holds import is_anything_held
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.ledger.anonymize_ledger import forget_in_rows, wait_for_other_deletions
from conversations.services.replies.stop_reply import stop_replies

TRIES = 5


@long_work()
def delete_account(user: User) -> None:
    """Delete the user with their conversations, documents and scenarios, all of it or nothing.

    Replies that are being made are stopped; what they have used is still settled, without a user. Conversations of
    others that use a scenario of theirs go on with the site's default. Raises a `ValidationError` for the last admin,
    and as long as a legal hold keeps anything of the user's.
    """
    with transaction.atomic():
        _check_an_admin_stays(user)
        _check_nothing_is_held(user)
    stop_replies(Conversation.objects.filter(owner=user))
    for tries_left in reversed(range(TRIES)):
        try:
            _delete(user)
            return
        except (IntegrityError, OperationalError):  # something of theirs was written at this instant
            if not tries_left:
                raise


@transaction.atomic
def _delete(user: User) -> None:
    """Delete everything in one transaction.

    Settling a request locks the ledger's row first and the user's after it, so the locks are taken in that order here.
    """
    wait_for_other_deletions()
    _check_an_admin_stays(user)
    _check_nothing_is_held(user)
    forget_in_rows(user)
    _hold_what_is_theirs(user)
    # At once: each of their conversations would have its words listed by another one of them.
    MessagePostings.objects.filter(owner=user).delete()
    for conversation in Conversation.objects.filter(owner=user).order_by("pk").iterator():
        conversation.delete()
    _delete_scenarios(user)
    forget_user(user)
    User.objects.filter(pk=user.pk).delete()  # none, where two requests delete it at once


def _hold_what_is_theirs(user: User) -> None:
    """Wait for all work on rows of the user, by locking them in the order in which all code takes locks.

    User, conversations, replies, runs: who has one of them may still take the next, and store rows that name them
    all, as a step that is stored or a call that is decided does. With the last lock, on the user's row again, nothing
    new of theirs can be stored.
    """
    account = User.objects.filter(pk=user.pk)
    conversations = Conversation.objects.filter(owner=user)
    replies = Message.objects.filter(conversation__owner=user, state="streaming")
    runs = Run.objects.filter(reply__conversation__owner=user).exclude(state="ended")
    _lock(account, may_be_named=True)
    _lock(conversations, may_be_named=True)
    _lock(replies, may_be_named=True)
    _lock(runs)
    _lock(account)


def _lock(rows: QuerySet[Any], *, may_be_named: bool = False) -> None:
    """Lock *rows* until the transaction ends, for others to name in new rows of theirs at most."""
    locked = rows.select_for_update(of=("self",), no_key=may_be_named).order_by("pk")
    list(locked.values_list("pk", flat=True))


def _check_an_admin_stays(user: User) -> None:
    if User.objects.admins().filter(pk=user.pk).exists() and not lock_remaining_admin([user.pk]):
        raise ValidationError(_("You are the site’s only admin. Make someone else an admin first."), code="last_admin")


def _check_nothing_is_held(user: User) -> None:
    if is_anything_held(user):
        raise ValidationError(
            _("An admin has put a legal hold on your conversations. You can delete the account once it is lifted."),
            code="held",
        )


def _delete_scenarios(user: User) -> None:
    others = Conversation.objects.filter(scenario__owner=user)  # from when everyone might choose them
    if others.exists():
        others.update(scenario=default_scenario())
    user.scenarios.all().delete()
