"""Index messages: bring the index of conversations up to what is on their active paths now, a batch at a time.

    PathChange: what changed → cut the index off there → the next messages become passages → written in one transaction

A batch takes what is next of several conversations, because its statements cost more than the messages of one turn. It
locks neither conversations nor messages for those who write them: a message that is added or taken off the path
meanwhile has stored a change of its own, and the next batch comes back to it. Two processes never index one
conversation at once: each takes the same lock.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from operator import itemgetter

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models.functions import Least

from chatsite.postgres.compiled_query import CompiledQuery
from chatsite.postgres.connection import allow_long_idle
from chatsite.postgres.faults import is_outage, is_passing_fault
from conversations.grounding.lexemes import search_language
from conversations.grounding.recall.lexeme_counts import count_lexemes
from conversations.grounding.recall.stored_postings import (
    IndexedConversation,
    append_postings,
    cut_postings,
    list_elsewhere,
)
from conversations.models import (
    Conversation,
    MessageIndex,
    MessagePassage,
    MessagePostings,
    MessageVector,
    PathChange,
)
from conversations.providers.tokens.tokenizer import count_text
from conversations.selectors.conversations.key_share_lock import LOCK_CONVERSATIONS
from conversations.services.language_models.model_context import conversation_context

from .passage_rows import COLUMNS, PassageDraft, PassageRow, ReadMessage, draft_passages, make_rows

logger = logging.getLogger(__name__)
CONVERSATIONS_AT_ONCE = 20
MESSAGES_AT_ONCE = 200  # of all conversations of a batch
TOKENS_AT_ONCE = 50_000
LONG_CHARACTERS = 500_000  # of a batch: to split them may take longer than a transaction may be idle
HELD_SECONDS = 0.05  # until a conversation is looked at again that another process indexes

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
WITH kept AS MATERIALIZED (
  {LOCK_CONVERSATIONS}
)
SELECT id, owner_id FROM kept
WHERE pg_try_advisory_xact_lock(hashtextextended('conversations.message_index', id))
"""  # noqa: S608  # a constant of ours
COPY = f"COPY conversations_messagepassage (conversation_id, {', '.join(COLUMNS)}) FROM STDIN"
# Bounded by positions, not by LIMIT alone: after a large import, before PostgreSQL has analyzed the table, each batch
# would read and sort all that is left of a conversation.
NEXT = """
WITH first AS MATERIALIZED (
  SELECT behind.conversation_id, place, next.position
  FROM unnest(%(conversations)s::bigint[], %(positions)s::int[]) WITH ORDINALITY
    AS behind (conversation_id, position, place)
  CROSS JOIN LATERAL (
    SELECT position FROM conversations_message AS message
    WHERE message.conversation_id = behind.conversation_id AND active AND message.position >= behind.position
    ORDER BY message.position LIMIT 1
  ) AS next
)
SELECT conversation_id, id, position, role, state, tool_calls <> '[]', content, content_tokens, encoding, created_at
FROM (
  SELECT *, sum(content_tokens) OVER (ORDER BY place, position) - content_tokens AS before
  FROM (
    SELECT place, next.* FROM first CROSS JOIN LATERAL (
      SELECT * FROM conversations_message AS message
      WHERE message.conversation_id = first.conversation_id AND active
        AND message.position >= first.position AND message.position < first.position + %(most)s
      ORDER BY message.position LIMIT %(most)s
    ) AS next ORDER BY place, next.position LIMIT %(most)s
  ) AS message
) AS message WHERE before < %(tokens)s ORDER BY place, position
"""
FIND_CHANGES = "SELECT conversation_id, id, position FROM conversations_pathchange WHERE conversation_id = ANY(%s)"
FORGET_GONE = """
DELETE FROM conversations_pathchange AS change WHERE conversation_id = ANY(%s)
  AND NOT EXISTS (SELECT FROM conversations_conversation WHERE id = change.conversation_id)
"""
# Where the message behind what is indexed could be indexed now, that is noted, behind all other changes.
FINISH = """
WITH reached AS MATERIALIZED (
  SELECT * FROM unnest(%(conversations)s::bigint[], %(positions)s::int[], %(passages)s::int[])
    AS reached (conversation_id, position, passages)
), stored AS (
  UPDATE conversations_messageindex AS stored SET next_position = reached.position, passages = reached.passages
  FROM reached WHERE stored.conversation_id = reached.conversation_id
), done AS (
  DELETE FROM conversations_pathchange WHERE id = ANY(%(changes)s)
)
INSERT INTO conversations_pathchange (conversation_id, position)
SELECT conversation_id, position FROM reached WHERE (
  SELECT state <> 'streaming' FROM conversations_message AS message
  WHERE message.conversation_id = reached.conversation_id AND active AND message.position >= reached.position
  ORDER BY message.position LIMIT 1
)
"""
INDEX = CompiledQuery(MessageIndex.objects.all(), "WHERE conversation_id = ANY(%s)")
LAST = CompiledQuery(
    MessagePassage.objects.defer("search"),
    "WHERE (conversation_id, ordinal) IN (SELECT * FROM unnest(%s::bigint[], %s::int[]))",
)


@dataclass(slots=True)
class Behind:
    """A conversation of a batch: its *index*, as it will be, the next *messages*, and what they become.

    *changes* are positions by the ids of what is taken up.
    """

    index: MessageIndex
    owner_id: int
    changes: Mapping[int, int]
    messages: Sequence[ReadMessage] = ()
    drafts: Sequence[PassageDraft] = ()
    rows: Sequence[PassageRow] = ()

    @property
    def begins_at(self) -> int:
        """Return the position of the first message that the index lacks, or has otherwise."""
        return min(self.index.next_position, *self.changes.values())


def index_next_batch() -> bool:
    """Index a batch of conversations that wait, of owners with fewest first. Returns whether there was something."""
    with connection.cursor() as cursor:
        cursor.execute(BEHIND, [CONVERSATIONS_AT_ONCE])
        waiting = [row[0] for row in cursor.fetchall()]
    return bool(waiting) and _index_or_put_off(waiting)


def _index_or_put_off(conversation_ids: Sequence[int]) -> bool:
    """Index a batch; a conversation that can't be indexed does not hold up the others."""
    try:
        return index_batch(conversation_ids)
    except Exception as error:
        if isinstance(error, DatabaseError) and is_outage(error.__cause__ or error):
            raise
        if len(conversation_ids) > 1:  # alone, each tells whether it was its fault
            outcomes = [_index_or_put_off([each]) for each in conversation_ids]
            return any(outcomes)
        [conversation_id] = conversation_ids
        _log_failure(conversation_id, error)
    put_off(conversation_id)
    return False


def _log_failure(conversation_id: int, error: Exception) -> None:
    if isinstance(error, IntegrityError):
        logger.info("conversation %d was deleted while it was indexed", conversation_id)
    else:
        is_unknown = not (isinstance(error, DatabaseError) and is_passing_fault(error))
        logger.error("conversation %d could not be indexed: %s", conversation_id, error, exc_info=is_unknown)


def index_conversation(conversation_id: int) -> None:
    """Index all that is behind in one conversation, if no other process is at it."""
    while index_batch([conversation_id]):
        pass


def rebuild_index(conversation_id: int) -> None:
    """Forget the index of a conversation and make it again, in the search language of today.

    Another process that is at it is waited for: between two of its batches it lets go.
    """
    while not _forget_index(conversation_id) and Conversation.objects.filter(pk=conversation_id).exists():
        time.sleep(HELD_SECONDS)
    while PathChange.objects.filter(conversation_id=conversation_id).exists():
        if not index_batch([conversation_id]):
            time.sleep(HELD_SECONDS)


@transaction.atomic
def _forget_index(conversation_id: int) -> bool:
    """Forget the index of a conversation, and let it be made again. Returns False if another process is at it."""
    if not _hold([conversation_id]):
        return False
    list_elsewhere(conversation_id)
    for model in (MessagePassage, MessagePostings, MessageVector, MessageIndex):
        model.objects.filter(conversation_id=conversation_id).delete()
    PathChange.objects.create(conversation_id=conversation_id, position=0)
    return True


@transaction.atomic
def index_batch(conversation_ids: Sequence[int]) -> bool:
    """Index the next messages of conversations. Returns whether there was something to do, and it could be done."""
    owners = _hold(conversation_ids)
    if missing := [each for each in conversation_ids if each not in owners]:
        with connection.cursor() as cursor:
            cursor.execute(FORGET_GONE, [missing])
    # Before any message is read: what is committed after this stays for the next batch.
    changes = _find_changes(list(owners))
    if not changes:
        return False
    indexes = _open_indexes(changes)
    waiting = [Behind(indexes[pk], owners[pk], changes[pk]) for pk in conversation_ids if pk in changes]
    batch = _read_messages(waiting)
    for behind in batch:
        _cut_off(behind.index, behind.begins_at)
    _make_rows(batch)
    _store(batch)
    _finish(batch)
    return True


@transaction.atomic
def put_off(conversation_id: int) -> None:
    """Let all other conversations come first."""
    changes = PathChange.objects.filter(conversation_id=conversation_id)
    positions = dict(changes.values_list("pk", "position"))
    if positions and Conversation.objects.filter(pk=conversation_id).exists():
        PathChange.objects.create(conversation_id=conversation_id, position=min(positions.values()))
    changes.filter(pk__in=positions).delete()


def _hold(conversation_ids: Sequence[int]) -> dict[int, int]:
    """Keep others from indexing conversations, or deleting them, until the transaction ends. Returns their owners.

    Those that another process indexes or deletes are left out. Deleting an account locks the owner's row, sweeping a
    conversation locks that: neither waits for more than a batch.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD, {"conversations": list(conversation_ids)})
        return dict(cursor.fetchall())


def _find_changes(conversation_ids: list[int]) -> dict[int, dict[int, int]]:
    """Return positions by conversation and the id of the change."""
    changes: dict[int, dict[int, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(FIND_CHANGES, [conversation_ids])
        for conversation_id, change_id, position in cursor.fetchall():
            changes[conversation_id][change_id] = position
    return changes


def _open_indexes(conversation_ids: Collection[int]) -> dict[int, MessageIndex]:
    """Return the indexes of conversations, begun where they are new."""
    known = {index.pk: index for index in INDEX.all(list(conversation_ids))}
    if new := set(conversation_ids) - known.keys():
        begun = [
            MessageIndex(
                conversation=conversation,
                encoding=conversation_context(conversation).language_model.encoding,
                search_language=search_language(),
            )
            for conversation in Conversation.objects.select_related("scenario").filter(pk__in=new)
        ]
        known |= {index.pk: index for index in MessageIndex.objects.bulk_create(begun)}
    return known


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


def _read_messages(waiting: Sequence[Behind]) -> list[Behind]:
    """Read the next messages of the active paths, up to replies that are being written.

    Returns the conversations that take part in the batch: where those of the first ones fill it, the others go on
    waiting.
    """
    places = {"conversations": [each.index.pk for each in waiting], "positions": [each.begins_at for each in waiting]}
    with connection.cursor() as cursor:
        cursor.execute(NEXT, {**places, "most": MESSAGES_AT_ONCE, "tokens": TOKENS_AT_ONCE})
        rows = cursor.fetchall()
    messages = {
        conversation_id: [ReadMessage._make(row[1:]) for row in of_one]
        for conversation_id, of_one in groupby(rows, key=itemgetter(0))
    }
    for behind in waiting:
        ended = takewhile(lambda message: message.state != "streaming", messages.get(behind.index.pk, ()))
        behind.messages = list(ended)
    read = [message for of_one in messages.values() for message in of_one]
    if sum(len(message.content) for message in read) > LONG_CHARACTERS:
        allow_long_idle()  # no conversation behind it is indexed until it is
    if len(read) < MESSAGES_AT_ONCE and sum(message.content_tokens for message in read) < TOKENS_AT_ONCE:
        return list(waiting)
    last = next(place for place, each in enumerate(waiting) if each.index.pk == rows[-1][0])
    return list(waiting[: last + 1])


def _make_rows(batch: Sequence[Behind]) -> None:
    """Split the messages into passages, which follow those that are stored."""
    for behind in batch:
        encoding = behind.index.encoding
        behind.drafts = draft_passages(behind.messages, encoding=encoding, count_text=count_text(encoding))
    last = _last_passages([each.index for each in batch if each.drafts])
    for language, of_language in groupby(sorted(batch, key=_language), key=_language):
        together = list(of_language)
        lexemes = iter(
            count_lexemes([draft.text for each in together for draft in each.drafts], search_language=language)
        )
        for behind in together:
            counted = list(islice(lexemes, len(behind.drafts)))
            behind.rows = make_rows(behind.drafts, counted, last=last.get(behind.index.pk))


def _language(behind: Behind) -> str:
    return behind.index.search_language


def _last_passages(indexes: Sequence[MessageIndex]) -> dict[int, MessagePassage]:
    """Return the last passage of each index that has one, by conversation."""
    begun = [index for index in indexes if index.passages]
    if not begun:
        return {}
    return {each.conversation_id: each for each in LAST.all([i.pk for i in begun], [i.passages - 1 for i in begun])}


def _store(batch: Sequence[Behind]) -> None:
    """Store the rows with their postings, and note them in the indexes."""
    fresh = [behind for behind in batch if behind.rows]
    if fresh:
        with connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for behind in fresh:
                for row in behind.rows:
                    copy.write_row((behind.index.pk, *row.columns))
        append_postings(
            IndexedConversation(behind.index.pk, behind.owner_id, [row.indexed for row in behind.rows])
            for behind in fresh
        )
    for behind in batch:
        behind.index.passages += len(behind.rows)
        if behind.messages:
            behind.index.next_position = behind.messages[-1].position + 1


def _finish(batch: Sequence[Behind]) -> None:
    """Note how far the indexes reach now, and forget the changes."""
    reached = {
        "conversations": [each.index.pk for each in batch],
        "positions": [each.index.next_position for each in batch],
        "passages": [each.index.passages for each in batch],
    }
    with connection.cursor() as cursor:
        cursor.execute(FINISH, reached | {"changes": [pk for each in batch for pk in each.changes]})
