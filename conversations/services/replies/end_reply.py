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
from conversations.models import Conversation, Message
from conversations.services.language_models.model_choice import use_model_of_run
from conversations.services.language_models.model_context import ModelContext, conversation_context
from conversations.services.titles.want_title import want_title
from conversations.services.webhooks.reply_events import STORE_EVENTS, event_arguments

from .reasoning import Reasoning, shown_seconds

# One statement for all rows, so all or none; of two that end a reply at once the second finds nothing to end. None of
# its calls is begun after this; one that is running may have taken effect, but its result is not waited for. The run
# is locked before its calls, as where a call begins: PostgreSQL writes the parts of a statement in any order unless one
# reads the other. What webhooks are told of it is stored with it.
END = f"""
WITH {{held}} ended AS (
  UPDATE conversations_message
  SET state = %(state)s, content = %(content)s, content_tokens = %(content_tokens)s, encoding = %(encoding)s,
      reasoning = %(reasoning)s, reasoning_tokens = %(reasoning_tokens)s,
      reasoning_tokens_estimated = %(reasoning_tokens_estimated)s, reasoning_seconds = %(reasoning_seconds)s,
      error_code = %(error_code)s, error_params = %(error_params)s
  WHERE id = %(id)s AND state = 'streaming' {{if_held}} RETURNING id, conversation_id, position
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
SELECT ended.position, EXISTS (SELECT FROM conversations_run WHERE reply_id = ended.id AND state = 'awaiting_approval'),
  thought.*
FROM ended, LATERAL (
  SELECT coalesce(sum(reasoning_seconds), 0), coalesce(sum(reasoning_tokens), 0)
  FROM conversations_message WHERE step_of_id = ended.id
) AS thought
"""  # noqa: S608  # constants
END_WHATEVER_RUNS = END.format(held="", if_held="")
# Only while its worker holds the run. The reply is locked first, as by all that takes a run away; the run is read after
# that, so it is seen as the other one left it.
END_HELD = END.format(
    held="""
reply AS (
  SELECT id FROM conversations_message WHERE id = %(id)s AND state = 'streaming' FOR NO KEY UPDATE
), held AS (
  SELECT FROM conversations_run
  WHERE reply_id = (SELECT id FROM reply) AND state = 'running' AND attempt = %(attempt)s FOR NO KEY UPDATE
),""",
    if_held="AND (SELECT count(*) FROM held) = 1",
)
STREAMING = CompiledQuery(
    Message.objects.select_related("conversation__scenario")
    .annotate(run_model=F("run__language_model"))
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

    With *attempt* only while its run is at that attempt. Returns False, and changes nothing, if it has ended before:
    the first to end it wins.
    """
    if (reply := STREAMING.first(reply_id)) is None:
        return False
    use_model_of_run(reply.conversation, reply.run_model, "")  # type: ignore[attr-defined]  # annotated
    context = conversation_context(reply.conversation)
    if content is None or content == reply.content:  # it may have been counted when it had come whole
        content = reply.content
        tokens = reply.content_tokens if reply.encoding == context.language_model.encoding else 0
    else:
        tokens = 0
    text = EndText(content, tokens or context.content_tokens(PromptMessage("assistant", content)))
    return _end(reply, ending, text, reasoning or stored_reasoning(reply), context=context, attempt=attempt)


def end_answered(
    reply: Message, text: EndText, reasoning: Reasoning, *, context: ModelContext, attempt: int, finish_reason: str
) -> bool:
    """End *reply* as complete, as `end_reply` does, when its last request is settled: mostly in the same transaction.

    *reply* is as it was read before its first request, *context* is of the model that was asked. *finish_reason* is
    passed because the ledger may not have it yet.
    """
    return _end(reply, COMPLETE, text, reasoning, context=context, attempt=attempt, finish_reason=finish_reason)


class EndText(NamedTuple):
    """The whole text of a reply, or of its last step, and its tokens."""

    content: str
    tokens: int


def _end(
    reply: Message,
    ending: Ending,
    text: EndText,
    reasoning: Reasoning,
    *,
    context: ModelContext,
    attempt: int | None,
    finish_reason: str = "",
) -> bool:
    columns: dict[str, Any] = {
        "id": reply.pk,
        "attempt": attempt,
        "state": ending.state,
        "content": text.content,
        "content_tokens": text.tokens,
        "encoding": context.language_model.encoding,
        "error_code": ending.error_code,
        "error_params": json.dumps(dict(ending.error_params)),
        **reasoning.to_columns(context.count_text),
    }
    statement = END_WHATEVER_RUNS if attempt is None else END_HELD
    with connection.cursor() as cursor:
        cursor.execute(statement, columns | event_arguments(ending.state, finish_reason=finish_reason))
        ended = cursor.fetchone()
    if ended is None:
        return False
    position, awaited_approval, seconds, tokens = ended
    if ending == COMPLETE:
        want_title(reply.conversation_id, position=position)
    seconds, tokens = seconds + (columns["reasoning_seconds"] or 0.0), tokens + (columns["reasoning_tokens"] or 0)
    conversation = reply.conversation
    if ending.state in ("complete", "stopped"):
        frame: Frame = ReplyDone(
            conversation.public_id, reply.pk, position, ending.state, len(text.content), shown_seconds(seconds), tokens
        )
    else:
        frame = ReplyFailed(conversation.public_id, reply.pk, position, ending.state, ending.error_code)
    _tell_later(conversation, frame, ending, awaited_approval=awaited_approval)
    return True


def _tell_later(conversation: Conversation, frame: Frame, ending: Ending, *, awaited_approval: bool) -> None:
    """Tell of the end once it is stored."""
    of_owner = conversation.public_id, conversation.owner_id
    transaction.on_commit(metrics.replies_ended.labels(ending.state).inc)
    transaction.on_commit(partial(publish, MESSAGES, "ended"))
    transaction.on_commit(partial(publish_frame, frame, conversation.public_id))
    if awaited_approval:
        transaction.on_commit(partial(publish_awaiting_approval, *of_owner, awaiting_approval=False))
    transaction.on_commit(partial(publish_writing, *of_owner, writing=False))


def stored_reasoning(reply: Message) -> Reasoning:
    """Return what is stored of the reasoning of the step that *reply* is at."""
    reported = None if reply.reasoning_tokens_estimated else reply.reasoning_tokens
    return Reasoning(reply.reasoning, reply.reasoning_seconds or 0.0, reported)
