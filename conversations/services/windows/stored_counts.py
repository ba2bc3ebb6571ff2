"""Tokens of stored messages, which are counted once: again only for a language model with another encoding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db import connection

from conversations.core.window.history import HistoryMessage
from conversations.selectors.conversations.history import HistoryRow
from conversations.services.counting.model_context import ModelContext

# A reply may have ended since its row was read: then what was counted here is only the beginning of it. What somebody
# else has locked is left to the next window, so that two who count the same rows never wait for each other.
STORE = """
WITH counted AS (
  SELECT * FROM unnest(%(ids)s::bigint[], %(as_read)s::int[], %(read_in)s::text[], %(tokens)s::int[])
    AS row (id, as_read, read_in, tokens)
), unchanged AS (
  SELECT message.id, tokens FROM conversations_message AS message JOIN counted USING (id)
  WHERE state <> 'streaming' AND content_tokens = as_read AND encoding = read_in
  FOR NO KEY UPDATE OF message SKIP LOCKED
)
UPDATE conversations_message AS message SET content_tokens = unchanged.tokens, encoding = %(encoding)s
FROM unchanged WHERE message.id = unchanged.id
"""


class StoredCounts:
    """The counts of one window's rows. What had to be counted again is kept until `store`, for one statement."""

    def __init__(self, context: ModelContext) -> None:
        self._context = context
        self._encoding = context.language_model.encoding
        self._counted_again: list[tuple[HistoryRow, int]] = []

    def of(self, rows: Iterable[HistoryRow]) -> Iterator[HistoryMessage]:
        """Yield *rows* with their tokens in the language model's encoding."""
        encoding = self._encoding
        for row in rows:
            if row.encoding == encoding and (row.content_tokens or not row.content):  # a reply has 0 until it ends
                yield row.to_history()
            else:
                yield self._count(row)

    def _count(self, row: HistoryRow) -> HistoryMessage:
        history = row.to_history()
        tokens = self._context.content_tokens(history.message)
        self._counted_again.append((row, tokens))
        return history._replace(content_tokens=tokens)

    def store(self) -> None:
        if not self._counted_again:
            return
        rows, tokens = zip(*self._counted_again, strict=True)
        parameters = {
            "ids": [row.id for row in rows],
            "as_read": [row.content_tokens for row in rows],
            "read_in": [row.encoding for row in rows],
            "tokens": list(tokens),
            "encoding": self._encoding,
        }
        with connection.cursor() as cursor:
            cursor.execute(STORE, parameters)  # type: ignore[arg-type]  # psycopg writes lists as arrays
