"""Import the file of one conversation that a site like this one has exported: as a whole, once for each owner."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, NamedTuple

from django.core.exceptions import ValidationError
from django.db import DatabaseError, OperationalError, connection, transaction

from chatsite.postgres.faults import is_passing_fault
from conversations.core.errors import (
    AccessError,
    ConversationError,
    DocumentStorageFull,
    ImportedTextFull,
    InvalidHistory,
)
from conversations.core.imports.imported import BrokenConversation, ImportedConversation
from conversations.core.imports.json_stream import MOST_CHARACTERS
from conversations.core.imports.read_export import WindowseatFile
from conversations.models import Conversation, ConversationOrigin
from conversations.services.portability.read_conversation_json import read_conversation, read_head

from .import_report import ImportOutcome
from .store_conversations import ImportTarget
from .text_room import ROW_BYTES

FORMAT = "windowseat-file"  # its own: its messages are numbered, where an account's export has their ids

# What may be raised for a file that was edited: an import names it, and goes on with the others.
WRONG = (
    *(ConversationError, DatabaseError, ValidationError, ValueError, LookupError, TypeError, AttributeError),
    *(StopIteration, RecursionError, ArithmeticError),
)
# All that the file has brought, also passages, results of tools and summaries.
TEXT_BYTES = """
SELECT coalesce((
  SELECT sum(%(row)s + octet_length(content) + octet_length(reasoning) + octet_length(grounding::text)
             + octet_length(tool_calls::text) + octet_length(error_params::text))
  FROM conversations_message WHERE conversation_id = %(conversation)s
), 0) + coalesce((
  SELECT sum(%(row)s + octet_length(call.arguments) + octet_length(call.result)) FROM conversations_toolcall AS call
  JOIN conversations_message AS reply ON reply.id = call.reply_id WHERE reply.conversation_id = %(conversation)s
), 0) + coalesce((
  SELECT sum(%(row)s + octet_length(text)) FROM conversations_summary WHERE conversation_id = %(conversation)s
), 0)
"""


class ReadFile(NamedTuple):
    """The conversation of a file for the report, and its *outcome* if it could be read."""

    conversation: ImportedConversation | BrokenConversation
    outcome: ImportOutcome | None = None


def store_windowseat_file(target: ImportTarget, number: int, file: WindowseatFile) -> ReadFile:
    """Store the conversation of *file*, which is item *number* of the import, unless it is here or was deleted here.

    Raises `ImportedTextFull`.
    """
    try:
        with transaction.atomic(), file.open() as opened:
            return _store(target, number, _lines(opened))
    except ImportedTextFull:  # of all of them, this alone ends the import
        raise
    except DocumentStorageFull:
        return ReadFile(BrokenConversation(file.name, "no_room"))
    except (OperationalError, AccessError):
        raise
    except WRONG as error:
        if is_passing_fault(error):
            raise
        return ReadFile(BrokenConversation(file.name, "unreadable"))


def _store(target: ImportTarget, number: int, lines: Iterator[str]) -> ReadFile:
    first = next(lines)
    about = read_head(first)
    source_id, title = str(about["id"]), str(about["title"])
    key = {"owner": target.owner, "format": FORMAT, "source_id": source_id}
    origin = ConversationOrigin.objects.filter(**key).select_related("conversation").first()
    known = origin.conversation if origin else None
    if origin is None:
        known = Conversation.objects.filter(owner=target.owner, public_id=source_id).first()
    if origin or known:
        is_here = known is not None and known.deleted_at is None
        count = known.messages.count() if known and is_here else 0
        outcome = ImportOutcome("known", count, 0, known.pk) if known and is_here else ImportOutcome("deleted")
        return ReadFile(ImportedConversation(source_id, title, found=count), outcome)
    made = read_conversation(user=target.owner, scenario=target.scenario, lines=chain([first], lines))
    text_bytes = target.room.take_bytes(_text_bytes(made))
    ConversationOrigin.objects.create(
        **key, conversation=made, brought_by_id=target.import_id, item=number, text_bytes=text_bytes
    )
    count = made.messages.count()
    return ReadFile(ImportedConversation(source_id, title, found=count), ImportOutcome("new", count, count, made.pk))


def _text_bytes(conversation: Conversation) -> int:
    with connection.cursor() as cursor:
        cursor.execute(TEXT_BYTES, {"conversation": conversation.pk, "row": ROW_BYTES})
        return int(cursor.fetchone()[0])


def _lines(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of the file. Raises `InvalidHistory` for one that is longer than any of ours."""
    while line := file.readline(MOST_CHARACTERS + 1):
        if len(line) > MOST_CHARACTERS:
            raise InvalidHistory(reason="the file is not whole, or not one that this site has written")
        yield line.decode()
