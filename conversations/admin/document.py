"""Documents: what each is and how far it has come, without a word of it. They are their owners' to delete."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from conversations.admin.labels import LINK, STATES
from conversations.admin.review import ReviewAdmin
from conversations.core.stored_errors import sentence_for
from conversations.models import Document
from conversations.templatetags import figures


@admin.register(Document)
class DocumentAdmin(ReviewAdmin):
    list_display = ["shown_name", "place", "uploader", "kind", "size", "shown_state", "passages", "count", "created_at"]
    list_filter = ["created_at", "state", "kind", ("scenario", admin.EmptyFieldListFilter)]
    search_fields = ["name", "uploader__email", "scenario__name"]
    search_help_text = "Name, the email address of whoever added it, or the scenario's name"
    list_select_related = ["conversation", "scenario", "uploader"]
    ordering = ["-pk"]
    fields = [
        *("shown_name", "place", "uploader", "size", "kind", "digest", "created_at"),
        *("shown_state", "percent", "error", "ready_at", "passages", "count", "encoding", "search_language"),
        *("embedding_model", "embedded_count", "embedding_error", "worker", "lease_until", "attempt"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        return super().get_queryset(request).defer("scenario__system_prompt")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in ("conversation", "scenario") or super().lookup_allowed(lookup, value, request)

    @display(description="name", ordering="name")
    def shown_name(self, document: Document) -> SafeString:
        return format_html("<bdi>{}</bdi>", document.name)

    @display(description="of")
    def place(self, document: Document) -> SafeString:
        """The conversation or the scenario that it is looked up for."""
        place = document.conversation or document.scenario
        kind = "conversation" if document.conversation else "scenario"
        url = reverse(f"admin:conversations_{kind}_change", args=[place.pk if place else None])
        return format_html('{} <a class="{}" href="{}"><bdi>{}</bdi></a>', kind, LINK, url, place)

    @display(ordering="size_bytes")
    def size(self, document: Document) -> str:
        return filesizeformat(document.size_bytes)

    @display(description="state", ordering="state", label=STATES)
    def shown_state(self, document: Document) -> str:
        return document.state

    @display(ordering="passage_count")
    def passages(self, document: Document) -> str:
        return figures.count(document.passage_count)

    @display(description="tokens", ordering="tokens")
    def count(self, document: Document) -> str:
        return figures.count(document.tokens)

    def error(self, document: Document) -> str:
        return _sentence(document.error_code, document)

    def embedding_error(self, document: Document) -> str:
        return _sentence(document.embedding_error_code, document)


def _sentence(code: str, document: Document) -> str:
    return sentence_for(code, document.error_params) if code else ""
