"""The content of messages as a provider reads it: texts, and pictures whose bytes have to be there."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PICTURE_TOKENS = 300  # what the fake provider counts for each


def text_of(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """Return the text of a message's content."""
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def picture_digests(body: Mapping[str, Any]) -> list[str]:
    """Return the SHA-256 of each picture of a request. Raises `ValueError` for one that a provider would refuse."""
    return [hashlib.sha256(content).hexdigest() for content in picture_contents(body)]


def picture_contents(body: Mapping[str, Any]) -> list[bytes]:
    """Return the bytes of each picture of a request. Raises `ValueError` for one that a provider would refuse."""
    return [_content(part) for part in _picture_parts(body)]


def _picture_parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in body.get("messages", ()):
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        for part in parts:
            if part["type"] == "image_url":
                if message["role"] != "user":
                    raise ValueError(f"a picture in a message of the {message['role']}")
                yield part
            elif part["type"] != "text" or not part["text"]:
                raise ValueError(f"a part that is neither text nor a picture: {part}")


def _content(part: Mapping[str, Any]) -> bytes:
    image = part["image_url"]
    head, _, encoded = image["url"].partition(";base64,")
    if head not in ("data:image/png", "data:image/jpeg") or not encoded:
        raise ValueError(f"not a data URL of a picture: {image['url'][:60]}")
    if image.get("detail", "auto") not in ("auto", "low", "high"):
        raise ValueError(f"an unknown detail: {image['detail']}")
    return base64.b64decode(encoded, validate=True)


def with_placeholders(messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return *messages* as the ledger digests them: each picture named by the digest of its bytes."""
    return [
        {**message, "content": [_with_placeholder(part) for part in message["content"]]}
        if isinstance(message.get("content"), list)
        else message
        for message in messages
    ]


def _with_placeholder(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if part["type"] != "image_url":
        return part
    media_type = part["image_url"]["url"].removeprefix("data:").partition(";")[0]
    digest = hashlib.sha256(_content(part)).hexdigest()
    return {**part, "image_url": {**part["image_url"], "url": f"picture:{media_type};{digest}"}}
