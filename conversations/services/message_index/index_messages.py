"""Index messages: bring the index of a conversation up to what is on its active path now, a batch at a time.

    PathChange: what changed → cut the index off there → the next messages become passages → written in one transaction

A batch locks neither the conversation nor its messages for those who write them: a message that is added or taken off
the path meanwhile has stored a change of its own, and the next batch comes back to it. Two processes never index one
conversation at once: each takes the same lock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from itertools import takewhile

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import F
from django.db.models.functions import Least

from chatsite.postgres.compiled_query import CompiledQuery
from chatsite.postgres.faults import is_outage, is_passing_fault
from conversations.grounding.lexemes import search_language
from conversations.grounding.recall.stored_postings import append_postings, cut_postings, list_elsewhere
from conversations.models import (
    Conversation,
    MessageIndex,
    MessagePassage,
    MessagePostings,
    MessageVector,
    PathChange,
)
from conversations.providers.tokens.tokenizer import count_text
from conversations.selectors.conversations.key_share_lock import LOCK_CONVERSATION
from conversations.services.language_models.model_context import conversation_context

from .passage_rows import COLUMNS, PassageRow, ReadMessage, make_rows

logger = logging.getLogger(__name__)
MESSAGES_AT_ONCE = 200
TOKENS_AT_ONCE = 50_000
LONG_CHARACTERS = 500_000  # of a batch: to split them may take longer than a transaction may be idle
LONG_SECONDS = 300  # that it may then
HELD_SECONDS = 0.05  # until a conversation is looked at again that another process indexes
LOOKED_AT = 20  # conversations that another process may be at

# What is in a deleted conversation is left as it is: that may be undone, and else it goes soon. The owner with fewest
# conversations behind comes first: an import of thousands must not keep what others have just said from being recalled.
BEHIND = """
SELECT change.conversation_id
FROM conversations_pathchange change
LEFT JOIN conversations_conversation conversation ON conversation.id = change.conversation_id
WHERE conversation.deleted_at IS NULL
GROUP BY change.conversation_id, conversation.owner_id
ORDER BY count(*) OVER (PARTITION BY conversation.owner_id), min(change.id) LIMIT %s
"""
HOLD = f"""
WITH held AS MATERIALIZED (
  {LOCK_CONVERSATION}
)
SELECT FROM held
WHERE pg_try_advisory_xact_lock(hashtextextended('conversations.message_index', %(conversation)s))
"""
COPY = f"COPY conversations_messagepassage (conversation_id, {', '.join(COLUMNS)}) FROM STDIN"
# Bounded by positions, not by LIMIT: after a large import, before PostgreSQL has analyzed the table, each batch would
# read and sort all that is left of the conversation.
NEXT = """
WITH first AS MATERIALIZED (
  SELECT position FROM conversations_message
  WHERE conversation_id = %(conversation)s AND active AND position >= %(position)s ORDER BY position LIMIT 1
)
SELECT id, position, role, state, is_tool_step, content, content_tokens, encoding, created_at
FROM (
  SELECT *, tool_calls <> '[]' AS is_tool_step, sum(content_tokens) OVER (ORDER BY position) - content_tokens AS before
  FROM conversations_message
  WHERE conversation_id = %(conversation)s AND active
    AND position >= (SELECT position FROM first) AND position < (SELECT position FROM first) + %(most)s
) AS next WHERE before < %(tokens)s ORDER BY position
"""
FIND_CHANGES = "SELECT id, position FROM conversations_pathchange WHERE conversation_id = %s"
# Tells, too, whether the message behind what is indexed could be indexed now.
FINISH = """
WITH reached AS (
  UPDATE conversations_messageindex SET next_position = %(position)s, passages = %(passages)s
  WHERE conversation_id = %(conversation)s
), done AS (
  DELETE FROM conversations_pathchange WHERE id = ANY(%(changes)s)
)
SELECT state <> 'streaming' FROM conversations_message
WHERE conversation_id = %(conversation)s AND active AND position >= %(position)s ORDER BY position LIMIT 1
"""
INDEX = CompiledQuery(
    MessageIndex.objects.annotate(owner_id=F("conversation__owner_id")),
    "WHERE conversations_messageindex.conversation_id = %s",
)
PASSAGE = CompiledQuery(MessagePassage.objects.all(), "WHERE conversation_id = %s AND ordinal = %s")


def index_next_batch() -> bool:
    """Index a batch of a conversation that waits, of the owner with fewest first. Returns whether there was one."""
    with connection.cursor() as cursor:
        cursor.execute(BEHIND, [LOOKED_AT])
        waiting = [row[0] for row in cursor.fetchall()]
    return any(_index_or_put_off(conversation_id) for conversation_id in waiting)


def _index_or_put_off(conversation_id: int) -> bool:
    """Index a batch; one conversation that can't be indexed does not hold up the others."""
    try:
        return index_batch(conversation_id)
    except IntegrityError:
        logger.info("conversation %d was deleted while it was indexed", conversation_id)
    except DatabaseError as error:
        if is_outage(error.__cause__ or error):
            raise
        with_trace = not is_passing_fault(error)
        logger.error("conversation %d could not be indexed: %s", conversation_id, error, exc_info=with_trace)
    except Exception:
        logger.exception("conversation %d could not be indexed", conversation_id)
    put_off(conversation_id)
    return False


def index_conversation(conversation_id: int) -> None:
    """Index all that is behind in one conversation, if no other process is at it."""
    while index_batch(conversation_id):
        pass


def rebuild_index(conversation_id: int) -> None:
    """Forget the index of a conversation and make it again, in the search language of today.

    Another process that is at it is waited for: between two of its batches it lets go.
    """
    while not _forget_index(conversation_id) and Conversation.objects.filter(pk=conversation_id).exists():
        time.sleep(HELD_SECONDS)
    while PathChange.objects.filter(conversation_id=conversation_id).exists():
        if not index_batch(conversation_id):
            time.sleep(HELD_SECONDS)


@transaction.atomic
def _forget_index(conversation_id: int) -> bool:
    """Forget the index of a conversation, and let it be made again. Returns False if another process is at it."""
    if not _lock(conversation_id):
        return False
    list_elsewhere(conversation_id)
    for model in (MessagePassage, MessagePostings, MessageVector, MessageIndex):
        model.objects.filter(conversation_id=conversation_id).delete()
    PathChange.objects.create(conversation_id=conversation_id, position=0)
    return True


@transaction.atomic
def index_batch(conversation_id: int) -> bool:
    """Index the next messages of a conversation. Returns whether there was something to do, and it could be done."""
    if not _lock(conversation_id):
        if not Conversation.objects.filter(pk=conversation_id).exists():
            PathChange.objects.filter(conversation_id=conversation_id).delete()
        return False
    # Before any message is read: what is committed after this stays for the next batch.
    with connection.cursor() as cursor:
        cursor.execute(FIND_CHANGES, [conversation_id])
        positions = dict(cursor.fetchall())
    if not positions:
        return False
    index = _open_index(conversation_id)
    _cut_off(index, min(positions.values()))
    _index_next(index)
    if _finish(index, list(positions)):
        PathChange.objects.create(conversation_id=conversation_id, position=index.next_position)  # behind all others
    return True


@transaction.atomic
def put_off(conversation_id: int) -> None:
    """Let all other conversations come first."""
    changes = PathChange.objects.filter(conversation_id=conversation_id)
    positions = dict(changes.values_list("pk", "position"))
    if positions and Conversation.objects.filter(pk=conversation_id).exists():
        PathChange.objects.create(conversation_id=conversation_id, position=min(positions.values()))
    changes.filter(pk__in=positions).delete()


def _lock(conversation_id: int) -> bool:
    """Keep others from indexing a conversation, or deleting it, until the transaction ends. False if one does already.

    Deleting an account locks the owner's row, sweeping a conversation locks that: neither waits for more than a batch.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD, {"conversation": conversation_id})
        return cursor.fetchone() is not None


def _open_index(conversation_id: int) -> MessageIndex:
    """Return the index with its *owner_id*, begun if it is new."""
    if known := INDEX.first(conversation_id):
        return known
    conversation = Conversation.objects.select_related("scenario").get(pk=conversation_id)
    index = MessageIndex.objects.create(
        conversation=conversation,
        encoding=conversation_context(conversation).language_model.encoding,
        search_language=search_language(),
    )
    index.owner_id = conversation.owner_id  # type: ignore[attr-defined]  # as where it is annotated
    return index


def _cut_off(index: MessageIndex, position: int) -> None:
    """Take everything from *position* on out of the index; `_finish` stores how far that reaches then."""
    if position >= index.next_position:
        return
    passages = MessagePassage.objects.filter(conversation_id=index.pk)
    first = passages.filter(position__gte=position).order_by("position", "ordinal").first()
    if first:
        passages.filter(ordinal__gte=first.ordinal).delete()
        cut_postings(index.pk, first.ordinal)
        MessageVector.objects.filter(conversation_id=index.pk, ordinal__gte=first.ordinal).delete()
        MessageIndex.objects.filter(pk=index.pk).update(embedded_passages=Least("embedded_passages", first.ordinal))
        index.passages = first.ordinal
    index.next_position = position


def _last_passage(index: MessageIndex, *, before: int) -> MessagePassage | None:
    return PASSAGE.first(index.pk, before - 1) if before else None


def _index_next(index: MessageIndex) -> None:
    messages = list(_next_messages(index))
    if not messages:
        return
    if sum(len(message.content) for message in messages) > LONG_CHARACTERS:
        _take_time()
    last = _last_passage(index, before=index.passages)
    rows = make_rows(index, last, messages, count_text=count_text(index.encoding))
    _store(index, rows)
    index.next_position = messages[-1].position + 1


def _take_time() -> None:
    """Let the transaction be idle for minutes, while messages of megabytes are split.

    Else the server ends it, the batch begins again, and no conversation behind it is ever indexed.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{LONG_SECONDS}s'")


def _next_messages(index: MessageIndex) -> Iterator[ReadMessage]:
    """Yield the next messages of the active path, up to the reply that is being written."""
    limits = {"most": MESSAGES_AT_ONCE, "tokens": TOKENS_AT_ONCE}
    with connection.cursor() as cursor:
        cursor.execute(NEXT, {"conversation": index.pk, "position": index.next_position, **limits})
        messages = map(ReadMessage._make, cursor.fetchall())
    return takewhile(lambda message: message.state != "streaming", messages)


def _store(index: MessageIndex, rows: Sequence[PassageRow]) -> None:
    """Store *rows* with their postings, and note them in *index*."""
    with connection.cursor() as cursor, cursor.copy(COPY) as copy:
        for row in rows:
            copy.write_row((index.pk, *row.columns))
    owner_id: int = index.owner_id  # type: ignore[attr-defined]  # annotated
    append_postings(index.pk, owner_id, [row.indexed for row in rows])
    index.passages += len(rows)


def _finish(index: MessageIndex, changes: list[int]) -> bool:
    """Note how far *index* reaches now, and forget the *changes*. Returns whether more could be indexed."""
    reached = {"conversation": index.pk, "position": index.next_position, "passages": index.passages}
    with connection.cursor() as cursor:
        cursor.execute(FINISH, {**reached, "changes": changes})
        following = cursor.fetchone()
    return following is not None and bool(following[0])
