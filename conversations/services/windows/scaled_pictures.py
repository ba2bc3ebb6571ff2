"""Scale pictures down to the sizes that a window has chosen: once, and what is made is kept with the picture."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from chatsite.postgres.pool import replace_after_large_value
from conversations.core.errors import PicturesGone
from conversations.core.prompt.pictures import PromptPicture, ScaledSize
from conversations.live.database_retries import retry_while_database_down
from conversations.models import Picture, ScaledPicture
from conversations.parsing import ReadPicture, scale_picture
from conversations.selectors.conversations.pictures import scaled_pictures

# Threads of their own, without a connection: a child process may take seconds, and texts must be saved meanwhile.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="scaled-pictures")


async def scale_pictures(conversation_id: int, sizes: set[ScaledSize]) -> dict[ScaledSize, PromptPicture]:
    """Return pictures of the conversation, scaled down to *sizes*, as prompts name them. The same size is made once.

    Raises a `PictureError`, or `PicturesGone`.
    """
    found = await retry_while_database_down(partial(scaled_pictures, conversation_id, sizes))
    missing = sizes - set(found)
    if missing:
        stored = await retry_while_database_down(partial(_read_stored, conversation_id, missing))
        made = {size: await _scale(content, size) for size, content in stored.items()}
        await retry_while_database_down(partial(_keep, conversation_id, made))
        found = await retry_while_database_down(partial(scaled_pictures, conversation_id, sizes))
    if len(found) < len(sizes):
        raise PicturesGone
    return found


def _read_stored(conversation_id: int, sizes: Collection[ScaledSize]) -> dict[ScaledSize, bytes]:
    rows = Picture.objects.filter(conversation=conversation_id, digest__in={size.digest for size in sizes})
    contents = {digest: bytes(content) for digest, content in rows.values_list("digest", "file__content")}
    replace_after_large_value(max(map(len, contents.values()), default=0))
    return {size: contents[size.digest] for size in sizes if size.digest in contents}


async def _scale(content: bytes, size: ScaledSize) -> ReadPicture:
    scale = partial(scale_picture, content, width=size.width, height=size.height)
    return await asyncio.get_running_loop().run_in_executor(_threads, scale)


def _keep(conversation_id: int, made: Mapping[ScaledSize, ReadPicture]) -> None:
    """Store what has been made, unless another request was first: then its bytes are the ones that are sent."""
    pictures = Picture.objects.filter(conversation=conversation_id)
    rows = [
        ScaledPicture(
            picture_id=picture_id,
            width=size.width,
            height=size.height,
            media_type=scaled.media_type,
            digest=hashlib.sha256(scaled.content).hexdigest(),
            size_bytes=len(scaled.content),
            content=scaled.content,
        )
        for size, scaled in made.items()
        for picture_id in pictures.filter(digest=size.digest).values_list("pk", flat=True)
    ]
    ScaledPicture.objects.bulk_create(rows, ignore_conflicts=True)
    replace_after_large_value(sum(row.size_bytes for row in rows))  # by one statement
