"""Bring a reply to its one final state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from django.db import connection, transaction
from django.db.models import F

from chatsite.postgres.compiled_query import CompiledQuery
from conversations import metrics
from conversations.core.errors import ConversationError, ReplyAccessRevoked, ReplyInterrupted
from conversations.core.frames.definitions import ReplyDone, ReplyFailed
from conversations.core.frames.frame import Frame
from conversations.core.prompt.messages import PromptMessage
from conversations.live.fanout import MESSAGES, publish, publish_awaiting_approval, publish_frame, publish_writing
from conversations.models import Message
from conversations.services.language_models.model_choice import use_model_of_run
from conversations.services.language_models.model_context import conversation_context
from conversations.services.titles.want_title import want_title
from conversations.services.webhooks.reply_events import STORE_EVENTS, event_arguments

from .reasoning import Reasoning, shown_seconds

# One statement for all rows, so all or none; of two that end a reply at once the second finds nothing to end. None of
# its calls is begun after this; one that is running may have taken effect, but its result is not waited for. The run
# is locked before its calls, as where a call begins: PostgreSQL writes the parts of a statement in any order unless one
# reads the other. What webhooks are told of it is stored with it.
END = f"""
WITH ended AS (
  UPDATE conversations_message
  SET state = %(state)s, content = %(content)s, content_tokens = %(content_tokens)s, encoding = %(encoding)s,
      reasoning = %(reasoning)s, reasoning_tokens = %(reasoning_tokens)s,
      reasoning_tokens_estimated = %(reasoning_tokens_estimated)s, reasoning_seconds = %(reasoning_seconds)s,
      error_code = %(error_code)s, error_params = %(error_params)s
  WHERE id = %(id)s AND state = 'streaming' RETURNING id, conversation_id, position
), change AS (
  INSERT INTO conversations_pathchange (conversation_id, position) SELECT conversation_id, position FROM ended
), run AS (
  UPDATE conversations_run SET state = 'ended', ended_at = statement_timestamp() FROM ended WHERE reply_id = ended.id
  RETURNING reply_id, api_key_id
), events AS ({STORE_EVENTS}), calls AS (
  UPDATE conversations_toolcall AS call SET state = 'stopped', ended_at = statement_timestamp()
  FROM ended LEFT JOIN run ON run.reply_id = ended.id
  WHERE call.reply_id = ended.id AND call.state IN ('awaiting_approval', 'ready', 'running')
)
SELECT EXISTS (SELECT FROM conversations_run WHERE reply_id = ended.id AND state = 'awaiting_approval'), thought.*
FROM ended, LATERAL (
  SELECT coalesce(sum(reasoning_seconds), 0), coalesce(sum(reasoning_tokens), 0)
  FROM conversations_message WHERE step_of_id = ended.id
) AS thought
"""  # noqa: S608  # constants
STREAMING = CompiledQuery(
    Message.objects.select_related("conversation__scenario")
    .annotate(run_model=F("run__language_model"), run_attempt=F("run__attempt"), run_state=F("run__state"))
    .only(
        "position",
        "content",
        "content_tokens",
        "encoding",
        "reasoning",
        "reasoning_tokens",
        "reasoning_tokens_estimated",
        "reasoning_seconds",
        "conversation__public_id",
        "conversation__owner_id",
        "conversation__language_model",
        "conversation__effort",
        "conversation__scenario__language_model",
        "conversation__scenario__effort",
    ),
    "WHERE conversations_message.id = %s AND conversations_message.state = 'streaming'",
)

FinalState = Literal["complete", "stopped", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a reply ended; if a `ConversationError` ended it, its code and the params of its message."""

    state: FinalState
    error_code: str = ""
    error_params: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def failed(cls, error: ConversationError) -> Ending:
        return cls("failed", error.code, error.params)

    @classmethod
    def interrupted_by(cls, error: ConversationError) -> Ending:
        """Return the end of a reply that could not be continued: it is sent later, and may be continued, as before."""
        return cls("interrupted", error.code, error.params)


COMPLETE = Ending("complete")
STOPPED = Ending("stopped")
SHUT_OUT = Ending("stopped", ReplyAccessRevoked.code)
INTERRUPTED = Ending("interrupted", ReplyInterrupted.code)


def end_reply(
    reply_id: int,
    ending: Ending,
    *,
    content: str | None = None,
    reasoning: Reasoning | None = None,
    attempt: int | None = None,
) -> bool:
    """Give the reply its final state, and its *content* and *reasoning* unless they are stored already.

    With *attempt* only while its run is at that attempt: then the reply has to be locked. Returns False, and changes
    nothing, if it has ended before: the first to end it wins.
    """
    if (reply := STREAMING.first(reply_id)) is None:
        return False
    if attempt is not None and (reply.run_state, reply.run_attempt) != ("running", attempt):  # type: ignore[attr-defined]  # annotated
        return False
    if content is not None and content != reply.content:
        reply.content, reply.content_tokens = content, 0
    reply.state, reply.error_code, reply.error_params = ending.state, ending.error_code, dict(ending.error_params)
    stored = _store(reply, reasoning or stored_reasoning(reply))
    if stored is None:
        return False
    transaction.on_commit(metrics.replies_ended.labels(ending.state).inc)
    conversation = reply.conversation
    if ending == COMPLETE:
        want_title(conversation.pk, position=reply.position)
    transaction.on_commit(partial(publish, MESSAGES, "ended"))
    transaction.on_commit(partial(publish_frame, _frame(reply, stored), conversation.public_id))
    of_owner = conversation.public_id, conversation.owner_id
    if stored.awaited_approval:
        transaction.on_commit(partial(publish_awaiting_approval, *of_owner, awaiting_approval=False))
    transaction.on_commit(partial(publish_writing, *of_owner, writing=False))
    return True


def stored_reasoning(reply: Message) -> Reasoning:
    """Return what is stored of the reasoning of the step that *reply* is at."""
    reported = None if reply.reasoning_tokens_estimated else reply.reasoning_tokens
    return Reasoning(reply.reasoning, reply.reasoning_seconds or 0.0, reported)


class _StoredEnd(NamedTuple):
    """What is known once the end is stored: whether approval was awaited, and how long was thought in all steps."""

    awaited_approval: bool
    reasoning_seconds: float
    reasoning_tokens: int


def _store(reply: Message, reasoning: Reasoning) -> _StoredEnd | None:
    """Store the end of *reply*; None if it has ended meanwhile. The content that is counted is what is stored."""
    use_model_of_run(reply.conversation, reply.run_model, "")  # type: ignore[attr-defined]  # annotated
    context = conversation_context(reply.conversation)
    encoding = context.language_model.encoding
    if reply.encoding != encoding or not reply.content_tokens:  # else it was counted when it had come whole
        reply.content_tokens = context.content_tokens(PromptMessage("assistant", reply.content))
    columns: dict[str, Any] = {
        "id": reply.pk,
        "state": reply.state,
        "content": reply.content,
        "content_tokens": reply.content_tokens,
        "encoding": encoding,
        "error_code": reply.error_code,
        "error_params": json.dumps(reply.error_params),
        **reasoning.to_columns(context.count_text),
    }
    with connection.cursor() as cursor:
        cursor.execute(END, columns | event_arguments(reply.state))
        ended = cursor.fetchone()
    if ended is None:
        return None
    awaited_approval, seconds, tokens = ended
    own_seconds, own_tokens = columns["reasoning_seconds"] or 0.0, columns["reasoning_tokens"] or 0
    return _StoredEnd(awaited_approval, seconds + own_seconds, tokens + own_tokens)


def _frame(reply: Message, stored: _StoredEnd) -> Frame:
    conversation = reply.conversation.public_id
    if reply.state in ("complete", "stopped"):
        thought = shown_seconds(stored.reasoning_seconds), stored.reasoning_tokens
        return ReplyDone(conversation, reply.pk, reply.position, reply.state, len(reply.content), *thought)
    return ReplyFailed(conversation, reply.pk, reply.position, reply.state, reply.error_code)
