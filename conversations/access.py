"""Who may do what to which object: the one place that pages, sockets and the admin ask.

Who comes in at all is asked at every request and every frame (`require_admitted`), before anything is looked for.
Someone else's object is not found. Children are fetched through their parent, so whoever holds a conversation that came
from here may read and write all of it.
"""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from chatsite.accounts.gate.admission import Admission, lock_admission
from chatsite.accounts.gate.unlocking import let_in
from chatsite.accounts.models import User
from conversations.core.errors import (
    AccessError,
    AccountBlocked,
    ConversationNotFound,
    GatePasswordRequired,
    MessageNotFound,
    SeatsTaken,
    SignInRequired,
)
from conversations.models import Conversation, Message

Person = AbstractBaseUser | AnonymousUser
REFUSALS: dict[Admission, type[AccessError]] = {
    Admission.SIGNED_OUT: SignInRequired,
    Admission.PASSWORD_REQUIRED: GatePasswordRequired,
    Admission.WAITING: SeatsTaken,
    Admission.BLOCKED: AccountBlocked,
}


def require_admitted(user: Person) -> None:
    """Raise `SignInRequired` or a `GateShut` unless *user* may come in."""
    _refuse_unless_admitted(let_in(user))


def lock_admitted(user: User) -> None:
    """Let nobody else ask for a reply of this person until the transaction ends: of many each sees those before it.

    Raises as `require_admitted` does, which gives a seat first to somebody who waits for one.
    """
    _refuse_unless_admitted(lock_admission(user.pk))


def _refuse_unless_admitted(admission: Admission) -> None:
    if refusal := REFUSALS.get(admission):
        raise refusal


def find_conversation(user: Person, public_id: uuid.UUID) -> Conversation:
    """Return the conversation that *user*, who was let in, owns.

    Raises `ConversationNotFound` also if it is someone else's.
    """
    found = (
        Conversation.objects.select_related("scenario")
        .filter(public_id=public_id, owner_id=user.pk, deleted_at=None)
        .first()
    )
    if found is None:
        raise ConversationNotFound
    found.owner = user  # who is in hand, and need not be read again
    return found


def find_reply(conversation: Conversation, reply_id: int) -> Message:
    """Return a reply of *conversation*, active or not. Raises `ConversationNotFound` if it has no such reply."""
    found = conversation.messages.filter(pk=reply_id, role="assistant").first()
    if found is None:
        raise ConversationNotFound
    return found


def find_message(conversation: Conversation, message_id: int) -> Message:
    """Return a message that *conversation* shows. Raises `MessageNotFound` if it has no such message."""
    found = conversation.messages.filter(pk=message_id, active=True).first()
    if found is None:
        raise MessageNotFound
    return found
