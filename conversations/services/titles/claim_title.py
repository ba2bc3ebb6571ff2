"""Claim a conversation whose title is due, with the question and the reply that it is made of.

    due ─▶ claimed, for as long as a lease ─▶ question + first complete reply

Each claim counts as an attempt, so that one that a crash ended counts too.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F, QuerySet

from chatsite.accounts.gate.admission import Admission, find_admission
from conversations.core.window.truncation import characters_that_fit, truncate_text
from conversations.models import Conversation, Message, TitleState
from conversations.services.language_models.model_context import ModelContext

MOST_ATTEMPTS = 3
TITLE_SECONDS = 30
LEASE_SECONDS = TITLE_SECONDS + 60
QUESTION_TOKENS, REPLY_TOKENS = 400, 200
MOST_CHARACTERS = 20_000  # that are read of either

CLAIM = """
WITH next AS (
  SELECT state.conversation_id FROM conversations_titlestate AS state
  JOIN conversations_conversation AS conversation ON conversation.id = state.conversation_id
  WHERE due_at <= statement_timestamp() AND (lease_until IS NULL OR lease_until < statement_timestamp())
    AND conversation.deleted_at IS NULL
  ORDER BY due_at LIMIT 1 FOR UPDATE OF state SKIP LOCKED
)
UPDATE conversations_titlestate AS state
SET worker = %s, lease_until = statement_timestamp() + make_interval(secs => %s), attempt = attempt + 1
FROM next WHERE state.conversation_id = next.conversation_id
RETURNING state.conversation_id, state.attempt
"""


@dataclass(frozen=True, slots=True)
class ClaimedTitle:
    """A conversation whose title *worker* has written, of the messages *question_id* and *reply_id*."""

    conversation: Conversation
    worker: str
    attempt: int
    question_id: int
    reply_id: int
    question: str
    reply: str


def claim_title(worker: str) -> tuple[int, int] | None:
    """Take the next conversation whose title is due. Returns its number and that of the attempt, if there is one."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CLAIM, [worker, LEASE_SECONDS])
        row: tuple[int, int] | None = cursor.fetchone()
    return row


def read_claimed_title(worker: str, conversation_id: int, attempt: int, *, writer: ModelContext) -> ClaimedTitle | None:
    """Return what the title is made of, as it is stored now, truncated by *writer*; None if none is to be written.

    That is so once it was tried too often, was given by a person or has no messages that may be sent, and while the
    gate shuts out its owner.
    """
    conversation = Conversation.objects.select_related("scenario", "owner").get(pk=conversation_id)
    if attempt > MOST_ATTEMPTS or conversation.title_is_given:
        return None
    if find_admission(conversation.owner_id) is not Admission.ADMITTED:
        return None
    sendable = sendable_messages(conversation_id)
    reply = sendable.filter(role="assistant", state="complete", step_of=None).exclude(content="").first()
    if reply is None:
        return None
    question = sendable.filter(role="user", position__lt=reply.position).last()
    if question is None:
        return None
    return ClaimedTitle(
        conversation,
        worker,
        attempt,
        question.pk,
        reply.pk,
        _truncate(question.content, QUESTION_TOKENS, writer),
        _truncate(reply.content, REPLY_TOKENS, writer),
    )


def sendable_messages(conversation_id: int) -> QuerySet[Message]:
    """Return the messages of the active path that may be sent, oldest first."""
    own = Message.objects.filter(conversation_id=conversation_id, active=True, excluded=False)
    return own.filter(position__gte=F("conversation__forgotten_before")).order_by("position")


def end_title(worker: str, conversation_id: int) -> None:
    """Write no title any more: the conversation keeps the one that it has."""
    mine = TitleState.objects.filter(pk=conversation_id, worker=worker)
    mine.update(due_at=None, worker="", lease_until=None)


def release_title(worker: str, conversation_id: int, attempt: int) -> None:
    """Let another worker write it at once: this process ends."""
    mine = TitleState.objects.filter(pk=conversation_id, worker=worker)
    mine.update(worker="", lease_until=None, attempt=max(attempt - 1, 0))


def _truncate(text: str, limit_tokens: int, writer: ModelContext) -> str:
    beginning = text[:MOST_CHARACTERS]
    fitting = characters_that_fit(beginning, limit_tokens=limit_tokens, count_text=writer.count_text)
    return truncate_text(beginning, fitting)
