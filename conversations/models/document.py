"""Documents that passages are looked up in, and the bytes of their files."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.core.errors import DocumentError, DocumentParsingInterrupted, DocumentTooCostly

from .conversation import short_id

# What may not be the file's fault: it took too long on a busy machine, say.
WORTH_READING_AGAIN = [kind.code for kind in (DocumentParsingInterrupted, DocumentTooCostly, DocumentError)]


class DocumentKind(models.TextChoices):
    """The kind of a file, decided by its content. *records* are a JSON list of which each member is one passage."""

    PDF = "pdf", "PDF"
    DOCX = "docx", "DOCX"
    MARKDOWN = "markdown", "Markdown"
    HTML = "html", "HTML"
    TEXT = "text", _("text")
    CSV = "csv", "CSV"
    JSON = "json", "JSON"
    RECORDS = "records", _("JSON records")


class DocumentState(models.TextChoices):
    """A document is read once. When it is ready it is found by its words, and by meaning as embeddings come."""

    WAITING = "waiting", _("Waiting")
    PARSING = "parsing", _("Reading")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")


class Document(models.Model):
    """A file that people brought, to be looked up in: of one conversation, or of all in a folder or with a scenario.

    *kind* is blank until it has been read. *percent* tells how much of it has been read. *tokens* are those of all its
    passages, counted in *encoding*. A worker holds it by a lease, while it reads and while it asks for embeddings.

    *skipped_parts* counts the parts that were not read: `pictures`, `pages`, `comments`.

    *embedding_model* is the one whose vectors its passages have or are getting, blank where none is configured;
    *embedded_count* of *passage_count* passages have theirs. Where that has failed *embedding_error_code* says why, and
    the document is found by its words. *error_params* fill the sentence of whichever of the
    two codes there is: only what has been read gets embeddings.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.CASCADE,
        null=True,
        related_name="documents",
        verbose_name=_("conversation"),
    )
    scenario = models.ForeignKey(
        "conversations.Scenario",
        on_delete=models.CASCADE,
        null=True,
        related_name="documents",
        verbose_name=_("scenario"),
    )
    folder = models.ForeignKey(
        "conversations.Folder",
        on_delete=models.CASCADE,
        null=True,
        related_name="documents",
        verbose_name=_("folder"),
    )
    uploader = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="documents",
        verbose_name=_("uploader"),
    )
    name = models.CharField(_("name"), max_length=255)
    size_bytes = models.PositiveIntegerField(_("size bytes"))
    digest = models.CharField(_("digest"), max_length=64)  # SHA-256 of the file, in hexadecimal
    kind = models.CharField(_("kind"), max_length=10, choices=DocumentKind, blank=True)

    state = models.CharField(_("state"), max_length=8, choices=DocumentState, default=DocumentState.WAITING)
    percent = models.PositiveSmallIntegerField(_("percent"), default=0)
    error_code = models.CharField(max_length=50, blank=True)
    error_params = models.JSONField(default=dict)
    passage_count = models.PositiveIntegerField(_("passage count"), default=0)
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    skipped_parts = models.JSONField(default=dict)
    encoding = models.CharField(_("encoding"), max_length=50, blank=True)
    search_language = models.CharField(
        _("search language"), max_length=50, blank=True
    )  # a text search configuration of PostgreSQL

    embedding_model = models.CharField(_("embedding model"), max_length=200, blank=True)
    embedded_count = models.PositiveIntegerField(_("embedded count"), default=0)
    embedding_error_code = models.CharField(max_length=50, blank=True)

    worker = models.CharField(_("worker"), max_length=100, blank=True)
    lease_until = models.DateTimeField(_("lease until"), null=True)
    attempt = models.PositiveSmallIntegerField(_("attempt"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ready_at = models.DateTimeField(_("ready at"), null=True)

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(conversation=None, scenario__isnull=False, folder=None)
                | Q(conversation__isnull=False, scenario=None, folder=None)
                | Q(conversation=None, scenario=None, folder__isnull=False),
                name="document_of_one_place",
            ),
            # The same file sent again is the same document.
            models.UniqueConstraint(
                fields=["conversation", "digest"],
                condition=Q(conversation__isnull=False),
                name="document_once_in_conversation",
            ),
            models.UniqueConstraint(
                fields=["scenario", "digest"], condition=Q(scenario__isnull=False), name="document_once_in_scenario"
            ),
            models.UniqueConstraint(
                fields=["folder", "digest"], condition=Q(folder__isnull=False), name="document_once_in_folder"
            ),
            models.CheckConstraint(
                condition=~Q(state="parsing") | Q(lease_until__isnull=False), name="document_parsing_has_a_lease"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(state__in=["waiting", "parsing"]), name="document_to_parse"),
        ]

    def __str__(self) -> str:
        """Its number, not its name: the admin writes it on every page, also for who may not read it."""
        return gettext("Document %(id)s") % {"id": short_id(self.public_id)}

    @property
    def is_ready(self) -> bool:
        return self.state == DocumentState.READY

    @property
    def can_be_read_again(self) -> bool:
        """Whether another try may help: to read it, or to get the vectors that it lacks."""
        if self.state == DocumentState.FAILED:
            return self.error_code in WORTH_READING_AGAIN
        return self.is_ready and bool(self.embedding_error_code)


class DocumentFile(models.Model):
    """The bytes of a document, as they were sent: in the database, so that both come and go in one transaction."""

    document = models.OneToOneField(Document, on_delete=models.CASCADE, primary_key=True, related_name="file")
    content = models.BinaryField()

    class Meta:
        verbose_name = _("file of a document")
        verbose_name_plural = _("files of documents")

    def __str__(self) -> str:
        return gettext("file of document %(id)s") % {"id": self.pk}
