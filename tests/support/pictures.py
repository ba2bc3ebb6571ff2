"""Stored pictures for tests."""

from __future__ import annotations

import hashlib
from typing import Any

from conversations.models import Conversation, Picture, PictureFile


def store_picture(conversation: Conversation, content: bytes = b"a picture", **columns: Any) -> Picture:
    """Store a picture of *conversation* as if it had been read: its bytes may be any."""
    values = {"media_type": "image/png", "width": 640, "height": 480, "file_name": "cat.png", **columns}
    picture = Picture.objects.create(
        conversation=conversation,
        uploader=conversation.owner,
        digest=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        **values,
    )
    PictureFile.objects.create(picture=picture, content=content)
    return picture
