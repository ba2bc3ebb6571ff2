"""Readings: which reviewer has read which conversation, when, why and which pages. They can't be edited or deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.review.content_search import SEARCH, search_content
from conversations.admin.review.reading_filters import OwnerFilter, ReadKindFilter, ReviewerFilter
from conversations.admin.state_labels import LINK_CLASS
from conversations.models import Reading
from conversations.models.conversation import short_id
from conversations.templatetags import figures

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class ListedColumns(TypedDict):
        step_count: int

    ListedReading = WithAnnotations[Reading, ListedColumns]


@admin.register(Reading)
class ReadingAdmin(ReadOnlyAdmin):
    list_display = ["began_at", "reviewer_email", "what", "owner", "reason", "pages"]
    list_filter = ["began_at", ReviewerFilter, OwnerFilter, ReadKindFilter]
    linked_lookups = ("conversation",)
    search_fields = ["reviewer_email", "owner__email", "reason"]
    search_help_text = _("Email address of the reviewer or the owner, or words of the reason")
    list_select_related = ["conversation", "owner"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Reading]:
        rows: QuerySet[Reading] = super().get_queryset(request).annotate(step_count=Count("steps"))
        return rows

    @display(description=_("what"))
    def what(self, reading: Reading) -> SafeString | str:
        return what_was_read(reading)

    @display(description=_("pages"), ordering="step_count")
    def pages(self, reading: ListedReading) -> str:
        return figures.count(reading.step_count)

    def get_urls(self) -> list[URLPattern]:
        search = path("search/", self.admin_site.admin_view(search_content), name=SEARCH)
        return [search, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Reading, **kwargs: Any
    ) -> HttpResponse:
        context |= {"steps": obj.steps.all(), "what": what_was_read(obj)}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response


def what_was_read(reading: Reading) -> SafeString | str:
    """Return the conversation, with the way to it; or that all were searched, or that it is gone."""
    if reading.conversation_public_id is None:
        return gettext("a search of all conversations")
    if reading.conversation is None:
        number = short_id(reading.conversation_public_id)
        return gettext("Conversation %(id)s (deleted)") % {"id": number}
    url = reverse("admin:conversations_conversation_change", args=[reading.conversation.pk])
    return format_html('<a class="{}" href="{}">{}</a>', LINK_CLASS, url, reading.conversation)
