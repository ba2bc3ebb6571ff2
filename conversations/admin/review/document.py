"""Documents: kind, size and progress, without their content. Only their owners delete them.

The name of a file is content, too: it is shown in a reading of the document's conversation, and where the scenario is
the site's.
"""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.review.content_access import logged_access
from conversations.admin.state_labels import LINK_CLASS, STATE_COLOURS
from conversations.core.errors.stored_errors import sentence_for
from conversations.models import Document, ReadWhat
from conversations.templatetags import figures


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["shown_name", "place", "uploader", "kind", "size", "shown_state", "passages", "count", "created_at"]
    list_filter = ["created_at", "state", "kind", ("scenario", admin.EmptyFieldListFilter)]
    linked_lookups = ("conversation", "scenario")
    search_fields = ["uploader__email"]
    search_help_text = _("Email address of the person who added it")
    list_select_related = ["conversation", "scenario", "uploader"]
    ordering = ["-pk"]
    change_form_before_template = "admin/conversations/document/_content.html"
    fields = [
        *("shown_name", "place", "uploader", "size", "kind", "digest", "created_at"),
        *("state", "percent", "error", "ready_at", "passages", "count", "encoding", "search_language"),
        *("embedding_model", "embedded_count", "embedding_error", "worker", "lease_until", "attempt"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        rows: QuerySet[Document] = super().get_queryset(request).defer("scenario__system_prompt")
        return rows

    @display(description=_("name"), ordering="pk")
    def shown_name(self, document: Document) -> SafeString:
        """The number, unless the name is the site's, or the page is within a reading."""
        is_the_sites = document.scenario is not None and document.scenario.owner_id is None
        is_shown = is_the_sites or getattr(document, "is_read", False)
        return format_html("<bdi>{}</bdi>", document.name if is_shown else document)

    @display(description=pgettext_lazy("document", "of"))
    def place(self, document: Document) -> SafeString:
        """The conversation or the scenario that it is looked up for; a folder has no page here."""
        if document.folder_id:
            return format_html("{}", gettext("folder %(id)s") % {"id": document.folder_id})
        place = document.conversation or document.scenario
        kind = "conversation" if document.conversation else "scenario"
        url = reverse(f"admin:conversations_{kind}_change", args=[place.pk if place else None])
        return format_html('<a class="{}" href="{}"><bdi>{}</bdi></a>', LINK_CLASS, url, place)

    @display(description=_("size"), ordering="size_bytes")
    def size(self, document: Document) -> str:
        return filesizeformat(document.size_bytes)

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def shown_state(self, document: Document) -> tuple[str, str]:
        return document.state, document.get_state_display()

    @display(description=_("passages"), ordering="passage_count")
    def passages(self, document: Document) -> str:
        return figures.count(document.passage_count)

    @display(description=_("tokens"), ordering="tokens")
    def count(self, document: Document) -> str:
        return figures.count(document.tokens)

    @display(description=_("error"))
    def error(self, document: Document) -> str:
        return _sentence(document.error_code, document)

    @display(description=_("embedding error"))
    def embedding_error(self, document: Document) -> str:
        return _sentence(document.embedding_error_code, document)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Document, **kwargs: Any
    ) -> HttpResponse:
        if obj.conversation:
            access = logged_access(request, obj.conversation, ReadWhat.DOCUMENT, str(obj.pk))
            obj.is_read = access.is_open  # type: ignore[attr-defined]  # for `shown_name`, which is given no request
            context |= {"access": access}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response


def _sentence(code: str, document: Document) -> str:
    return sentence_for(code, document.error_params, translate=gettext) if code else ""
