"""Random pictures in messages, of the sizes for which OpenAI has published what they take (`_cookbook.PICTURES`)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from conversations.core.prompt.messages import PromptMessage
from conversations.core.prompt.pictures import PictureDetail, PromptPicture
from conversations.core.window.history import HistoryMessage
from conversations.core.window.picture_tokens import FixedTokens, ModelPictures, TileTokens, message_picture_tokens
from tests.benchmarks._cookbook import PICTURES

RULE: Final = ModelPictures(TileTokens(85, 170), FixedTokens(85), detail="high")
MOST = 3
DETAILS: Final[tuple[PictureDetail, ...]] = ("", "high", "high", "low")


def with_random_pictures(randomly: random.Random, sent: HistoryMessage) -> HistoryMessage:
    """Return the message of a user with one picture or more."""
    detail = randomly.choice(DETAILS)
    pictures = tuple(_random_picture(randomly, detail) for _ in range(randomly.randint(1, MOST)))
    return _with_pictures(sent, sent.message._replace(pictures=pictures))


def with_less_detail(sent: HistoryMessage) -> Callable[[int], HistoryMessage] | None:
    """Return what makes the pictures of *sent* smaller: low detail, where they have high; else None."""
    if sent.pictures_sent != "high":
        return None
    pictures = tuple(picture._replace(detail="low") for picture in sent.message.pictures)
    less = _with_pictures(sent, sent.message._replace(pictures=pictures))
    return lambda room_tokens: less


def _with_pictures(sent: HistoryMessage, message: PromptMessage) -> HistoryMessage:
    return sent._replace(
        message=message,
        picture_tokens=message_picture_tokens(message, RULE),
        pictures_sent=message.pictures[0].detail or "auto",
    )


def _random_picture(randomly: random.Random, detail: PictureDetail) -> PromptPicture:
    """Return a picture whose digest tells its size, so that a body alone can be counted."""
    width, height = randomly.choice(tuple(PICTURES))
    return PromptPicture(f"{width}x{height}", "image/png", width, height, detail)
