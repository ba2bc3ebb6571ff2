"""The pictures of messages: as prompts name them, as pages show them, and their bytes."""

from __future__ import annotations

import base64
from collections.abc import Collection
from typing import NamedTuple

from django.db import connection

from chatsite.postgres.pool import replace_after_large_value
from conversations.core.prompt.pictures import PictureDetail, PromptPicture, ScaledSize
from conversations.models import Picture, PictureFile, ScaledPicture

WIDEST_PLACE, HIGHEST_PLACE = 480, 240  # pixels of a page; pressed, a picture is seen as large as it is

# In the order of each message. A picture that is gone is left out.
OF_MESSAGES = """
SELECT message.id, picture.id, picture.digest, picture.media_type, picture.width, picture.height,
       picture.alt_text, picture.file_name, picture.size_bytes
FROM conversations_message AS message
CROSS JOIN LATERAL unnest(message.picture_ids) WITH ORDINALITY AS held (picture_id, place)
JOIN conversations_picture AS picture
  ON picture.id = held.picture_id AND picture.conversation_id = message.conversation_id
WHERE message.id = ANY(%s) ORDER BY message.id, held.place
"""
BYTES_OF_DIGESTS = """
SELECT DISTINCT ON (picture.digest) picture.digest, picture.media_type, file.content
FROM conversations_picture AS picture JOIN conversations_picturefile AS file ON file.picture_id = picture.id
WHERE picture.digest = ANY(%(digests)s)
UNION ALL (
  SELECT DISTINCT ON (digest) digest, media_type, content FROM conversations_scaledpicture
  WHERE digest = ANY(%(digests)s)
)
"""


class SentPicture(NamedTuple):
    """A picture as a prompt names it. *digest* is the SHA-256 of its bytes; *width* and *height* are pixels."""

    id: int
    digest: str
    media_type: str
    width: int
    height: int
    alt_text: str = ""
    file_name: str = ""
    size_bytes: int = 0

    @property
    def label(self) -> str:
        """What a line in its place calls it."""
        return self.alt_text or self.file_name

    def in_prompt(self, detail: PictureDetail) -> PromptPicture:
        """Return it as a prompt names it."""
        return PromptPicture(self.digest, self.media_type, self.width, self.height, detail, size_bytes=self.size_bytes)


class ShownPicture(NamedTuple):
    """A picture as a page shows it. *alt_text* is what the user says is to be seen, blank where nothing was said."""

    id: int
    width: int
    height: int
    alt_text: str
    file_name: str

    @classmethod
    def of(cls, picture: SentPicture) -> ShownPicture:
        """Return a picture that is sent as a page shows it."""
        return cls(picture.id, picture.width, picture.height, picture.alt_text, picture.file_name)

    @property
    def place_width(self) -> int:
        """How wide its place on the page is, in pixels: known before the picture is there, so that nothing moves."""
        return max(1, round(self.width * self._scale))

    @property
    def place_height(self) -> int:
        return max(1, round(self.height * self._scale))

    @property
    def _scale(self) -> float:
        return min(1, WIDEST_PLACE / self.width, HIGHEST_PLACE / self.height)


def sent_pictures(message_ids: Collection[int]) -> dict[int, tuple[SentPicture, ...]]:
    """Return the pictures of each message that has some, in their order."""
    found: dict[int, tuple[SentPicture, ...]] = {}
    for message_id, picture in _pictures_of_messages(message_ids):
        found[message_id] = (*found.get(message_id, ()), picture)
    return found


def shown_pictures(message_ids: Collection[int]) -> dict[int, tuple[ShownPicture, ...]]:
    """Return the pictures of each message that has some, in their order."""
    sent = sent_pictures(message_ids)
    return {message_id: tuple(map(ShownPicture.of, pictures)) for message_id, pictures in sent.items()}


def added_pictures(conversation_id: int, picture_ids: Collection[int]) -> tuple[ShownPicture, ...]:
    """Return those of *picture_ids* that are of the conversation, to be shown before they are sent, in their order."""
    found = pictures_of_conversation(conversation_id, picture_ids)
    return tuple(map(ShownPicture.of, found))


def _pictures_of_messages(message_ids: Collection[int]) -> list[tuple[int, SentPicture]]:
    if not message_ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(OF_MESSAGES, [list(message_ids)])
        return [(message_id, SentPicture(*columns)) for message_id, *columns in cursor.fetchall()]


def pictures_of_conversation(conversation_id: int, picture_ids: Collection[int]) -> tuple[SentPicture, ...]:
    """Return those of *picture_ids* that are of the conversation, in their order."""
    if not picture_ids:
        return ()
    rows = Picture.objects.filter(conversation=conversation_id, pk__in=picture_ids).values_list(*SentPicture._fields)
    found = {row[0]: SentPicture(*row) for row in rows}
    return tuple(found[picture_id] for picture_id in dict.fromkeys(picture_ids) if picture_id in found)


def scaled_pictures(conversation_id: int, sizes: Collection[ScaledSize]) -> dict[ScaledSize, PromptPicture]:
    """Return those of *sizes* to which pictures of the conversation have been scaled, as prompts name them."""
    if not sizes:
        return {}
    of_pictures = ScaledPicture.objects.filter(
        picture__conversation=conversation_id, picture__digest__in={size.digest for size in sizes}
    )
    rows = of_pictures.values_list("picture__digest", "width", "height", "digest", "media_type")
    found = {ScaledSize(*row[:3]): PromptPicture(row[3], row[4], row[1], row[2]) for row in rows}
    return {size: found[size] for size in sizes if size in found}


def data_urls(digests: Collection[str]) -> dict[str, str]:
    """Return the pictures with these digests as `data:` URLs, read in one statement. One that is gone is left out."""
    if not digests:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(BYTES_OF_DIGESTS, {"digests": list(digests)})
        found = cursor.fetchall()
    replace_after_large_value(max((len(content) for _, _, content in found), default=0))
    return {digest: data_url(media_type, bytes(content)) for digest, media_type, content in found}


def data_url(media_type: str, content: bytes) -> str:
    """Return *content* as a `data:` URL."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def read_picture_bytes(picture_id: int) -> bytes | None:
    """Return the bytes of a picture; None if it is gone."""
    content = PictureFile.objects.filter(pk=picture_id).values_list("content", flat=True).first()
    if content is None:
        return None
    replace_after_large_value(len(content))
    return bytes(content)
