"""The room for imported text: how much of it one user may keep, and what an import takes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.conf import settings
from django.db.models import Sum

from chatsite.accounts.models import User
from conversations.core.errors import ImportedTextFull
from conversations.models import ConversationOrigin, Message

BYTES_PER_MEGABYTE = 1_000_000
ROW_BYTES = 500  # about what a message takes that says nothing, with its origin and in all indexes


class TextRoom:
    """Counts what a running import stores. What a transaction took and did not keep is given back by `reload`."""

    def __init__(self, owner: User) -> None:
        self._owner = owner
        self.reload()

    def reload(self) -> None:
        """Read what is kept. A conversation whose rows are gone takes no room."""
        kept = ConversationOrigin.objects.filter(owner=self._owner, conversation__isnull=False)
        self._kept_bytes = kept.aggregate(bytes=Sum("text_bytes", default=0))["bytes"]

    def take(self, messages: Iterable[Message]) -> int:
        """Return the bytes that *messages* take, and take them. Raises `ImportedTextFull` if there is no room."""
        taken = sum(map(_text_bytes, messages))
        return self.take_bytes(taken)

    def take_bytes(self, taken: int) -> int:
        if self._kept_bytes + taken > settings.IMPORTED_TEXT_MEGABYTES * BYTES_PER_MEGABYTE:
            raise ImportedTextFull
        self._kept_bytes += taken
        return taken


def _text_bytes(message: Message) -> int:
    calls = json.dumps(message.tool_calls, ensure_ascii=False) if message.tool_calls else ""
    return ROW_BYTES + sum(len(text.encode()) for text in (message.content, message.reasoning, calls))
