"""Add pictures to a conversation, send them with its messages, and sweep those that were never sent.

The user who adds is locked first and then the conversation, as for documents, so that none slips past a limit.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatsite.accounts.models import User
from chatsite.postgres.pool import release_connection, replace_after_large_value
from conversations.access import lock_admitted
from conversations.core.errors import (
    ConversationNotFound,
    PictureAlreadySent,
    PicturesGone,
    PictureTooLarge,
    TooManyPictures,
)
from conversations.core.text.file_names import clean_file_name
from conversations.core.text.storable_text import UNSTORABLE
from conversations.models import Conversation, Picture, PictureFile
from conversations.parsing import ReadPicture, read_picture
from conversations.selectors.conversations.pictures import SentPicture, pictures_of_conversation
from conversations.services.conversations.conversations import start_conversation
from conversations.services.documents.storage_limit import BYTES_PER_MEGABYTE, check_storage
from conversations.services.documents.upload_limits import count_upload
from conversations.services.windows.active_path import lock_conversation

KEPT_UNSENT = dt.timedelta(days=1)
SWEPT_AT_ONCE = 100
LONGEST_ALT_TEXT = 500


def largest_picture_bytes() -> int:
    """Return how large the file of a picture may be; what is stored of it is smaller."""
    return settings.PICTURE_MEGABYTES * BYTES_PER_MEGABYTE


def add_picture(*, user: User, public_id: uuid.UUID, name: str, content: bytes, **beginning: Any) -> Picture:
    """Read a picture and keep it in the user's conversation, which begins with it, as *beginning* says, if it is new.

    The same picture is the same row. Raises an `InputError`, a `PictureError` or an `AccessError` before anything is
    kept.
    """
    if Conversation.objects.filter(public_id=public_id).exclude(owner=user, deleted_at=None).exists():
        raise ConversationNotFound
    count_upload(user, size_bytes=len(content))  # outside of any transaction that a refusal would undo
    read = read_in_turn(user, content)
    with transaction.atomic():
        conversation = start_conversation(user=user, public_id=public_id, **beginning)
        lock_admitted(user)
        return keep_picture(user, lock_conversation(conversation), name, read)


def read_in_turn(user: User, content: bytes) -> ReadPicture:
    """Read the file of a picture, one of *user* after the other. Raises `PictureTooLarge` or a `PictureError`.

    The connection to the database is given back meanwhile.
    """
    if len(content) > largest_picture_bytes():
        raise PictureTooLarge(megabytes=settings.PICTURE_MEGABYTES)
    with _turn_to_read(user.pk):
        release_connection()  # others need it more than one who waits
        return read_picture(content)


_turns: dict[int, threading.Lock] = {}
_takers: Counter[int] = Counter()
_turns_change = threading.Lock()


@contextmanager
def _turn_to_read(user_id: int) -> Iterator[None]:
    """Wait until no other picture of the user is read: slow ones of one user leave the other places to others."""
    with _turns_change:
        turn = _turns.setdefault(user_id, threading.Lock())
        _takers[user_id] += 1
    try:
        with turn:
            yield
    finally:
        with _turns_change:
            _takers[user_id] -= 1
            if not _takers[user_id]:
                del _turns[user_id], _takers[user_id]


def keep_picture(user: User, conversation: Conversation, name: str, read: ReadPicture) -> Picture:
    """Store a picture that was read in a conversation, which is locked. Raises `DocumentStorageFull`."""
    digest = hashlib.sha256(read.content).hexdigest()
    if found := Picture.objects.select_for_update(no_key=True).filter(conversation=conversation, digest=digest).first():
        found.created_at = timezone.now()  # it is about to be sent: not swept meanwhile
        found.save(update_fields=["created_at"])
        return found
    check_storage(user, more_bytes=len(read.content))
    picture = Picture.objects.create(
        conversation=conversation,
        uploader=user,
        digest=digest,
        media_type=read.media_type,
        width=read.width,
        height=read.height,
        size_bytes=len(read.content),
        file_name=clean_file_name(name) if name else "",
    )
    PictureFile.objects.create(picture=picture, content=read.content)
    replace_after_large_value(len(read.content))
    return picture


def describe_picture(picture: Picture, *, alt_text: str) -> str:
    """Store what is to be seen on the picture, in the user's words, and return it as it is stored.

    Raises `PictureAlreadySent` for other words than went with a message.
    """
    cleaned = clean_alt_text(alt_text)
    if not Picture.objects.filter(Q(sent=False) | Q(alt_text=cleaned), pk=picture.pk).update(alt_text=cleaned):
        raise PictureAlreadySent
    return cleaned


def clean_alt_text(alt_text: str) -> str:
    """Return *alt_text* as it is stored: one line."""
    return " ".join(UNSTORABLE.sub("", alt_text).split())[:LONGEST_ALT_TEXT]


def take_pictures(conversation: Conversation, picture_ids: Sequence[int]) -> tuple[SentPicture, ...]:
    """Return the pictures for a message that is about to be stored, each once, and keep them from being swept.

    Raises `TooManyPictures`, or `PicturesGone` for one that is not of the conversation. It has to be locked.
    """
    wanted = list(dict.fromkeys(picture_ids))
    if len(wanted) > settings.PICTURES_PER_MESSAGE:
        raise TooManyPictures(most=settings.PICTURES_PER_MESSAGE)
    if not wanted:
        return ()
    mark_sent(conversation, wanted)
    found = pictures_of_conversation(conversation.pk, wanted)
    if len(found) < len(wanted):
        raise PicturesGone
    return found


def mark_sent(conversation: Conversation, picture_ids: Sequence[int]) -> None:
    """Keep pictures for as long as the conversation: a message is stored with them in the same transaction."""
    Picture.objects.filter(conversation=conversation, pk__in=picture_ids, sent=False).update(sent=True)


def sweep_unsent_pictures() -> int:
    """Delete pictures that were added a day ago and never sent. Returns how many."""
    over = Picture.objects.filter(sent=False, created_at__lt=timezone.now() - KEPT_UNSENT)
    with transaction.atomic():  # one that is being sent at this moment is locked, and stays
        ids = list(over.select_for_update(skip_locked=True).values_list("pk", flat=True)[:SWEPT_AT_ONCE])
        Picture.objects.filter(pk__in=ids).delete()
    return len(ids)
