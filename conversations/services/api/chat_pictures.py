"""The pictures of one stateless request: opened in the sandbox as the window comes to them, kept in memory alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

from chatsite.accounts.models import User
from conversations.core.api.given_pictures import GivenPicture
from conversations.core.errors import ParameterInvalid, PictureError, PictureTooLarge
from conversations.core.prompt.messages import Prompt
from conversations.core.prompt.pictures import PromptPicture, ScaledSize, fill_in_scaled, sizes_to_scale_to
from conversations.core.window.history import HistoryMessage
from conversations.core.window.policies import WindowPolicy
from conversations.parsing import ReadPicture, scale_picture
from conversations.providers.catalog.language_models import ConfiguredModel
from conversations.selectors.conversations.pictures import SentPicture
from conversations.services.language_models.model_context import ModelContext
from conversations.services.pictures.pictures import read_in_turn
from conversations.services.windows.window_pictures import WindowPictures, with_smaller_pictures


def check_model_sees(configured: ConfiguredModel, given: Mapping[int, Sequence[GivenPicture]]) -> None:
    """Raise `ParameterInvalid` if there are pictures and the language model sees none."""
    if given and configured.pictures is None:
        first = next(iter(given.values()))[0]
        raise ParameterInvalid(first.where, f"{configured.name} sees no pictures")


@contextmanager
def naming(picture: GivenPicture) -> Iterator[None]:
    """Name the part of the request in what is wrong with its picture: raise a `ParameterInvalid`."""
    try:
        yield
    except (PictureError, PictureTooLarge) as error:
        raise ParameterInvalid(picture.where, str(error).rstrip(".")) from error


class ChatPictures:
    """The pictures of a request, by the number of their message; each file is opened once."""

    def __init__(self, user: User, given: Mapping[int, Sequence[GivenPicture]]) -> None:
        self._user = user
        self._given = given
        self._read: dict[str, ReadPicture] = {}  # by the digest of the file as it came
        self._stored: dict[str, ReadPicture] = {}  # by the digest of what is sent

    def of(self, place: int) -> list[SentPicture]:
        """Return the pictures of message number *place* as a prompt names them. Raises `ParameterInvalid`."""
        return [self._open(number, picture) for number, picture in enumerate(self._given.get(place, ()))]

    def _open(self, number: int, picture: GivenPicture) -> SentPicture:
        file_digest = hashlib.sha256(picture.content).hexdigest()
        if (read := self._read.get(file_digest)) is None:
            with naming(picture):
                read = self._read[file_digest] = read_in_turn(self._user, picture.content)
        digest = self._keep(read)
        return SentPicture(number, digest, read.media_type, read.width, read.height, size_bytes=len(read.content))

    def _keep(self, read: ReadPicture) -> str:
        digest = hashlib.sha256(read.content).hexdigest()
        self._stored[digest] = read
        return digest

    def scaled(self, prompt: Prompt) -> Prompt:
        """Return *prompt* with its pictures scaled down as the window wants them."""
        return fill_in_scaled(prompt, {size: self._scale(size) for size in sizes_to_scale_to(prompt)})

    def _scale(self, size: ScaledSize) -> PromptPicture:
        whole = self._stored[size.digest]
        read = scale_picture(whole.content, width=size.width, height=size.height)
        return PromptPicture(self._keep(read), read.media_type, read.width, read.height, size_bytes=len(whole.content))

    def data_urls(self, digests: Collection[str]) -> dict[str, str]:
        """Return the pictures with these digests as they leave."""
        return {digest: _data_url(self._stored[digest]) for digest in digests}


def _data_url(read: ReadPicture) -> str:
    return f"data:{read.media_type};base64,{base64.b64encode(read.content).decode('ascii')}"


class ShownPictures:
    """Adds the pictures of a request to the messages of one window."""

    def __init__(self, pictures: ChatPictures, context: ModelContext, policy: WindowPolicy) -> None:
        self._pictures = pictures
        self._rule = context.configured.pictures
        self._window = WindowPictures(context, policy)

    def of_newest(self, message: HistoryMessage) -> HistoryMessage:
        """Return the newest message with its pictures. Raises as `WindowPictures.of_newest` does."""
        if sent := self._pictures.of(message.position):
            message = self._window.of_newest(message, sent)
        self._window.note_newest(message)
        return message

    def of_older(self, message: HistoryMessage) -> HistoryMessage:
        """Return an older message with its pictures, or with lines in their place."""
        sent = self._pictures.of(message.position)
        return self._window.of_older(message, sent) if sent else message

    def smaller(self, newest: HistoryMessage) -> partial[HistoryMessage] | None:
        """Return what scales the newest message's pictures down, None where there are none."""
        rule = self._rule
        return partial(with_smaller_pictures, newest, rule) if rule and newest.message.pictures else None
