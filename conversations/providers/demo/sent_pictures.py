"""The pictures that the demo model received: their sizes, read from the first bytes of PNG and JPEG files."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from conversations.core.prompt.pictures import PromptPicture

PNG_BEGINS = b"\x89PNG\r\n\x1a\n"
JPEG_BEGINS = b"\xff\xd8"
# The segments of a JPEG that begin a frame, and so name its size: all of 0xC0 to 0xCF but tables and arithmetic ones.
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def read_content(content: Any) -> tuple[str, tuple[PromptPicture, ...]]:
    """Return the text of a message's content and its pictures. Raises `ValueError` for one that can't be read."""
    if not isinstance(content, list):
        return content or "", ()
    texts = [part["text"] for part in content if part["type"] == "text"]
    return "\n".join(texts), tuple(
        read_picture_part(part["image_url"]) for part in content if part["type"] == "image_url"
    )


def read_picture_part(image_url: Mapping[str, Any]) -> PromptPicture:
    """Return the picture of an `image_url` part. Raises `ValueError` if it is not the data: URL of a PNG or JPEG."""
    head, comma, encoded = str(image_url["url"]).partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValueError("not a data URL of a picture")
    try:
        file = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    width, height = picture_size(file)
    media_type = head.removeprefix("data:").removesuffix(";base64")
    return PromptPicture(hashlib.sha256(file).hexdigest(), media_type, width, height, image_url.get("detail", ""))


def picture_size(file: bytes) -> tuple[int, int]:
    """Return width and height in pixels. Raises `ValueError` if it is neither PNG nor JPEG."""
    if file.startswith(PNG_BEGINS) and len(file) >= 24:
        return int.from_bytes(file[16:20]), int.from_bytes(file[20:24])
    if file.startswith(JPEG_BEGINS):
        at = len(JPEG_BEGINS)
        while at + 9 <= len(file) and file[at] == 0xFF:
            if file[at + 1] in JPEG_FRAMES:
                return int.from_bytes(file[at + 7 : at + 9]), int.from_bytes(file[at + 5 : at + 7])
            at += 2 + int.from_bytes(file[at + 2 : at + 4])
    raise ValueError("neither PNG nor JPEG")
