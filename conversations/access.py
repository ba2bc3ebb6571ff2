"""Permissions: who may do what to which object. The one place that pages, sockets and the admin ask.

Admission is checked at every request and every frame (`require_admitted`), before any object is looked for.
Another user's object is not found. Children are fetched through their parent, so code that has got a conversation from
here may read and write all of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q

from chatsite.accounts.gate.admission import (
    Admission,
    find_admission,
    find_admissions,
    lock_admission,
    lock_admission_of_session,
)
from chatsite.accounts.gate.seats import admit
from chatsite.accounts.models import User
from chatsite.postgres.compiled_query import CompiledQuery
from conversations.core.errors import (
    AccessError,
    AccountBlocked,
    CallNotFound,
    ConversationNotFound,
    DocumentNotFound,
    GatePasswordRequired,
    MessageNotFound,
    PictureNotFound,
    ScenarioNotFound,
    SeatsTaken,
    ShareNotFound,
    SignInRequired,
)
from conversations.models import ApiKey, Conversation, Document, Folder, Message, Picture, Scenario, Share, ToolCall
from conversations.models.revocable import is_open_now
from conversations.selectors.conversations.page_contents import PAGE_CONTENTS
from conversations.services.retention.put_off import put_off_deletion

Person = AbstractBaseUser | AnonymousUser
REFUSALS: dict[Admission, type[AccessError]] = {
    Admission.SIGNED_OUT: SignInRequired,
    Admission.PASSWORD_REQUIRED: GatePasswordRequired,
    Admission.WAITING: SeatsTaken,
    Admission.BLOCKED: AccountBlocked,
}
IS_OWNED = (
    "conversations_conversation.public_id = %s AND conversations_conversation.owner_id = %s "
    "AND conversations_conversation.deleted_at IS NULL AND (conversations_conversation.temporary_until IS NULL "
    "OR conversations_conversation.temporary_until > statement_timestamp())"
)
OWNED = CompiledQuery(Conversation.objects.select_related("scenario"), f"WHERE {IS_OWNED}")
OWNED_PAGE = CompiledQuery(
    Conversation.objects.select_related("scenario").annotate(**PAGE_CONTENTS), f"WHERE {IS_OWNED}"
)


def require_admitted(user: Person) -> None:
    """Raise `SignInRequired` or a `GateClosed` unless *user* may use the site now."""
    admission = find_admission(user.pk)
    _refuse_unless_admitted(admit(user) if admission is Admission.WAITING else admission)


def lock_admitted(user: User) -> None:
    """Lock the user until the transaction ends: of many requests for replies at once, each sees those before it.

    Raises as `require_admitted` does, which first gives a seat to a user on the waiting list.
    """
    _refuse_unless_admitted(lock_admission(user.pk))


def lock_admitted_session(session_key: str, fingerprint: bytes) -> int | None:
    """Lock the user of a session that was found valid with that *fingerprint*, until the transaction ends.

    Returns None if the session has changed since, or its user is not admitted: `require_admitted` says which.
    """
    user_id, admission = lock_admission_of_session(session_key, fingerprint)
    return user_id if admission is Admission.ADMITTED else None


def _refuse_unless_admitted(admission: Admission) -> None:
    if refusal := REFUSALS.get(admission):
        raise refusal


def find_conversation(user: Person, public_id: uuid.UUID, *, for_page: bool = False) -> Conversation:
    """Return the conversation that *user*, who is admitted, owns; *for_page* with what `page_contents` tells.

    Raises `ConversationNotFound` also if it is someone else's. Retention does not delete it on the same day.
    """
    if (found := (OWNED_PAGE if for_page else OWNED).first(public_id, user.pk)) is None:
        raise ConversationNotFound
    found.owner = user  # type: ignore[assignment]  # loaded already, so it is not read again
    if found.retention_ends_at:
        put_off_deletion(found)
    return found


def find_reply(conversation: Conversation, reply_id: int) -> Message:
    """Return a reply of *conversation*, active or not. Raises `ConversationNotFound` if it has no such reply."""
    found = conversation.messages.filter(pk=reply_id, role="assistant").first()
    if found is None:
        raise ConversationNotFound
    return found


def find_version(conversation: Conversation, message_id: int) -> Message:
    """Return a message of *conversation* that is shown, or could be shown in place of one that is.

    Raises `MessageNotFound` if there is no such message, also where what it follows is not shown. A step has no
    versions: its reply has.
    """
    follows_the_path = Q(parent=None) | Q(parent__active=True)
    found = conversation.messages.filter(follows_the_path, pk=message_id, step_of=None).first()
    if found is None:
        raise MessageNotFound
    return found


def find_message(conversation: Conversation, message_id: int) -> Message:
    """Return a message that *conversation* shows. Raises `MessageNotFound` if it has no such message."""
    found = conversation.messages.filter(pk=message_id, active=True).first()
    if found is None:
        raise MessageNotFound
    return found


def find_call(conversation: Conversation, call_id: int) -> ToolCall:
    """Return a tool call of a reply that *conversation* shows. Raises `CallNotFound` if it has no such call."""
    calls = ToolCall.objects.select_related("reply")
    found = calls.filter(pk=call_id, reply__conversation=conversation, reply__active=True).first()
    if found is None:
        raise CallNotFound
    return found


def find_picture(conversation: Conversation, picture_id: int) -> Picture:
    """Return a picture of *conversation*. Raises `PictureNotFound` if it has no such picture."""
    found = conversation.pictures.filter(pk=picture_id).first()
    if found is None:
        raise PictureNotFound
    return found


def find_share(user: Person, public_id: uuid.UUID) -> Share:
    """Return a share that *user* made. Raises `ShareNotFound`, also if it is someone else's."""
    if (found := Share.objects.filter(owner_id=user.pk, public_id=public_id).first()) is None:
        raise ShareNotFound
    return found


def find_shared(token_digest: str) -> Share:
    """Return the share with that token, if it may be read now.

    Raises `ShareNotFound` once it is over or revoked, while its conversation is deleted, and while its owner is not
    admitted to the site.
    """
    shares = Share.objects.filter(is_open_now(), token_digest=token_digest, conversation__deleted_at=None)
    found = shares.select_related("conversation").first()
    if found is None or found.owner_id != found.conversation.owner_id:
        raise ShareNotFound
    if find_admission(found.owner_id) is not Admission.ADMITTED:
        raise ShareNotFound
    return found


def find_open_keys(key_ids: Collection[int]) -> set[int]:
    """Return those of *key_ids* that still open something: neither over nor revoked, their owners admitted."""
    owners = dict(ApiKey.objects.filter(is_open_now(), pk__in=key_ids).values_list("pk", "owner_id"))
    admissions = find_admissions(set(owners.values()))
    return {key for key, owner in owners.items() if admissions[owner] is Admission.ADMITTED}


def find_scenario_with_documents(user: User, scenario_id: int) -> Scenario:
    """Return a scenario whose documents *user* sees, adds and deletes: their own, for an admin also the site's.

    A user who may only use a scenario gets passages, never a file. Raises `ScenarioNotFound`.
    """
    if (found := Scenario.objects.filter(_is_kept_by(user), pk=scenario_id).first()) is None:
        raise ScenarioNotFound
    return found


def find_document(user: User, place: Conversation | Folder | Scenario, document_id: uuid.UUID) -> Document:
    """Return a document of *place*, which came from here. Raises `DocumentNotFound`, also if it is someone else's."""
    if isinstance(place, Conversation):
        is_theirs = Q(conversation__owner_id=user.pk, conversation__deleted_at=None)
    else:
        is_theirs = Q(folder__owner_id=user.pk) if isinstance(place, Folder) else _is_kept_by(user, "scenario__")
    found = place.documents.filter(is_theirs, public_id=document_id).first()
    if found is None:
        raise DocumentNotFound
    return found


def _is_kept_by(user: User, scenario: str = "") -> Q:
    """Return the condition that it is the user's to fill with documents; *scenario* is the way to it."""
    own = Q(**{f"{scenario}owner_id": user.pk})
    return own | Q(**{f"{scenario}owner": None}) if user.is_superuser else own
