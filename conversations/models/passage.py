"""Passages: the pieces of a document that are searched, cited and sent."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField


class Passage(models.Model):
    """A piece of a document that is looked up, sent and cited; the last that is sent may be truncated at a sentence.

    *number* is its place in the document, from 0; *heading* the path of headings that it stands under, joined by “ › ”.
    *tokens* are those of *text* in the document's encoding. *search* holds the lexemes of both, the heading's with
    weight A. *embedding* has as many dimensions as the document's embedding model makes; without an approximate index,
    because a search reads the passages of a few documents only, and exactly.
    """

    document = models.ForeignKey("conversations.Document", on_delete=models.CASCADE, related_name="passages")
    number = models.PositiveIntegerField()
    heading = models.TextField(blank=True)
    text = models.TextField()
    tokens = models.PositiveIntegerField()
    search = SearchVectorField()
    embedding = VectorField(null=True)

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        ordering = ["document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="passage_number")]
        indexes = [
            GinIndex(fields=["search"], name="passage_search"),
            models.Index(fields=["document", "number"], condition=models.Q(embedding=None), name="passage_to_embed"),
        ]

    def __str__(self) -> str:
        words = {"number": self.number, "document": self.document_id}
        return gettext("passage %(number)s of document %(document)s") % words
