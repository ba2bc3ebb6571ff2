"""A very large conversation, made in the database of copies of an indexed one. Import when Django is set up.

The copies follow one another along the path, as if the same had been said again and again years later. They are whole
chunks of postings, so that these are copied as they stand. Every word is then in as large a share of the passages as in
the conversation that was copied, which is the hardest case: in a real one there are more words the longer it is.
"""

from __future__ import annotations

from django.db import connection, models, transaction
from django.db.backends.utils import CursorWrapper

from conversations.grounding.recall.stored_postings import COUNT_PASSAGES
from conversations.models import Conversation, Message, MessageIndex, MessagePassage, MessagePostings
from conversations.models.message_postings import CHUNK_PASSAGES

# What one copy takes: passages and messages, which are the first of the conversation.
STRIDE = """
SELECT max(ordinal) + 1, max(position) + 1, max(message_id) + 1, max(session) + 1,
       extract(epoch FROM max(at) - min(at))::bigint + 86400, max(until_words), max(until_user_messages),
       max(until_user_tokens), max(until_assistant_messages), max(until_assistant_tokens)
FROM conversations_messagepassage WHERE conversation_id = %(source)s AND ordinal < %(passages)s
"""
OF_ONE_COPY = f"""
SELECT {COUNT_PASSAGES} FROM conversations_messagepostings AS last
WHERE last.conversation_id = row.conversation_id AND last.lexeme = row.lexeme
  AND last.chunk < %(passages)s / {CHUNK_PASSAGES} ORDER BY last.chunk DESC LIMIT 1
"""
REFERENCES = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND conrelid::regclass::text = ANY(%(tables)s)
"""
STRIDES = (
    "ordinal",
    "position",
    "id",
    "session",
    "seconds",
    "until_words",
    "until_user_messages",
    "until_user_tokens",
    "until_assistant_messages",
    "until_assistant_tokens",
)


def make_large_conversation(source: Conversation, *, messages: int, with_references: bool = False) -> Conversation:
    """Return a conversation of about *messages* messages, indexed, made of copies of *source*.

    The tables that are filled lose their foreign keys, if not *with_references*: to check them takes minutes.
    """
    index = MessageIndex.objects.get(pk=source.pk)
    passages = index.passages // CHUNK_PASSAGES * CHUNK_PASSAGES
    if not passages:
        raise SystemExit(f"the conversation to be copied has less than {CHUNK_PASSAGES} passages")
    stride = _read_stride(source, passages)
    copies = max(1, round(messages / stride["position"]))
    target = Conversation.objects.create(
        owner=source.owner, scenario=source.scenario, title="Large", last_active_at=source.last_active_at
    )
    with transaction.atomic(), connection.cursor() as cursor:
        references = _drop_references(cursor)
        columns = {"source": source.pk, "target": target.pk, "copies": copies, "passages": passages, **stride}
        for model, changed, chosen in _tables():
            cursor.execute(_copy_statement(model, changed, chosen), columns)
        for table, name, definition in references if with_references else ():
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
    MessageIndex.objects.create(
        conversation=target,
        next_position=copies * stride["position"],
        passages=copies * passages,
        encoding=index.encoding,
        search_language=index.search_language,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return target


def _read_stride(source: Conversation, passages: int) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(STRIDE, {"source": source.pk, "passages": passages})
        found = dict(zip(STRIDES, cursor.fetchone(), strict=True))
        cursor.execute("SELECT max(id) + 1 FROM conversations_message")
        [found["id"]] = cursor.fetchone()
    return found


def _drop_references(cursor: CursorWrapper) -> list[tuple[str, str, str]]:
    """Drop the foreign keys of the tables that are filled, and return the table, name and definition of each."""
    cursor.execute(REFERENCES, {"tables": [model._meta.db_table for model, _, _ in _tables()]})
    references = cursor.fetchall()
    for table, name, _ in references:
        cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
    return references


def _tables() -> list[tuple[type[models.Model], dict[str, str], str]]:
    """Return each table with what is put into its columns that differ, and which rows are copied."""
    later = "+ (copy * %(seconds)s || ' seconds')::interval"
    sums = [name for name in STRIDES if name.startswith("until_")]
    return [
        (
            Message,
            {
                "id": "row.id + (copy + 1) * %(id)s",
                "conversation_id": "%(target)s",
                "position": "row.position + copy * %(position)s",
                # Only the first of all has no parent; that of another copy's first one is not read.
                "parent_id": "coalesce(row.parent_id + %(id)s, nullif(copy, 0) * 0 + row.id) + copy * %(id)s",
                "step_of_id": "NULL",
                "client_id": "NULL",
                "created_at": f"row.created_at {later}",
            },
            "row.position < %(position)s AND row.active",
        ),
        (
            MessagePassage,
            {
                "conversation_id": "%(target)s",
                "message_id": "row.message_id + (copy + 1) * %(id)s",
                "at": f"row.at {later}",
                "passages_in_message": "least(row.passages_in_message, %(passages)s - row.ordinal + row.number)",
                **{name: f"row.{name} + copy * %({name})s" for name in ("ordinal", "position", "session", *sums)},
            },
            "row.ordinal < %(passages)s",
        ),
        (
            MessagePostings,
            {
                "conversation_id": "%(target)s",
                "chunk": f"row.chunk + copy * (%(passages)s / {CHUNK_PASSAGES})",
                "earlier": f"row.earlier + copy * ({OF_ONE_COPY})",
            },
            f"row.chunk < %(passages)s / {CHUNK_PASSAGES}",
        ),
    ]


def _copy_statement(model: type[models.Model], changed: dict[str, str], chosen: str) -> str:
    names = [field.column for field in model._meta.local_concrete_fields if field.column]
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(changed.get(name, f'row."{name}"') for name in names)
    table = model._meta.db_table
    return (
        f"INSERT INTO {table} ({columns}) SELECT {values} "  # names of columns alone
        f"FROM generate_series(0::bigint, %(copies)s - 1) AS copy, {table} AS row "
        f"WHERE row.conversation_id = %(source)s AND {chosen}"
    )
