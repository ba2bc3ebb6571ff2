"""The pictures of the messages of one window: sent as such, or a line in their place.

    language model without vision                    a line for each: not shown to this model
    scenario "pictures only with their question"     a line for each picture of an older message
    more than the provider takes in one request      a line for each picture of the oldest messages
    more than half of a prompt in high detail        low detail, where the model has it

None of these depends on the question, so that prompts go on beginning alike; but for the third, once it is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from conversations.core.errors import TooManyPicturesForModel
from conversations.core.prompt.pictures import PictureDetail, PicturesSent, PromptPicture, with_picture_lines
from conversations.core.window.history import HistoryMessage
from conversations.core.window.picture_tokens import ModelPictures, message_picture_tokens
from conversations.core.window.policies import WindowPolicy
from conversations.selectors.conversations.pictures import SentPicture
from conversations.services.counting.model_context import ModelContext

HIGH_DETAIL_SHARE = Fraction(1, 2)  # of the longest prompt, for the pictures of one message


class WindowPictures:
    """Adds to messages their pictures as they are sent, newest message first."""

    def __init__(self, context: ModelContext, policy: WindowPolicy) -> None:
        self._context = context
        self._rule = context.configured.pictures
        self._only_with_question = policy.pictures_only_with_question
        self._policy = policy
        self._left = self._rule.most if self._rule else None

    def of_newest(self, message: HistoryMessage, pictures: Sequence[SentPicture]) -> HistoryMessage:
        """Return the newest message with its *pictures*. Raises `TooManyPicturesForModel`."""
        if self._rule is None:
            return self._with_lines(message, pictures, "not_shown")
        if self._rule.most is not None and len(pictures) > self._rule.most:
            raise TooManyPicturesForModel(most=self._rule.most)
        return self._with_pictures(message, pictures, self._rule)

    def note_newest(self, message: HistoryMessage) -> None:
        """Note how many pictures the newest message has: they are of those that a request may have."""
        if self._left is not None:
            self._left -= len(message.message.pictures)

    def of_older(self, message: HistoryMessage, pictures: Sequence[SentPicture]) -> HistoryMessage:
        """Return an older message with its *pictures*; pins are asked for first, then the newest of the others."""
        if self._rule is None:
            return self._with_lines(message, pictures, "not_shown")
        if self._left is not None:
            self._left -= len(pictures)
        if self._only_with_question or (self._left is not None and self._left < 0):
            return self._with_lines(message, pictures, "shown_earlier")
        return self._with_pictures(message, pictures, self._rule)

    def _with_pictures(
        self, message: HistoryMessage, pictures: Sequence[SentPicture], rule: ModelPictures
    ) -> HistoryMessage:
        shown = _shown(message, pictures, rule.detail, rule)
        high_tokens = self._policy.budget_tokens(self._context.language_model) * HIGH_DETAIL_SHARE
        if rule.low_rule and shown.picture_tokens > high_tokens:
            return with_less_detail(shown, rule)
        return shown

    def _with_lines(
        self, message: HistoryMessage, pictures: Sequence[SentPicture], sent: PicturesSent
    ) -> HistoryMessage:
        content = with_picture_lines(message.message.content, [picture.label for picture in pictures], sent)
        lines = message.message._replace(content=content)
        picture_tokens = self._context.content_tokens(lines) - message.content_tokens
        return message._replace(message=lines, picture_tokens=picture_tokens, pictures_sent=sent)


def with_less_detail(message: HistoryMessage, rule: ModelPictures) -> HistoryMessage:
    """Return *message* with its pictures in low detail."""
    pictures = tuple(picture._replace(detail="low") for picture in message.message.pictures)
    return _counted(message, pictures, rule)


def _shown(
    message: HistoryMessage, pictures: Sequence[SentPicture], detail: PictureDetail, rule: ModelPictures
) -> HistoryMessage:
    return _counted(message, tuple(picture.in_prompt(detail) for picture in pictures), rule)


def _counted(message: HistoryMessage, pictures: tuple[PromptPicture, ...], rule: ModelPictures) -> HistoryMessage:
    shown = message.message._replace(pictures=pictures)
    tokens = message_picture_tokens(shown, rule)
    return message._replace(message=shown, picture_tokens=tokens, pictures_sent=pictures[0].detail or "auto")
