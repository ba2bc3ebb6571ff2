"""Records of windows that a key may read: of its own requests, and of all requests for a reply of its owner."""

from __future__ import annotations

import uuid

from conversations.core.errors import WindowNotFound
from conversations.models import ApiKey, Completion

from .stored_responses import find_reply_of_key


def find_window_of_key(key: ApiKey, window_id: uuid.UUID) -> Completion:
    """Return the row of the ledger with the record *window_id*. Raises `WindowNotFound`, also for another key's."""
    found = Completion.objects.filter(api_key=key, opening_key=window_id, window__isnull=False).first()
    if found is None:
        raise WindowNotFound
    return found


def windows_of_response(key: ApiKey, response_id: str) -> list[Completion]:
    """Return the rows of all requests for a stored response, in their order. Raises `ResponseNotFound`."""
    _conversation, reply = find_reply_of_key(key, response_id)
    return list(Completion.objects.filter(reply=reply, window__isnull=False).order_by("pk"))
