"""Imports: exports of other chat programs that a user brings along, with their files until they are read.

And where each conversation and message that came so is from, so that a second import adds only what is new.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.core.imports.imported import MOST_ID_CHARACTERS

MOST_FORMAT_CHARACTERS = 20


class ImportState(models.TextChoices):
    """An import ends in exactly one of the last three. One that is paused goes on when its owner says so."""

    UPLOADING = "uploading"
    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    CANCELLED = "cancelled"
    FAILED = "failed"


HAVE_ENDED = (ImportState.ENDED, ImportState.CANCELLED, ImportState.FAILED)


class ConversationImport(models.Model):
    """An import of one or several files of an export. A worker claims it, and goes on where another one stopped.

    *items* of the export are done, which have *read_bytes* of about *total_bytes*. *report* is what they came to: see
    `services.imports.import_report`. New conversations begin with the *scenario*, or with the default. A worker obeys
    *is_cancelled* and *is_pausing* behind its present batch.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imports")
    scenario = models.ForeignKey("conversations.Scenario", on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=10, choices=ImportState, default=ImportState.UPLOADING)
    is_cancelled = models.BooleanField(default=False)
    is_pausing = models.BooleanField(default=False)
    items = models.PositiveIntegerField(default=0)
    total_bytes = models.BigIntegerField(default=0)
    read_bytes = models.BigIntegerField(default=0)
    report = models.JSONField(default=dict)
    error_code = models.CharField(max_length=50, blank=True)
    worker = models.CharField(max_length=100, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(state="running") | Q(lease_until__isnull=False), name="import_running_has_a_lease"
            ),
            # One after the other: two at once would each take the other's conversations for new.
            models.UniqueConstraint(fields=["owner"], condition=Q(state="running"), name="import_one_running_of_owner"),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=["waiting", "running"]), name="import_to_do"),
        ]

    def __str__(self) -> str:
        return f"import {self.pk}: {self.state}"

    @property
    def has_ended(self) -> bool:
        return self.state in HAVE_ENDED


class ImportFile(models.Model):
    """A file of an import: *received_bytes* of *size_bytes* are here, in pieces, until the import has ended.

    *digest* is the SHA-256 of that before the last piece, and the piece: by it a client knows its file again.
    """

    of_import = models.ForeignKey(ConversationImport, on_delete=models.CASCADE, related_name="files")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=255)
    size_bytes = models.BigIntegerField()
    received_bytes = models.BigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["of_import", "number"], name="import_file_number")]

    def __str__(self) -> str:
        return f"file {self.number} of import {self.of_import_id}"

    @property
    def is_whole(self) -> bool:
        return self.received_bytes >= self.size_bytes


class ImportPiece(models.Model):
    """The bytes of a file from *start* on: in the database, where each worker finds them, and gone with the file."""

    file = models.ForeignKey(ImportFile, on_delete=models.CASCADE, related_name="pieces", db_index=False)
    start = models.BigIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "start"], name="import_piece_start")]

    def __str__(self) -> str:
        return f"bytes from {self.start} on of file {self.file_id}"


class ConversationOrigin(models.Model):
    """Where an imported conversation is from: its *source_id* in an export of *format*, once for each owner.

    It stays when the conversation is deleted, which is then not brought back. *brought_by* is the import that added
    it, as its item *item*; *text_bytes* are those of all text that imports have added to it.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    format = models.CharField(max_length=MOST_FORMAT_CHARACTERS)
    source_id = models.CharField(max_length=MOST_ID_CHARACTERS)
    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.SET_NULL, null=True, related_name="origins"
    )
    brought_by = models.ForeignKey(ConversationImport, on_delete=models.SET_NULL, null=True, related_name="brought")
    item = models.PositiveIntegerField(default=0)
    text_bytes = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "format", "source_id"], name="conversation_origin_once"),
        ]

    def __str__(self) -> str:
        return f"{self.format}: {self.conversation_id}"


class MessageOrigin(models.Model):
    """Which message a node of an export became: several may be one message. It goes with its conversation."""

    conversation = models.ForeignKey(
        "conversations.Conversation", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    source_id = models.CharField(max_length=MOST_ID_CHARACTERS)
    # Messages are deleted only with their conversation, and so is this: nothing has to look for it by its message.
    message = models.ForeignKey(
        "conversations.Message", on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "source_id"], name="message_origin_once"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.message_id}"
