"""Storage limit: how many bytes of documents and pictures one user may keep, in all conversations and scenarios."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import QuerySet, Sum

from chatsite.accounts.models import User
from conversations.core.errors import DocumentStorageFull
from conversations.models import Document, Picture, ScaledPicture

BYTES_PER_MEGABYTE = 1_000_000


def check_storage(user: User, *, more_bytes: int = 0) -> None:
    """Raise `DocumentStorageFull` if *user* keeps more than they may, or would with *more_bytes*."""
    if kept_bytes(user) + more_bytes > settings.DOCUMENT_STORAGE_MEGABYTES * BYTES_PER_MEGABYTE:
        raise DocumentStorageFull(megabytes=settings.DOCUMENT_STORAGE_MEGABYTES)


def kept_bytes(user: User) -> int:
    """Return the size of all documents and pictures that the user has added and are still kept, wherever they are."""
    rows: tuple[QuerySet[Any], ...] = (
        Document.objects.filter(uploader=user),
        Picture.objects.filter(uploader=user),
        ScaledPicture.objects.filter(picture__uploader=user),
    )
    return sum(kept.aggregate(bytes=Sum("size_bytes", default=0))["bytes"] for kept in rows)
