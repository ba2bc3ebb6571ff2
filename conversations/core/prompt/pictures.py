"""Pictures in a prompt: named by the digest of their bytes, which stand in it only as a request leaves.

    picture:image/png;8c1f…   stands for the data: URL of the picture with that SHA-256

So what is counted, digested, stored and shown again is small, and proves which bytes were sent. Where a picture is not
sent, because the language model sees none or the scenario sends pictures only with their question, a line stands for
it: `[Picture: chart.png, not shown to this model]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

PLACEHOLDER = "picture:"
PictureDetail = Literal["", "high", "low"]  # blank for language models that know no such thing
# How the pictures of a message were sent: as such, without or with a detail, or a line in their place and why.
PicturesSent = Literal["", "auto", "high", "low", "not_shown", "shown_earlier"]

DETAILS: Mapping[str, PictureDetail] = {"auto": "", "high": "high", "low": "low"}
REASONS: Mapping[str, str] = {"not_shown": "not shown to this model", "shown_earlier": "shown with its question"}
LONGEST_LABEL_CHARACTERS = 200
T = TypeVar("T")


class ScaledSize(NamedTuple):
    """What a picture is scaled down to: the *digest* of the one that is stored, and width and height in pixels."""

    digest: str
    width: int
    height: int


class PromptPicture(NamedTuple):
    """A picture as it is sent: the SHA-256 of its bytes in hexadecimal, and its width and height in pixels.

    *size_bytes* are those of the stored picture, also where it is scaled down. One that is still to be scaled down to
    that size has *scaled_from*, the digest of the stored picture, and none of its own: it can be counted, but its
    request can't leave.
    """

    digest: str
    media_type: str
    width: int
    height: int
    detail: PictureDetail = ""
    scaled_from: str = ""
    size_bytes: int = 0

    @property
    def scaled_size(self) -> ScaledSize:
        """What it has yet to be scaled to."""
        return ScaledSize(self.scaled_from, self.width, self.height)

    @property
    def placeholder(self) -> str:
        """What stands for its bytes until the request leaves."""
        return f"{PLACEHOLDER}{self.media_type};{self.digest}"

    def to_json(self) -> dict[str, Any]:
        """Return its part of a message in OpenAI's chat format."""
        image: dict[str, Any] = {"url": self.placeholder}
        if self.detail:
            image["detail"] = self.detail
        return {"type": "image_url", "image_url": image}


def content_parts(text: str, pictures: Sequence[PromptPicture]) -> list[dict[str, Any]]:
    """Return a content of parts in OpenAI's chat format: the text first, as its documents have it, if there is any."""
    text_part = [{"type": "text", "text": text}] if text else []
    return [*text_part, *(picture.to_json() for picture in pictures)]


def fill_in_pictures(messages: Sequence[Any], data_urls: Mapping[str, str]) -> list[Any]:
    """Return *messages* as they leave, each placeholder replaced by the data: URL of its digest.

    A placeholder is the URL of a picture's part in the content of a message. Nothing else is searched: texts,
    and reasoning that is sent back, may say the same. Raises `KeyError` for a picture whose data: URL is missing.
    """
    return [_filled_in(message, data_urls) for message in messages]


def _filled_in(message: Any, data_urls: Mapping[str, str]) -> Any:
    parts = message.get("content")
    if message.get("type", "message") != "message" or not isinstance(parts, list):
        return message
    return {**message, "content": [_filled_in_part(part, data_urls) for part in parts]}


def _filled_in_part(part: Mapping[str, Any], data_urls: Mapping[str, str]) -> Mapping[str, Any]:
    if part["type"] == "input_image":
        return {**part, "image_url": _data_url(part["image_url"], data_urls)}
    if part["type"] == "image_url":
        return {**part, "image_url": {**part["image_url"], "url": _data_url(part["image_url"]["url"], data_urls)}}
    return part


def _data_url(placeholder: str, data_urls: Mapping[str, str]) -> str:
    return data_urls[placeholder.rpartition(";")[2]]


def digests_in(messages: Iterable[Any]) -> set[str]:
    """Return the digests of the pictures of prompt messages."""
    return {picture.digest for message in messages for picture in message.pictures}


def sizes_to_scale_to(messages: Iterable[Any]) -> set[ScaledSize]:
    """Return what pictures of prompt messages have yet to be scaled to."""
    pictures = (picture for message in messages for picture in message.pictures)
    return {picture.scaled_size for picture in pictures if picture.scaled_from}


def fill_in_scaled(messages: Iterable[T], scaled: Mapping[ScaledSize, PromptPicture]) -> tuple[T, ...]:
    """Return prompt messages with the pictures that have been *scaled* in place of those that had yet to be."""
    return tuple(_with_scaled(message, scaled) for message in messages)


def _with_scaled(message: Any, scaled: Mapping[ScaledSize, PromptPicture]) -> Any:
    if not any(picture.scaled_from for picture in message.pictures):
        return message
    pictures = (scaled.get(each.scaled_size, each)._replace(detail=each.detail) for each in message.pictures)
    return message._replace(pictures=tuple(pictures))


def with_picture_lines(content: str, labels: Sequence[str], sent: PicturesSent) -> str:
    """Return *content* followed by a line for each picture that is not sent; *labels* say what it is, or are blank."""
    return "\n".join(_lines(content, labels, sent))


def _lines(content: str, labels: Sequence[str], sent: PicturesSent) -> Iterator[str]:
    if content:
        yield content
    for label in labels:
        on_one_line = " ".join(label.translate({ord("["): "(", ord("]"): ")"}).split())[:LONGEST_LABEL_CHARACTERS]
        yield f"[Picture: {on_one_line}, {REASONS[sent]}]" if on_one_line else f"[Picture, {REASONS[sent]}]"
