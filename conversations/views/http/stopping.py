"""Views that begin a reply wait for one that is being stopped, as people press Stop and go on."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase

from chatsite.postgres.pool import release_connection
from conversations.services.replies.wait_for_stop import is_reply_stopping, wait_for_stop

from .htmx_request import HtmxRequest

View = Callable[..., HttpResponseBase]
AsyncView = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def after_stop(view: View) -> AsyncView:
    """Let *view* answer a POST once no reply of the conversation in the address is stopping any more."""

    @wraps(view)
    async def answer(request: HtmxRequest, **kwargs: object) -> HttpResponseBase:
        if request.method == "POST":
            await stop_has_ended(request, kwargs["public_id"])
        return await sync_to_async(view)(request, **kwargs)

    return answer


async def stop_has_ended(request: HtmxRequest, public_id: object) -> None:
    """Wait, without a connection, until no reply of the user's conversation is stopping, or for too long."""
    assert isinstance(public_id, uuid.UUID)  # noqa: S101 -- by the pattern of the address
    owner_id = request.user.pk

    def look() -> bool:
        is_stopping = is_reply_stopping(public_id, owner_id=owner_id)
        if is_stopping:
            release_connection()
        return is_stopping

    await wait_for_stop(sync_to_async(look))
