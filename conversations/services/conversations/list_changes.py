"""Star, archive, move and delete one or several conversations as one change of the list, which can be undone as one."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from chatsite.accounts.models import User
from conversations.core.errors import ConversationNotFound
from conversations.live.fanout import publish_list_change
from conversations.models import Conversation, Folder, ListChange
from conversations.services.replies.stop_reply import stop_replies

from .deletion import restore_conversations
from .deletion_state import mark_deleted

KEPT_TO_UNDO = dt.timedelta(days=1)
SWEPT_AT_ONCE = 1_000


@transaction.atomic
def arrange_conversations(
    user: User, public_ids: Collection[uuid.UUID], *, starred: bool | None = None, archived: bool | None = None
) -> ListChange:
    """Star or archive the user's conversations, or take that back; what is None stays as it is.

    Of those that are named, the ones that are deleted or someone else's are passed over. Raises `ConversationNotFound`
    if none is left. Of two changes at once the last one holds. All pages of the owner are told.
    """
    wanted = {"starred": starred, "archived": archived}
    return _change(user, public_ids, {name: value for name, value in wanted.items() if value is not None})


@transaction.atomic
def move_conversations(user: User, public_ids: Collection[uuid.UUID], folder: Folder | None) -> ListChange:
    """Put the user's conversations into the user's *folder*, or out of all. Otherwise like `arrange_conversations`."""
    return _change(user, public_ids, {"folder_id": folder and folder.pk})


def delete_conversations(user: User, public_ids: Collection[uuid.UUID]) -> ListChange:
    """Delete the user's conversations and stop their replies. Otherwise like `arrange_conversations`."""
    with transaction.atomic():
        found = _lock(user, public_ids)
        change = _record(user, found, {"deleted_at": timezone.now()})
        mark_deleted(found)
        _announce(user, found)
    stop_replies(found)
    return change


def _change(user: User, public_ids: Collection[uuid.UUID], values: Mapping[str, Any]) -> ListChange:
    found = _lock(user, public_ids)
    change = _record(user, found, values)
    Conversation.objects.filter(pk__in=[each.pk for each in found]).update(**values)
    _announce(user, found)
    return change


def _record(user: User, found: Collection[Conversation], values: Mapping[str, Any]) -> ListChange:
    """Store what the conversations have now of *values*, to be undone. Raises `ConversationNotFound` for none."""
    if not found:
        raise ConversationNotFound
    before = {str(each.public_id): _differing(each, values) for each in found}
    change = ListChange.objects.create(owner=user, before={key: old for key, old in before.items() if old})
    change.count = len(found)
    return change


@transaction.atomic
def undo_list_change(user: User, change_id: int) -> None:
    """Make the conversations of a change what they were before it. Raises `ConversationNotFound` if it is not there."""
    change = ListChange.objects.select_for_update().filter(owner=user, pk=change_id).first()
    if change is None:
        raise ConversationNotFound
    public_ids = [uuid.UUID(key) for key in change.before]
    if any("deleted_at" in values for values in change.before.values()):
        restore_conversations(user, public_ids)
        change.delete()
        return
    found = _lock(user, public_ids)
    folders = set(Folder.objects.filter(owner=user).values_list("pk", flat=True))
    for values, pks in _grouped(change.before, found):
        if "folder_id" in values and values["folder_id"] not in folders:  # which was deleted meanwhile
            values["folder_id"] = None
        Conversation.objects.filter(pk__in=pks).update(**values)
    change.delete()
    _announce(user, found)


def sweep_list_changes() -> None:
    """Delete changes that no page offers to undo any more."""
    over = ListChange.objects.filter(created_at__lt=timezone.now() - KEPT_TO_UNDO)
    ListChange.objects.filter(pk__in=over.values("pk")[:SWEPT_AT_ONCE]).delete()


def _lock(user: User, public_ids: Collection[uuid.UUID]) -> list[Conversation]:
    """Lock those that are there, in one order for all: two changes at once wait for each other and end."""
    there = Conversation.objects.filter(owner=user, public_id__in=public_ids, deleted_at=None, temporary_until=None)
    return list(there.select_for_update(no_key=True).order_by("pk"))


def _announce(user: User, conversations: Iterable[Conversation]) -> None:
    public_ids = [each.public_id for each in conversations]
    transaction.on_commit(partial(publish_list_change, user.pk, public_ids))


def _differing(conversation: Conversation, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the conversation has now of *values*, where that is something else."""
    now = {name: getattr(conversation, name) for name in values}
    return {name: value for name, value in now.items() if value != values[name]}


def _grouped(
    before: Mapping[str, Mapping[str, Any]], found: Iterable[Conversation]
) -> list[tuple[dict[str, Any], list[int]]]:
    """Return which values go back to which conversations, each set of values once."""
    groups: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for each in found:
        groups.setdefault(tuple(sorted(before.get(str(each.public_id), {}).items())), []).append(each.pk)
    return [(dict(values), pks) for values, pks in groups.items() if values]
