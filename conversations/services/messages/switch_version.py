"""Show another version of a message, with the messages after that one."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from conversations.access import find_version
from conversations.core.frames.definitions import MessageShown
from conversations.live.fanout import publish_frame
from conversations.models import Conversation, Message
from conversations.services.windows.active_path import enter_path, leave_path, lock_conversation, refuse_while_replying

from .edit_message import untitle
from .post_message import title_from


def switch_version(*, conversation: Conversation, message_id: int) -> Message:
    """Put a version beside the path on the path, down to the newest message that was said after it.

    Raises `MessageNotFound`, or `ReplyInProgress` while one is being written; a version that is shown stays as it is.
    """
    with transaction.atomic():
        locked = lock_conversation(conversation)
        version = find_version(locked, message_id)
        if version.active:
            return version
        refuse_while_replying(locked)
        _rename(locked, version)
        branch = _newest_branch(locked, version)
        leave_path(locked, version.first_position, head_id=branch[0])
        enter_path(locked, branch)
        locked.save(update_fields=["head", "title"])
        frame = MessageShown(locked.public_id, version.pk, version.position)
        transaction.on_commit(partial(publish_frame, frame, locked.public_id))
    return version


def _rename(conversation: Conversation, version: Message) -> None:
    """Call a conversation after the version that it begins with now, unless a person has named it."""
    if version.parent_id is None:
        untitle(conversation, conversation.messages.get(active=True, position=0))
        conversation.title = conversation.title or title_from(version.content)


def _newest_branch(conversation: Conversation, version: Message) -> list[int]:
    """Return the messages from the newest one below *version* up to *version*.

    A message is always newer than the one it follows, so the newest of all is one that none follows.
    """
    below = conversation.messages.filter(position__gt=version.position, step_of=None).order_by("position")
    followed: dict[int, int | None] = {}
    for pk, parent_id in below.values_list("pk", "parent_id"):
        if parent_id == version.pk or parent_id in followed:
            followed[pk] = parent_id
    branch = [max(followed, default=version.pk)]
    while above := followed.get(branch[-1]):
        branch.append(above)
    return branch
