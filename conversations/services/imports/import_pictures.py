"""Add the pictures of imported messages: each encoded again in the sandbox, within what their owner may keep."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from chatsite.names import clean_name
from conversations.core.errors import ConversationNotFound, DocumentStorageFull, PictureError
from conversations.core.imports.imported import MISSING_FILES, NO_ROOM, UNREADABLE_PICTURES, PictureSource
from conversations.core.imports.read_export import Export
from conversations.core.prompt.messages import PromptMessage
from conversations.models import Conversation, Message, PathChange, Picture
from conversations.parsing import ReadPicture, read_picture
from conversations.selectors.conversations.pictures import read_picture_bytes
from conversations.services.pictures.pictures import clean_alt_text, keep_picture, largest_picture_bytes
from conversations.services.windows.active_path import lock_conversation

from .imported_rows import MessagePictures
from .store_conversations import ImportTarget

LONGEST_NAME = 120


class NotTaken(Exception):
    """A picture can't be added; *kind* says why."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(slots=True)
class PictureReader:
    """Reads pictures of *export*, each once: one that is named again is taken from where it is stored.

    *known* are ids of stored pictures, or why there is none, by what names them in the export.
    """

    export: Export
    known: dict[str, int | str] = field(default_factory=dict)

    def keep(self, target: ImportTarget, conversation_id: int, source: PictureSource) -> int:
        """Return the id of the picture in the conversation. Raises `NotTaken` or `ConversationNotFound`."""
        key = source.key if source.content is None else f"sha256:{hashlib.sha256(source.content).hexdigest()}"
        known = self.known.get(key)
        if isinstance(known, str):
            raise NotTaken(known)
        here = Picture.objects.filter(pk=known).first() if known is not None else None
        if here is not None and here.conversation_id == conversation_id:
            return here.pk
        try:
            name, read = self._read(source, here)
            self.known[key] = kept = _keep(target, conversation_id, name, read, alt_text=source.alt_text)
        except NotTaken as reason:
            self.known[key] = reason.kind
            raise
        return kept

    def _read(self, source: PictureSource, here: Picture | None) -> tuple[str, ReadPicture]:
        content = read_picture_bytes(here.pk) if here is not None else None
        if here is not None and content is not None:
            return here.file_name, ReadPicture(here.media_type, here.width, here.height, content)
        found = self.export.read_picture(source, most_bytes=largest_picture_bytes())
        if found is None:
            raise NotTaken(MISSING_FILES)
        return found[0], _read(found[1])


def add_pictures(
    target: ImportTarget,
    reader: PictureReader,
    conversation_id: int,
    pictures: MessagePictures,
    *,
    count_missing: Callable[[str], None],
) -> tuple[int, int]:
    """Add the pictures of one message that it has not yet; those that are missing are named in it.

    Returns how many it had before, and has now.
    """
    message = Message.objects.get(pk=pictures.message_id)
    if len(message.picture_ids) >= len(pictures.sources):
        return len(message.picture_ids), len(message.picture_ids)
    before = len(message.picture_ids)
    added: list[int] = []
    missing: list[str] = []
    for source in pictures.sources[: settings.PICTURES_PER_MESSAGE]:
        try:
            added.append(reader.keep(target, conversation_id, source))
        except NotTaken as reason:
            count_missing(reason.kind)
            missing.append(source.alt_text or source.name)
        except ConversationNotFound:  # it was deleted meanwhile
            return 0, 0
    for _ in pictures.sources[settings.PICTURES_PER_MESSAGE :]:
        count_missing(NO_ROOM)
    _store(target, message, list(dict.fromkeys(added)), missing)
    return before, len(message.picture_ids)


def _read(content: bytes) -> ReadPicture:
    try:
        return read_picture(content)
    except PictureError as error:
        raise NotTaken(UNREADABLE_PICTURES) from error


@transaction.atomic
def _keep(target: ImportTarget, conversation_id: int, name: str, read: ReadPicture, *, alt_text: str) -> int:
    conversation = lock_conversation(Conversation(pk=conversation_id))
    try:
        picture = keep_picture(target.owner, conversation, name, read)
    except DocumentStorageFull as error:
        raise NotTaken(NO_ROOM) from error
    said = {"alt_text": clean_alt_text(alt_text)} if alt_text and not picture.alt_text else {}
    Picture.objects.filter(pk=picture.pk).update(sent=True, **said)
    return picture.pk


@transaction.atomic
def _store(target: ImportTarget, message: Message, picture_ids: list[int], missing: list[str]) -> None:
    message.picture_ids = picture_ids
    for name in missing:
        mark = f"[Picture: {clean_name(name, most_characters=LONGEST_NAME) or '?'}]"
        if mark not in message.content:
            message.content = "\n\n".join(filter(None, (message.content, mark)))
    said = PromptMessage("user" if message.role == "user" else "assistant", message.content)
    message.content_tokens = target.context.content_tokens(said)
    message.encoding = target.context.language_model.encoding
    message.save(update_fields=["picture_ids", "content", "content_tokens", "encoding"])
    if missing and message.active:
        PathChange.objects.create(conversation_id=message.conversation_id, position=message.position)
