"""Copies of rows for another conversation, made by the database: of messages, pictures, files, passages and tool calls.

Branches and continued shares are made by it: a path may have 100,000 messages. In its SQL, `original` is the row that
is copied, `%(source)s` the conversation that it is of, and `%(copy)s` the one that its copy is of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import Model

from conversations.live.fanout import MESSAGES, publish
from conversations.models import Conversation, PathChange, PictureFile


@dataclass(frozen=True, slots=True)
class RowCopy:
    """Which rows of a table are copied, and what each column of a copy is.

    *copied* are the columns that are as in the original, *given* those that an SQL expression gives. Together they are
    all but an id that the table's sequence gives: a test finds a column that neither names. *rows* is the FROM clause,
    *before* are the common tables (WITH) that it needs.
    """

    model: type[Model]
    copied: tuple[str, ...]
    given: Mapping[str, str]
    rows: str
    before: str = ""

    def run(self, values: Mapping[str, Any]) -> None:
        """Copy the rows. *values* are those that the SQL names, as `%(copy)s`."""
        with connection.cursor() as cursor:
            cursor.execute(self._statement(), values)

    def _statement(self) -> str:
        names = [connection.ops.quote_name(name) for name in (*self.copied, *self.given)]
        copied = [f"original.{name}" for name in names[: len(self.copied)]]
        table = connection.ops.quote_name(self.model._meta.db_table)
        return (
            f"{self.before} INSERT INTO {table} ({', '.join(names)}) "  # noqa: S608  # names and SQL of our own
            f"SELECT {', '.join((*copied, *self.given.values()))} FROM {self.rows}"
        )


def file_copy(model: type[Model], owner: str) -> RowCopy:
    """Return the copy of the files of pictures or documents: *owner* is the table that they are the files of.

    What a file is of is the same in both conversations where its digest is: each is once in a conversation.
    """
    return RowCopy(
        model,
        ("content",),
        {f"{owner}_id": "copy.id"},
        f"{model._meta.db_table} AS original " + join_copies(owner, f"original.{owner}_id"),
    )


def join_copies(owner: str, original_id: str) -> str:
    """Return the joins from a picture or document of the source, by its id, to its `copy`."""
    return (
        f"JOIN conversations_{owner} AS source ON source.id = {original_id} AND source.conversation_id = %(source)s "
        f"JOIN conversations_{owner} AS copy ON copy.digest = source.digest AND copy.conversation_id = %(copy)s"
    )


# The columns of a picture that its copy has from it wherever it goes.
PICTURE_COLUMNS = ("digest", "media_type", "width", "height", "size_bytes", "alt_text")
PICTURE_FILES = file_copy(PictureFile, "picture")
# What `picture_ids` of a copied message are: its own conversation's copies, in their order.
COPIED_PICTURE_IDS = f"""ARRAY(
    SELECT copy.id FROM unnest(original.picture_ids) WITH ORDINALITY AS named(id, place)
    {join_copies("picture", "named.id")}
    ORDER BY named.place
  )"""  # noqa: S608  # names of our own


def show_copied_path(conversation: Conversation) -> None:
    """Let the conversation, into which a path was just copied, end with its last message, and have it indexed."""
    PathChange.objects.create(conversation=conversation, position=0)
    conversation.head = conversation.messages.filter(active=True).order_by("-position").first()
    conversation.has_pins = conversation.messages.filter(pinned=True).exists()
    conversation.save(update_fields=["head", "has_pins"])
    transaction.on_commit(partial(publish, MESSAGES, "stored"))
