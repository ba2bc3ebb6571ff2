"""Rows of the ledger for tests, opened as the product opens them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.services.ledger.ledger import NewCompletion, open_completion
from conversations.services.replies.prepare_reply import PreparedReply


def open_for(prepared: PreparedReply, **fields: Any) -> Completion:
    """Open the request of a reply that has its window; without prices unless they are given."""
    record = prepared.window.record
    return open_completion(
        NewCompletion(
            **{
                "purpose": Purpose.REPLY,
                "user": prepared.reply.conversation.owner,
                "language_model": record.language_model,
                "body": {"messages": []},
                "prices": None,
                "prompt_tokens": record.prompt_tokens,
                "most_prompt_tokens": record.most_prompt_tokens,
                "max_output_tokens": record.reply_reserve_tokens,
                "record": record,
                "conversation": prepared.reply.conversation,
                "reply": prepared.reply,
                **fields,
            }
        )
    )


@contextmanager
def locked_ledger() -> Iterator[None]:
    """Let the database refuse changes of the ledger, as it does outside of tests."""
    with connection.cursor() as cursor:
        cursor.execute("SET conversations.ledger_may_change = ''")
        try:
            yield
        finally:
            cursor.execute("SET conversations.ledger_may_change = 'on'")
