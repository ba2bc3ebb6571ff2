"""Claim a conversation whose summary is due, with what has to be added to it.

    due ─▶ claimed, for as long as a lease ─▶ the current version + what has left the window since

Each claim counts as an attempt, so that one that a crash ended counts too. What cannot be written at all, or has been
tried often enough, is not due any more: it is again when the window's beginning moves.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction

from chatsite.accounts.gate.admission import Admission, find_admission
from conversations.core.errors import SummaryAbandoned
from conversations.core.prompt.summary_text import SummarizedMessage, render_summary
from conversations.core.window.truncation import characters_that_fit, truncate_text
from conversations.models import Conversation, Summary, SummaryState
from conversations.selectors.conversations.summary import valid_summaries
from conversations.services.language_models.effective_policy import conversation_policy
from conversations.services.language_models.model_context import ModelContext, conversation_context

MOST_ATTEMPTS = 3
MOST_TOKENS = 48_000  # of messages that one claim reads: of more, the newest are summarised
MOST_MESSAGES = 2_000
MOST_TOKENS_OF_ONE = 1_000
MOST_CHARACTERS_OF_ONE = 20_000
BUDGET_SHARE = 8  # a summary takes at most this part of the budget

CLAIM = """
WITH next AS (
  SELECT state.conversation_id FROM conversations_summarystate AS state
  JOIN conversations_conversation AS conversation ON conversation.id = state.conversation_id
  WHERE due_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until < statement_timestamp())
    AND conversation.deleted_at IS NULL
  ORDER BY due_at LIMIT 1 FOR UPDATE OF state SKIP LOCKED
)
UPDATE conversations_summarystate AS state
SET worker = %s, lease_until = statement_timestamp() + make_interval(secs => %s), attempt = attempt + 1
FROM next WHERE state.conversation_id = next.conversation_id
RETURNING state.conversation_id, state.revision, state.due_at, state.attempt
"""
RENEW = """
UPDATE conversations_summarystate SET lease_until = statement_timestamp() + make_interval(secs => %s)
WHERE conversation_id = %s AND worker = %s AND revision = %s
"""
# Newest first, as many as there is room for; what people and the model said, as the index of messages has it.
LEFT_THE_WINDOW = """
SELECT id, position, role, content FROM (
  SELECT id, position, role, left(content, %(characters)s) AS content,
         sum(least(content_tokens, %(of_one)s)) OVER (ORDER BY position DESC) AS until_here
  FROM conversations_message
  WHERE conversation_id = %(conversation)s AND active AND position >= %(first)s AND position < %(anchor)s
    AND NOT excluded AND state NOT IN ('failed', 'streaming') AND role IN ('user', 'assistant')
    AND tool_calls = '[]' AND content <> ''
  ORDER BY position DESC LIMIT %(messages)s
) AS newest WHERE until_here <= %(tokens)s ORDER BY position
"""


class SourceMessage(NamedTuple):
    """A message that has left the window."""

    id: int
    position: int
    said: SummarizedMessage


@dataclass(frozen=True, slots=True)
class ClaimedSummary:
    """A conversation whose summary *worker* writes: *base*, the current version, and the *messages* to add.

    *limit_tokens* is the most that its text may have, in the encoding of *context*, the conversation's own.
    """

    conversation: Conversation
    context: ModelContext
    worker: str
    revision: int
    due_at: dt.datetime
    attempt: int
    limit_tokens: int
    base: Summary | None
    messages: Sequence[SourceMessage]


class NotWritten(Enum):
    """Why nothing is written of a conversation that was due: the versions that there are stay."""

    TRIED_TOO_OFTEN = auto()
    NO_ROOM = auto()  # in the window, or its policy keeps none
    OWNER_NOT_ADMITTED = auto()  # the gate shuts out the owner, whose pages tell why
    TOO_LITTLE_LEFT = auto()  # hardly anything has left the window: it waits for more


def lease_seconds() -> float:
    """Return how long a claim holds: longer than one request takes, and what is done before and after it."""
    return settings.SUMMARY_SECONDS + 60


def claim_summary(worker: str) -> tuple[bool, ClaimedSummary | None]:
    """Take the next conversation whose summary is due. Returns whether there was one, and it, if it can be written."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM, [worker, lease_seconds()])
        row = cursor.fetchone()
    if row is None:
        return False, None
    claimed = _read_claimed(worker, *row)  # what goes wrong in here has been an attempt
    if isinstance(claimed, NotWritten):
        _let_go(row[0], claimed)
        return True, None
    return True, claimed


def _let_go(conversation_id: int, why: NotWritten) -> None:
    state = SummaryState.objects.filter(pk=conversation_id)
    state.update(due_at=None, worker="", lease_until=None, attempt=0)
    if why is NotWritten.TRIED_TOO_OFTEN:
        state.update(error_code=SummaryAbandoned.code, error_params={})


def _read_claimed(
    worker: str, conversation_id: int, revision: int, due_at: dt.datetime, attempt: int
) -> ClaimedSummary | NotWritten:
    if attempt > MOST_ATTEMPTS:
        return NotWritten.TRIED_TOO_OFTEN
    conversation = Conversation.objects.select_related("scenario", "owner").get(pk=conversation_id)
    context = conversation_context(conversation)
    limit_tokens = _limit_tokens(conversation, context)
    if limit_tokens < 1:
        return NotWritten.NO_ROOM
    if find_admission(conversation.owner_id) is not Admission.ADMITTED:
        return NotWritten.OWNER_NOT_ADMITTED
    base = valid_summaries(conversation_id).first()
    first = max(base.covers_before if base else 0, conversation.forgotten_before)
    messages = _messages(conversation, context, first=first)
    if sum(context.count_text(message.said.text) for message in messages) < limit_tokens:
        return NotWritten.TOO_LITTLE_LEFT
    return ClaimedSummary(conversation, context, worker, revision, due_at, attempt, limit_tokens, base, messages)


def _limit_tokens(conversation: Conversation, context: ModelContext) -> int:
    """Return the most tokens that the text may have: by the setting, the policy's cap, and the size of the window."""
    policy = conversation_policy(conversation)
    head_tokens = context.language_model.chat_format.overhead_tokens + context.content_tokens(render_summary(""))
    budget_tokens = policy.budget_tokens(context.language_model, calibration=context.calibration)
    return min(settings.SUMMARY_TOKENS, policy.summary_limit_tokens - head_tokens, budget_tokens // BUDGET_SHARE)


def _messages(conversation: Conversation, context: ModelContext, *, first: int) -> list[SourceMessage]:
    given = {
        "conversation": conversation.pk,
        "first": first,
        "anchor": conversation.anchor_position or 0,
        "characters": MOST_CHARACTERS_OF_ONE,
        "of_one": MOST_TOKENS_OF_ONE,
        "tokens": MOST_TOKENS,
        "messages": MOST_MESSAGES,
    }
    with connection.cursor() as cursor:
        cursor.execute(LEFT_THE_WINDOW, given)
        rows = cursor.fetchall()
    return [SourceMessage(pk, position, _said(role, content, context)) for pk, position, role, content in rows]


def _said(role: str, content: str, context: ModelContext) -> SummarizedMessage:
    """Return what was said, its end left out where it is very long."""
    fitting = characters_that_fit(content, limit_tokens=MOST_TOKENS_OF_ONE, count_text=context.count_text)
    return SummarizedMessage(role, truncate_text(content, fitting))


def renew_lease(claimed: ClaimedSummary) -> bool:
    """Hold the conversation for one more request. Returns False if what is being written is of no use any more."""
    with connection.cursor() as cursor:
        cursor.execute(RENEW, [lease_seconds(), claimed.conversation.pk, claimed.worker, claimed.revision])
        return bool(cursor.rowcount)
