"""Store imported conversations: new ones whole, and of those that are here already only what is new.

What was written here is never changed. New messages of a conversation that went on only there go on in it; where it
went on here too, they are versions beside the path that is shown.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.names import clean_name
from chatsite.postgres.connection import allow_long_idle
from chatsite.postgres.copy_rows import copy_rows, take_ids
from conversations.core.errors import ConversationNotFound, InputError, ReplyInProgress
from conversations.core.imports.imported import ImportedConversation
from conversations.live.fanout import MESSAGES, publish
from conversations.models import Conversation, ConversationOrigin, Message, MessageOrigin, PathChange, Scenario
from conversations.services.conversations.notes import clean_notes
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.messages.post_message import title_from
from conversations.services.windows.active_path import lock_conversation, refuse_while_replying

from .import_report import ImportOutcome
from .imported_rows import ImportedRows, MessagePictures, StoredMessage, count_rows, make_message_rows, storable_id
from .text_room import TextRoom

OWN_FORMAT = "windowseat"


class ImportItem(NamedTuple):
    """A conversation of an export: the *number* of its item, and the name of its format."""

    number: int
    format: str
    conversation: ImportedConversation

    @property
    def key(self) -> tuple[str, str]:
        return self.format, storable_id(self.conversation.source_id)


@dataclass(frozen=True, slots=True)
class ImportTarget:
    """Whose the conversations become, with which scenario; *context* counts their tokens. *now* orders those without
    a date: each a little before the one that came before it.
    """

    owner: User
    scenario: Scenario
    import_id: int
    context: ModelContext
    now: dt.datetime
    room: TextRoom

    @classmethod
    def of(cls, owner: User, scenario: Scenario, import_id: int) -> ImportTarget:
        context = conversation_context(Conversation(owner=owner, scenario=scenario))
        return cls(owner, scenario, import_id, context, timezone.now(), TextRoom(owner))


@dataclass(slots=True)
class StoredItems:
    """The outcome of each item, in their order, and the pictures that are still to be added."""

    outcomes: list[ImportOutcome] = field(default_factory=list)
    pictures: list[tuple[int, MessagePictures]] = field(default_factory=list)


@transaction.atomic
def store_conversations(target: ImportTarget, items: Sequence[ImportItem]) -> StoredItems:
    """Store *items*, of which no two are the same conversation. Raises `ImportedTextFull`, and then stores none."""
    allow_long_idle()  # 200,000 messages become rows
    stored = StoredItems()
    origins = _find_origins(target, items)
    new: list[tuple[int, ImportItem]] = []
    for item in items:
        if not item.conversation.messages:
            stored.outcomes.append(ImportOutcome("empty"))
            continue
        origin = origins.get(item.key) or _own_origin(target, item)
        if origin is None:
            new.append((len(stored.outcomes), item))
            stored.outcomes.append(ImportOutcome("new"))
            continue
        outcome, rows = _grow(target, item, origin)
        stored.outcomes.append(outcome)
        stored.pictures += [(outcome.conversation_id or 0, pictures) for pictures in rows.pictures]
    _store_new(target, new, stored)
    return stored


# New ones


def _store_new(target: ImportTarget, new: list[tuple[int, ImportItem]], stored: StoredItems) -> None:
    conversation_ids = take_ids(Conversation, len(new))
    ids = iter(take_ids(Message, sum(count_rows(item.conversation) for _, item in new)))
    conversations, origins, all_rows = [], [], ImportedRows()
    for pk, (index, item) in zip(conversation_ids, new, strict=True):
        read = item.conversation
        begun_at = _begun_at(target, item)
        rows = make_message_rows(read, pk, context=target.context, ids=ids, begun_at=begun_at, known={})
        path = set(rows.path)
        for row in rows.messages:
            row.active = (row.step_of_id or row.pk) in path
        conversations.append(_conversation(target, item, pk, rows, begun_at))
        origin = _origin(target, item, pk)
        origin.text_bytes = target.room.take(rows.messages)
        origins.append(origin)
        all_rows.messages += rows.messages
        all_rows.calls += rows.calls
        all_rows.origins += rows.origins
        stored.pictures += [(pk, pictures) for pictures in rows.pictures]
        taken = _count_taken(read)
        stored.outcomes[index] = ImportOutcome("new", taken, taken, pk)
    copy_rows(conversations)
    copy_rows(all_rows.messages)
    copy_rows(all_rows.calls)
    copy_rows(origins)
    copy_rows(all_rows.origins)
    copy_rows([PathChange(conversation_id=pk, position=0) for pk in conversation_ids])
    if new:
        transaction.on_commit(partial(publish, MESSAGES, "stored"))


def _begun_at(target: ImportTarget, item: ImportItem) -> dt.datetime:
    read = item.conversation
    dated = (message.created_at for message in read.messages if message.created_at)
    return read.created_at or min(dated, default=target.now - dt.timedelta(microseconds=item.number))


def _last_active_at(target: ImportTarget, read: ImportedConversation, begun_at: dt.datetime) -> dt.datetime:
    """Return when it was last active: never later than now, or retention would pass it over."""
    dated = (message.created_at for message in read.messages if message.created_at)
    return min(read.last_active_at or max(dated, default=begun_at), target.now)


def _conversation(
    target: ImportTarget, item: ImportItem, pk: int, rows: ImportedRows, begun_at: dt.datetime
) -> Conversation:
    read = item.conversation
    title = clean_name(read.title, most_characters=Conversation._meta.get_field("title").max_length)
    first = next((message.content for message in read.messages if message.role == "user"), "")
    return Conversation(
        pk=pk,
        public_id=uuid.uuid4(),
        owner_id=target.owner.pk,
        scenario_id=target.scenario.pk,
        title=title or title_from(first),
        title_is_given=bool(title),
        head_id=rows.path[-1],
        has_pins=any(row.pinned for row in rows.messages),
        archived=read.archived,
        starred=read.starred,
        created_at=begun_at,
        last_active_at=_last_active_at(target, read, begun_at),
        kept_at=target.now,
        **_columns(read),
    )


def _columns(read: ImportedConversation) -> dict[str, Any]:
    """Return the columns that only our own export has; notes that are too long here stay behind."""
    columns = dict(read.columns)
    try:
        return columns | ({"notes": clean_notes(columns["notes"])} if columns else {})
    except InputError:
        return columns | {"notes": ""}


def _origin(target: ImportTarget, item: ImportItem, conversation_id: int) -> ConversationOrigin:
    format_name, source_id = item.key
    return ConversationOrigin(
        owner_id=target.owner.pk,
        format=format_name,
        source_id=source_id,
        conversation_id=conversation_id,
        brought_by_id=target.import_id,
        item=item.number,
    )


# Those that are here


def _find_origins(target: ImportTarget, items: Sequence[ImportItem]) -> dict[tuple[str, str], ConversationOrigin]:
    keys = [item.key for item in items]
    of_formats = Q()
    for format_name in {name for name, _ in keys}:
        of_formats |= Q(format=format_name, source_id__in=[key for name, key in keys if name == format_name])
    found = ConversationOrigin.objects.filter(of_formats, owner=target.owner).select_related("conversation")
    return {(each.format, each.source_id): each for each in found} if keys else {}


def _own_origin(target: ImportTarget, item: ImportItem) -> ConversationOrigin | None:
    """Return the origin of a conversation of this very site, which was exported here: itself."""
    if item.format != OWN_FORMAT:
        return None
    try:
        public_id = uuid.UUID(item.conversation.source_id)
    except ValueError:
        return None
    conversation = Conversation.objects.filter(owner=target.owner, public_id=public_id).first()
    if conversation is None:
        return None
    origin = _origin(target, item, conversation.pk)
    origin.conversation, origin.brought_by_id = conversation, None
    origin.save()
    rows = conversation.messages.values_list("pk", flat=True)
    copy_rows([MessageOrigin(conversation=conversation, source_id=str(pk), message_id=pk) for pk in rows])
    return origin


def _grow(target: ImportTarget, item: ImportItem, origin: ConversationOrigin) -> tuple[ImportOutcome, ImportedRows]:
    """Add what is new to a conversation that was imported before."""
    conversation, read = origin.conversation, item.conversation
    if conversation is None or conversation.deleted_at:
        return ImportOutcome("deleted"), ImportedRows()
    by_this_item = origin.brought_by_id == target.import_id and origin.item == item.number
    try:
        conversation = lock_conversation(conversation)
    except ConversationNotFound:
        return ImportOutcome("deleted"), ImportedRows()
    known = _known_messages(conversation)
    ids = iter(take_ids(Message, count_rows(read))) if _has_new(read, known) else iter(())
    begun_at = conversation.created_at
    rows = make_message_rows(read, conversation.pk, context=target.context, ids=ids, begun_at=begun_at, known=known)
    if rows.messages:
        Conversation.objects.filter(pk=conversation.pk).update(kept_at=target.now, retention_ends_at=None)
        _go_on(conversation, rows, target.now)
    copy_rows(rows.messages)
    copy_rows(rows.calls)
    copy_rows(rows.origins)
    if rows.messages:
        origin.brought_by_id = target.import_id
        more_bytes = target.room.take(rows.messages)
        ConversationOrigin.objects.filter(pk=origin.pk).update(
            brought_by=target.import_id, text_bytes=F("text_bytes") + more_bytes
        )
    taken = _count_taken(read)
    if by_this_item:  # it was stored by a worker that ended before it could say so
        return ImportOutcome("new", taken, taken, conversation.pk), rows
    kind = "grown" if rows.messages else "known"
    return ImportOutcome(kind, taken, len(rows.messages), conversation.pk), rows


def _known_messages(conversation: Conversation) -> dict[str, StoredMessage]:
    here = {
        pk: StoredMessage(pk, position, created_at)
        for pk, position, created_at in conversation.messages.values_list("pk", "position", "created_at")
    }
    origins = MessageOrigin.objects.filter(conversation=conversation).values_list("source_id", "message_id")
    return {source_id: here[message_id] for source_id, message_id in origins if message_id in here}


def _has_new(read: ImportedConversation, known: dict[str, StoredMessage]) -> bool:
    return any(storable_id(source_id) not in known for message in read.messages for source_id in message.source_ids)


def _go_on(conversation: Conversation, rows: ImportedRows, now: dt.datetime) -> None:
    """Show the new messages that follow the one that is the newest here; otherwise all of them are versions."""
    head_id = conversation.head_id
    if head_id not in rows.path:
        return
    following = rows.path[rows.path.index(head_id) + 1 :]
    new = {row.pk: row for row in rows.messages}
    if not following or not all(pk in new for pk in following):
        return
    try:
        refuse_while_replying(conversation)
    except ReplyInProgress:
        return
    shown = set(following)
    for row in rows.messages:
        row.active = (row.step_of_id or row.pk) in shown
    first = min(row.position for row in rows.messages if row.active)
    PathChange.objects.create(conversation=conversation, position=first)
    newest = new[following[-1]]
    Conversation.objects.filter(pk=conversation.pk).update(
        head_id=newest.pk, last_active_at=max(conversation.last_active_at, min(newest.created_at, now))
    )
    transaction.on_commit(partial(publish, MESSAGES, "stored"))


def _count_taken(read: ImportedConversation) -> int:
    return sum(len(message.source_ids) for message in read.messages)
