"""The pictures of a stored response: opened in the sandbox before anything is locked, then kept in its conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings

from chatsite.accounts.models import User
from conversations.core.api.given_pictures import GivenPicture
from conversations.core.errors import TooManyPictures
from conversations.models import Conversation
from conversations.parsing import ReadPicture
from conversations.services.documents.upload_limits import count_upload
from conversations.services.pictures.pictures import keep_picture, read_in_turn, take_pictures

from .chat_pictures import naming

OpenedPictures = Mapping[int, Sequence[ReadPicture]]  # by the number of the message in the input


def open_pictures(user: User, given: Mapping[int, Sequence[GivenPicture]]) -> OpenedPictures:
    """Return *given* as they are stored. Raises `ParameterInvalid` or `TooManyPictures`, which name the part."""
    most = settings.PICTURES_PER_MESSAGE
    for pictures in given.values():
        if len(pictures) > most:
            refusal = TooManyPictures(most=most)
            refusal.parameter = pictures[most].where
            raise refusal
    return {place: [_open(user, picture) for picture in pictures] for place, pictures in given.items()}


def _open(user: User, picture: GivenPicture) -> ReadPicture:
    count_upload(user, size_bytes=len(picture.content))
    with naming(picture):
        return read_in_turn(user, picture.content)


def keep_pictures(user: User, conversation: Conversation, opened: Sequence[ReadPicture]) -> list[int]:
    """Return the ids of pictures for one message, kept in its conversation; user and conversation are locked.

    Raises `DocumentStorageFull`.
    """
    kept = [keep_picture(user, conversation, "", read).pk for read in opened]
    return [picture.id for picture in take_pictures(conversation, kept)]
