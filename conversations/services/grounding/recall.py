"""Recall: look up what left the window for a question, in a few seconds, and read again what was recalled before."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import connection
from django.db.models import Q
from django.utils import timezone

from chatsite.accounts.preferences.reader_time_zone import stored_time_zone
from conversations.core.errors import ConversationError, LookUpTooCostly
from conversations.core.recall.recalled_passage import RecalledPassage
from conversations.core.window.window_record import RecallEntry, RecallRecord
from conversations.grounding.recall.meaning import QuestionVector
from conversations.grounding.recall.question_terms import says_something
from conversations.grounding.recall.recall_passages import recall_passages
from conversations.grounding.retrieve import Embed
from conversations.live.database_retries import retry_while_database_down
from conversations.live.database_threads import in_look_up_thread
from conversations.models import Completion, Conversation, Message, MessageIndex
from conversations.providers.catalog.embedding_models import embedding_model

from .embed_texts import embed_texts

logger = logging.getLogger(__name__)
RECALL_SECONDS = 3.0  # with its wait for a thread; a reply without recall is better than one that is late
VECTOR_SECONDS = 1.5  # of these, for what the question means; words alone are better than nothing
FAILED = "recall_failed"
Find = Callable[..., list[RecalledPassage]]
STILL_THERE = """
SELECT message.id, message.position FROM conversations_message message
JOIN conversations_conversation conversation ON conversation.id = message.conversation_id
WHERE message.id = ANY(%(messages)s) AND message.active AND NOT message.excluded AND NOT message.never_recalled
  AND message.position >= conversation.forgotten_before
  AND (conversation.id = %(conversation)s OR %(others)s AND conversation.owner_id = %(owner)s
       AND conversation.deleted_at IS NULL AND NOT conversation.kept_out_of_recall
       AND conversation.temporary_until IS NULL)
"""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The *passages* of older messages found for a question, best first; *error* is the code of why there are none."""

    passages: tuple[RecalledPassage, ...] = ()
    error: str = ""


async def recall(
    reply: Message,
    *,
    before_position: int,
    limit_tokens: int | None = None,
    find: Find = recall_passages,
    embed: Embed = embed_texts,
) -> Recalled:
    """Find passages for the question of *reply* in what comes before *before_position*, where its window begins.

    About as many as may fit into *limit_tokens*. A look-up that fails or takes too long finds nothing, and says so.
    Without an answer of the embeddings model in time it looks by words alone.
    """
    question, conversation = reply.answered_message, reply.conversation
    find = partial(find, asked_position=question.position, limit_tokens=limit_tokens)
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            vector = await _question_vector(conversation, question.content, embed)
            if vector:
                find = partial(find, vector=vector)
            look = partial(recall_for, conversation, question.content, before_position, question.created_at, find=find)
            return await retry_while_database_down(look, in_thread=in_look_up_thread)
    except (TimeoutError, LookUpTooCostly):
        logger.warning("question %d: recall took too long", question.pk)
        return Recalled(error=LookUpTooCostly.code)
    except Exception:  # whatever is wrong with the index, the reply goes on without it
        logger.exception("question %d: recall failed", question.pk)
        return Recalled(error=FAILED)


async def _question_vector(conversation: Conversation, text: str, embed: Embed) -> QuestionVector | None:
    """Return what a question means, where older messages have vectors of the same model to compare it with."""
    model = embedding_model()
    if model is None or not says_something(text):
        return None
    if not await in_look_up_thread(_has_vectors)(conversation, model.label):
        return None
    try:
        async with asyncio.timeout(VECTOR_SECONDS):
            [vector] = await embed([text], user=conversation.owner, conversation=conversation)
    except TimeoutError:
        logger.warning("conversation %d: recall by words alone: no vector in time", conversation.pk)
    except ConversationError as error:
        logger.warning("conversation %d: recall by words alone: %s", conversation.pk, error.code)
    except Exception:
        logger.exception("conversation %d: recall by words alone", conversation.pk)
    else:
        return QuestionVector(vector, model.label, model.floor)
    return None


def _has_vectors(conversation: Conversation, label: str) -> bool:
    there = MessageIndex.objects.filter(embedding_model=label, embedded_passages__gt=0)
    if conversation.recalls_other_conversations:
        others = Q(
            conversation__owner=conversation.owner, conversation__deleted_at=None, conversation__temporary_until=None
        )
        return there.filter(Q(pk=conversation.pk) | others & Q(conversation__kept_out_of_recall=False)).exists()
    return there.filter(pk=conversation.pk).exists()


def recall_for(
    conversation: Conversation,
    question: str,
    before_position: int,
    asked_at: dt.datetime,
    *,
    find: Find = recall_passages,
) -> Recalled:
    """Find passages for *question*, stored or still a draft. Days are those of the owner's time zone."""
    now = asked_at.astimezone(stored_time_zone(conversation.owner))
    if conversation.recalls_other_conversations:
        find = partial(find, others_of=conversation.owner_id)
    return Recalled(tuple(find(conversation.pk, question, before_position=before_position, now=now)))


def recall_for_draft(
    conversation: Conversation,
    content: str,
    *,
    before_position: int,
    limit_tokens: int,
    find: Find = recall_passages,
) -> Recalled:
    """Find passages for a draft, asked now, about as many as may fit into *limit_tokens*.

    A look-up that fails finds nothing, and says so.
    """
    find = partial(find, limit_tokens=limit_tokens)
    try:
        return recall_for(conversation, content, before_position, timezone.now(), find=find)
    except LookUpTooCostly:
        return Recalled(error=LookUpTooCostly.code)
    except Exception:  # an estimate is a help, and goes on without it
        logger.exception("conversation %d: recall for a draft failed", conversation.pk)
        return Recalled(error=FAILED)


def recalled_before(reply_id: int) -> Recalled | None:
    """Return what was recalled for the last request of a reply that goes on after it; None if nothing was looked up.

    What the reply has said so far rests on it, so it stays, whatever would be found now.
    """
    sent = Completion.objects.filter(reply_id=reply_id, window__isnull=False).order_by("-id")
    stored = sent.values_list("window__recall", flat=True)[0]
    record = RecallRecord.from_json(stored)
    if not record.is_looked_up:
        return None
    messages = Message.objects.in_bulk({entry.message for entry in record.included})
    return Recalled(
        tuple(_as_it_was(entry, messages[entry.message]) for entry in record.included if entry.message in messages),
        record.error,
    )


def _as_it_was(entry: RecallEntry, message: Message) -> RecalledPassage:
    """Return the passage again, with the day that was shown."""
    return RecalledPassage(
        message=message.pk,
        position=message.position,
        role=message.role,
        name=message.name or None,
        text=message.content[entry.start : entry.end],
        start=entry.start,
        end=entry.end,
        is_whole=not entry.is_cut,
        tokens=entry.tokens,
        session=0,
        at=dt.datetime.fromisoformat(entry.at),
        score=entry.score,
        why=entry.why,
        conversation=entry.conversation,
    )


def still_sendable(passages: Sequence[RecalledPassage], conversation: Conversation) -> list[RecalledPassage]:
    """Return those of *passages* whose messages are still on the path where they were found, and may be recalled.

    Those of other conversations only where these are the same owner's, who still wants that.
    """
    if not passages:
        return []
    asked_in = {
        "conversation": conversation.pk,
        "owner": conversation.owner_id,
        "others": conversation.recalls_other_conversations,
    }
    with connection.cursor() as cursor:
        cursor.execute(STILL_THERE, {"messages": list({passage.message for passage in passages}), **asked_in})
        there = set(cursor.fetchall())
    return [passage for passage in passages if (passage.message, passage.position) in there]
