"""The pictures of the messages of one window: sent as such, or a line in their place.

    language model without vision                    a line for each: not shown to this model
    of a reply, which no provider takes pictures of  a line for each: not shown to this model
    scenario "pictures only with their question"     a line for each picture of an older message
    more than the provider takes in one request,
    in number or in bytes                            a line for each picture of the oldest messages
    more than half of a prompt in high detail        low detail, where the model has it
    more than half of a prompt, of an older message  scaled down to half of it, where that takes less

None of these depends on the question, so that prompts go on beginning alike; but for the third, once it is reached.
Pictures of the newest message that do not fit are scaled down to what is free for them: `with_smaller_pictures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from conversations.core.errors import PicturesTooLargeForModel, TooManyPicturesForModel
from conversations.core.prompt.pictures import PictureDetail, PicturesSent, PromptPicture, with_picture_lines
from conversations.core.window.history import HistoryMessage
from conversations.core.window.picture_scaling import scale_to_fit
from conversations.core.window.picture_tokens import ModelPictures, PictureSize, message_picture_tokens
from conversations.core.window.policies import WindowPolicy
from conversations.core.window.request_pictures import RequestPictures, encoded_bytes
from conversations.selectors.conversations.pictures import SentPicture
from conversations.services.language_models.model_context import ModelContext

HALF = Fraction(1, 2)  # of the longest prompt, for the pictures of one message


class WindowPictures:
    """Adds to messages their pictures as they are sent, newest message first."""

    def __init__(self, context: ModelContext, policy: WindowPolicy) -> None:
        self._context = context
        self._rule = context.configured.pictures
        self._only_with_question = policy.pictures_only_with_question
        self._policy = policy
        self._most_bytes = context.configured.dialect.most_picture_bytes
        self._left = RequestPictures(most=self._rule.most if self._rule else None, most_bytes=self._most_bytes)

    def of_newest(self, message: HistoryMessage, pictures: Sequence[SentPicture]) -> HistoryMessage:
        """Return the newest message with its *pictures*.

        Raises `TooManyPicturesForModel` or `PicturesTooLargeForModel`.
        """
        if self._rule is None:
            return self._with_lines(message, pictures, "not_shown")
        if self._rule.most is not None and len(pictures) > self._rule.most:
            raise TooManyPicturesForModel(most=self._rule.most)
        if (given_bytes := encoded_bytes(pictures)) > self._most_bytes:
            raise PicturesTooLargeForModel(given_bytes=given_bytes, most_bytes=self._most_bytes)
        return self._with_pictures(message, pictures, self._rule)

    def note_newest(self, message: HistoryMessage) -> None:
        """Note the pictures that the newest message has: they are of those that a request may have."""
        self._left.take(message.message.pictures)

    def of_older(self, message: HistoryMessage, pictures: Sequence[SentPicture]) -> HistoryMessage:
        """Return an older message with its *pictures*; pins are asked for first, then the newest of the others."""
        if self._rule is None or message.message.role != "user":
            return self._with_lines(message, pictures, "not_shown")
        if self._only_with_question or not self._left.take(pictures):
            return self._with_lines(message, pictures, "shown_earlier")
        shown = self._with_pictures(message, pictures, self._rule)
        if shown.picture_tokens <= self._half_tokens:
            return shown
        smaller = _scaled_down(shown, self._rule, room_tokens=self._half_tokens)
        return smaller if smaller.picture_tokens < shown.picture_tokens else shown

    @property
    def _half_tokens(self) -> int:
        return int(self._policy.budget_tokens(self._context.language_model) * HALF)

    def _with_pictures(
        self, message: HistoryMessage, pictures: Sequence[SentPicture], rule: ModelPictures
    ) -> HistoryMessage:
        shown = _shown(message, pictures, rule.detail, rule)
        if rule.low_rule and shown.picture_tokens > self._half_tokens:
            return _in_low_detail(shown, rule)
        return shown

    def _with_lines(
        self, message: HistoryMessage, pictures: Sequence[SentPicture], sent: PicturesSent
    ) -> HistoryMessage:
        content = with_picture_lines(message.message.content, [picture.label for picture in pictures], sent)
        lines = message.message._replace(content=content)
        picture_tokens = self._context.content_tokens(lines) - message.content_tokens
        return message._replace(message=lines, picture_tokens=picture_tokens, pictures_sent=sent)


def with_smaller_pictures(message: HistoryMessage, rule: ModelPictures, room_tokens: int) -> HistoryMessage:
    """Return *message* with its pictures in low detail, where the model has it, or scaled down to *room_tokens*.

    Where they do not fit, they take as few tokens as they can.
    """
    scaled = _scaled_down(message, rule, room_tokens=room_tokens)
    if rule.low_rule is None:
        return scaled
    low = _in_low_detail(message, rule)
    return low if low.picture_tokens <= max(room_tokens, scaled.picture_tokens) else scaled


def _in_low_detail(message: HistoryMessage, rule: ModelPictures) -> HistoryMessage:
    pictures = tuple(picture._replace(detail="low") for picture in message.message.pictures)
    return _counted(message, pictures, rule)


def _scaled_down(message: HistoryMessage, rule: ModelPictures, *, room_tokens: int) -> HistoryMessage:
    whole = [PictureSize(picture.width, picture.height) for picture in message.message.pictures]
    sizes = scale_to_fit(whole, rule, rule.detail, room_tokens=room_tokens)
    pictures = (_at(size, picture, rule) for size, picture in zip(sizes, message.message.pictures, strict=True))
    return _counted(message, tuple(pictures), rule)


def _at(size: PictureSize, picture: PromptPicture, rule: ModelPictures) -> PromptPicture:
    """Return *picture* at that size: what has yet to be scaled down has no bytes, and so no digest."""
    if size == (picture.width, picture.height):
        return picture._replace(detail=rule.detail)
    return picture._replace(
        digest="", scaled_from=picture.digest, width=size.width, height=size.height, detail=rule.detail
    )


def _shown(
    message: HistoryMessage, pictures: Sequence[SentPicture], detail: PictureDetail, rule: ModelPictures
) -> HistoryMessage:
    return _counted(message, tuple(picture.in_prompt(detail) for picture in pictures), rule)


def _counted(message: HistoryMessage, pictures: tuple[PromptPicture, ...], rule: ModelPictures) -> HistoryMessage:
    shown = message.message._replace(pictures=pictures)
    tokens = message_picture_tokens(shown, rule)
    return message._replace(message=shown, picture_tokens=tokens, pictures_sent=pictures[0].detail or "auto")
