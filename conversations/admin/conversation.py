"""Conversations: the list with what they cost, and each as a thread to read."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from conversations.admin.filters import ConversationStateFilter, SiteScenarioFilter, UsedLanguageModelFilter
from conversations.admin.labels import STATES
from conversations.admin.review import ReviewAdmin
from conversations.admin.thread import read_thread
from conversations.models import Conversation
from conversations.selectors.ledger import with_usage
from conversations.templatetags import figures


@admin.register(Conversation)
class ConversationAdmin(ReviewAdmin):
    list_display = ["name", "owner", "scenario", "messages", "tokens", "cost", "state", "last_active_at"]
    list_filter = [
        "last_active_at",
        ConversationStateFilter,
        UsedLanguageModelFilter,
        ("scenario", SiteScenarioFilter),
    ]
    search_fields = ["title", "owner__email"]
    search_help_text = "Title, owner's email address, or a conversation's public id"
    list_select_related = ["owner", "scenario"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        # The active path has no gaps, so its length is known without counting.
        queryset = super().get_queryset(request).defer("scenario__system_prompt")
        counted = queryset.annotate(message_count=F("head__position") + 1, head_state=F("head__state"))
        return with_usage(counted, of="conversation")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Conversation], search_term: str
    ) -> tuple[QuerySet[Conversation], bool]:
        try:
            public_id = uuid.UUID(search_term.strip())
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        return queryset.filter(public_id=public_id), False

    @display(description="title", ordering="title")
    def name(self, conversation: Conversation) -> SafeString:
        return format_html("<bdi>{}</bdi>", conversation)

    @display(ordering="message_count")
    def messages(self, conversation: Conversation) -> str:
        return figures.count(conversation.message_count or 0)

    @display(description="tokens in / out", ordering="input_tokens")
    def tokens(self, conversation: Conversation) -> str:
        return f"{figures.count(conversation.input_tokens)} / {figures.count(conversation.output_tokens)}"

    @display(ordering="cost_usd")
    def cost(self, conversation: Conversation) -> str:
        return figures.cost(conversation.cost_usd, conversation.unknown_costs)

    @display(label=STATES)
    def state(self, conversation: Conversation) -> str:
        if conversation.deleted_at:
            return "deleted"
        if conversation.archived:
            return "archived"
        return conversation.head_state or "empty"

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Conversation, **kwargs: Any
    ) -> HttpResponse:
        thread = read_thread(obj, head=(obj.message_count or 0) - 1, start=_position(request.GET.get("from", "")))
        return super().render_change_form(request, context | {"thread": thread}, *args, obj=obj, **kwargs)


def _position(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
