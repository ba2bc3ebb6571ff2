"""Conversations: the list with what they cost, and each as a thread to read."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.filters import (
    ConversationStateFilter,
    RatedConversationFilter,
    SiteScenarioFilter,
    UsedLanguageModelFilter,
)
from conversations.admin.review.content_access import READ, content_access, open_reading_by_form, within_reading
from conversations.admin.review.conversation_export import csv_export, json_export
from conversations.admin.review.thread import read_thread
from conversations.admin.state_labels import STATE_COLOURS, STATE_LABELS
from conversations.models import Conversation, Picture, Rating, Reading, ReadWhat
from conversations.selectors.figures.own_usage import totals_of_conversation
from conversations.selectors.figures.usage_columns import BY_COST, BY_INPUT, UsageColumns, with_usage
from conversations.selectors.retention.holds import holds_on
from conversations.services.review.readings import log_step
from conversations.templatetags import figures
from conversations.views.pictures.pictures import picture_response

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class ListedColumns(UsageColumns):
        message_count: int | None
        head_state: str | None
        good: int
        bad: int

    ListedConversation = WithAnnotations[Conversation, ListedColumns]


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ["name", "owner", "scenario", "messages", "tokens", "cost", "ratings", "state", "last_active_at"]
    list_filter = [
        "last_active_at",
        ConversationStateFilter,
        UsedLanguageModelFilter,
        RatedConversationFilter,
        ("scenario", SiteScenarioFilter),
    ]
    search_fields = ["owner__email"]
    search_help_text = _("Owner’s email address, or the beginning of a conversation’s id")
    list_select_related = ["owner", "scenario"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        # The active path has no gaps, so its length is known without counting.
        queryset = super().get_queryset(request).defer("scenario__system_prompt")
        counted = queryset.annotate(message_count=F("head__position") + 1, head_state=F("head__state"))
        counted = counted.annotate(good=_rated("good"), bad=_rated("bad"))
        return with_usage(counted, of="conversation")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        ids = ids_that_begin_with(search_term)
        if ids is None:
            found: tuple[QuerySet[Conversation], bool] = super().get_search_results(request, queryset, search_term)
            return found
        return queryset.filter(public_id__range=ids), False

    @display(description=_("conversation"), ordering="pk")
    def name(self, conversation: ListedConversation) -> str:
        return str(conversation)

    @display(description=_("messages"), ordering="message_count")
    def messages(self, conversation: ListedConversation) -> str:
        return figures.count(conversation.message_count or 0)

    @display(description=_("tokens in / out"), ordering=BY_INPUT)
    def tokens(self, conversation: ListedConversation) -> str:
        return f"{figures.count(conversation.input_tokens)} / {figures.count(conversation.output_tokens)}"

    @display(description=_("cost"), ordering=BY_COST)
    def cost(self, conversation: ListedConversation) -> str:
        return figures.cost(conversation.cost_usd, conversation.unknown_costs)

    @display(description=_("good / bad"), ordering="bad")
    def ratings(self, conversation: ListedConversation) -> str | None:
        """How many of its replies the owner calls good, and how many bad."""
        if not conversation.good and not conversation.bad:
            return None
        return f"{figures.count(conversation.good)} / {figures.count(conversation.bad)}"

    @display(description=_("state"), label=STATE_COLOURS)
    def state(self, conversation: ListedConversation) -> tuple[str, str]:
        state = _state_of(conversation)
        return state, str(STATE_LABELS[state])

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: ListedConversation, **kwargs: Any
    ) -> HttpResponse:
        access = content_access(request, obj)
        start = _position(request.GET.get("from", ""))
        thread = read_thread(obj, head=(obj.message_count or 0) - 1, start=start, has_content=access.is_open)
        log_step(access.reading, ReadWhat.THREAD, f"{thread.first + 1} – {thread.last + 1}")
        context |= {"thread": thread, "access": access, "totals": totals_of_conversation(obj)}
        context |= {"holds": holds_on(obj), "may_hold": request.user.has_perm("conversations.add_legalhold")}
        response: HttpResponse = super().render_change_form(request, context, *args, obj=obj, **kwargs)
        return response

    def get_urls(self) -> list[URLPattern]:
        def to(view: Callable[..., HttpResponseBase], address: str, name: str) -> URLPattern:
            pattern: URLPattern = path(f"<int:pk>/{address}/", self.admin_site.admin_view(view), name=name)
            return pattern

        return [
            to(require_POST(self.read), "read", READ),
            to(require_GET(self.export_json), "export/json", "conversations_conversation_export_json"),
            to(require_GET(self.export_csv), "export/csv", "conversations_conversation_export_csv"),
            to(require_GET(self.picture), "pictures/<int:picture_id>", "conversations_conversation_picture"),
            *super().get_urls(),
        ]

    def read(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Open a reading, with a reason."""
        return open_reading_by_form(request, self._found(request, pk))

    def export_json(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        return self._export(request, pk, json_export, "json")

    def export_csv(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        return self._export(request, pk, csv_export, "csv")

    def _export(
        self, request: HttpRequest, pk: int, export: Callable[[Conversation], HttpResponseBase], kind: str
    ) -> HttpResponseBase:
        conversation = self._found(request, pk)

        def answer(reading: Reading | None) -> HttpResponseBase:
            log_step(reading, ReadWhat.EXPORT, kind)
            return export(conversation)

        return within_reading(request, conversation, answer)

    def picture(self, request: HttpRequest, pk: int, picture_id: int) -> HttpResponseBase:
        """Show a picture of the conversation, within a reading."""
        conversation = self._found(request, pk)

        def answer(reading: Reading | None) -> HttpResponseBase:
            picture = get_object_or_404(Picture, pk=picture_id, conversation=conversation)
            log_step(reading, ReadWhat.PICTURE, str(picture.pk))
            return picture_response(picture)

        return within_reading(request, conversation, answer)

    def _found(self, request: HttpRequest, pk: int) -> Conversation:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(Conversation.objects.select_related("owner"), pk=pk)  # who may go meanwhile


def ids_that_begin_with(text: str) -> tuple[uuid.UUID, uuid.UUID] | None:
    """Return the first and the last public id that begins with *text*; None if none can."""
    digits = text.strip().lower().replace("-", "")
    if not re.fullmatch("[0-9a-f]{6,32}", digits):
        return None
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))


def _rated(verdict: str) -> Coalesce:
    """Count the ratings of a conversation with that verdict."""
    ratings = Rating.objects.filter(reply__conversation=OuterRef("pk"), verdict=verdict).order_by()
    counted = ratings.values("reply__conversation").values_list(Count("pk"))
    return Coalesce(Subquery(counted), 0)


def _state_of(conversation: ListedConversation) -> str:
    if conversation.deleted_at:
        return "deleted"
    if conversation.archived:
        return "archived"
    return conversation.head_state or "empty"


def _position(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
