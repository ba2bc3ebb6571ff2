"""Share a conversation up to a message: store what was chosen of it, some messages at a time, and make the link."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from chatsite.accounts.models import User
from chatsite.accounts.second_factors.secret_encryption import encrypt_secret
from chatsite.accounts.sign_up.one_time_links import hash_token
from chatsite.names import clean_name
from chatsite.postgres.connection import long_work
from conversations.access import lock_admitted
from conversations.core.errors import (
    MessageNotFound,
    NothingToShare,
    SharedMessagesTooMany,
    SharesOff,
    TemporaryNotExported,
    TooManyShares,
)
from conversations.models import Conversation, Message, Share, SharedMessage
from conversations.models.message import MessageRole, MessageState
from conversations.selectors.conversations.thread import ThreadMessage
from conversations.selectors.conversations.whole_thread import whole_thread
from conversations.services.language_models.model_context import conversation_context
from conversations.services.windows.active_path import lock_conversation

from .share_storage import free_share_bytes, share_storage_full, size_of_messages
from .shared_rows import WORDS_ALONE, ShareChoices, shared_rows

TOKEN_BYTES = 24  # 192 bits
MOST_MESSAGES = 20_000
MOST_SHARES = 200  # of one user, those that are over among them


class MadeShare(NamedTuple):
    """A share and the token of its link."""

    share: Share
    token: str


def last_shareable(conversation: Conversation, message_id: int | None = None) -> Message:
    """Return the last message that a share up to *message_id* has, or up to the end: the last one that has ended.

    Raises `MessageNotFound` for one that is not shown, `NothingToShare` where nothing has ended yet.
    """
    path = conversation.messages.filter(active=True, step_of=None).exclude(state=MessageState.STREAMING)
    if message_id is not None:
        chosen = conversation.messages.filter(pk=message_id, active=True).select_related("step_of").first()
        if chosen is None:
            raise MessageNotFound
        path = path.filter(position__lte=(chosen.step_of or chosen).position)
    if (last := path.order_by("-position").first()) is None:
        raise NothingToShare
    return last


@long_work()
def share_conversation(
    *,
    user: User,
    conversation: Conversation,
    message_id: int | None,
    title: str,
    owner_name: str = "",
    ends_at: dt.datetime | None = None,
    shown: ShareChoices = WORDS_ALONE,
) -> MadeShare:
    """Store a snapshot up to and with the message, and return it with the token of its link.

    Raises `SharesOff`, `TemporaryNotExported`, `TooManyShares`, `SharedMessagesTooMany`, `ShareStorageFull`, or as
    `last_shareable` does; then nothing is stored.
    """
    if settings.SHARES == "off":
        raise SharesOff
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with transaction.atomic():
        lock_admitted(user)
        source = lock_conversation(conversation)
        if source.is_temporary:
            raise TemporaryNotExported
        if Share.objects.filter(owner=user).count() >= MOST_SHARES:
            raise TooManyShares(most=MOST_SHARES)
        last = last_shareable(source, message_id)
        count = source.messages.filter(active=True, step_of=None, position__lte=last.position).count()
        if count > MOST_MESSAGES:
            raise SharedMessagesTooMany(most=MOST_MESSAGES, number=count)
        share = Share.objects.create(
            conversation=source,
            owner=user,
            token_digest=hash_token(token),
            sealed_token=encrypt_secret(token),
            title=clean_name(title, most_characters=200),
            owner_name=clean_name(owner_name, most_characters=100),
            ends_at=ends_at,
            message_count=count,
            last_said_at=last.created_at,
            **asdict(shown),
        )
        _store_messages(share, source, last, shown)
    return MadeShare(share, token)


def _store_messages(share: Share, source: Conversation, last: Message, shown: ShareChoices) -> None:
    numbers: dict[int, int] = {}
    count, answered_by = 0, []
    free_bytes = free_share_bytes(share.owner)
    context = conversation_context(source)
    for messages in whole_thread(source, last_position=last.position):
        numbers |= _numbers_of(messages, count, with_tool_results=shown.shows_tools)
        rows = list(shared_rows(share, messages, numbers, shown, context))
        SharedMessage.objects.bulk_create(rows)
        share.size_bytes += size_of_messages(share, from_number=count + 1)
        if share.size_bytes > free_bytes:
            raise share_storage_full()
        count += len(rows)
        for row in rows:
            if row.made_by and row.made_by not in answered_by:
                answered_by.append(row.made_by)
            if row.window:
                share.window_tokens = row.window["record"]["context_window_tokens"]
    share.message_count, share.answered_by = count, answered_by
    share.save(update_fields=["message_count", "answered_by", "window_tokens", "size_bytes"])


def _numbers_of(messages: Sequence[ThreadMessage], before: int, *, with_tool_results: bool) -> dict[int, int]:
    """Return the numbers of *messages*, which follow *before* others; the steps of a reply have its number."""
    kept = [each for each in messages if with_tool_results or each.role != MessageRole.TOOL]
    numbers = {each.pk: number for number, each in enumerate(kept, start=before + 1)}
    steps = Message.objects.filter(step_of__in=numbers).values_list("pk", "step_of")
    return numbers | {pk: numbers[reply] for pk, reply in steps if reply is not None}
