"""Messages: every stored row, also those of branches that are no longer shown."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Case, QuerySet, TextField, Value, When
from django.db.models.functions import Concat, Left, Length
from django.db.models.lookups import GreaterThan
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from conversations.admin.labels import STATES
from conversations.admin.review import ReviewAdmin
from conversations.admin.thread import show_messages
from conversations.models import Message
from conversations.templatetags import figures

MOST_NEIGHBOURS = 50
FIRST_CHARACTERS = 80
_BEGINNING = Case(
    When(
        GreaterThan(Length(Left("content", FIRST_CHARACTERS + 1)), FIRST_CHARACTERS),
        then=Concat(Left("content", FIRST_CHARACTERS), Value("…"), output_field=TextField()),
    ),
    default="content",
    output_field=TextField(),
)


@admin.register(Message)
class MessageAdmin(ReviewAdmin):
    list_display = ["beginning", "role", "owner", "conversation", "position", "tokens", "shown_state", "created_at"]
    list_filter = ["created_at", "role", "state", "active", "pinned", "excluded"]
    search_fields = ["content", "conversation__title", "conversation__owner__email"]
    search_help_text = "Words of the content, the conversation's title or its owner's email address"
    list_select_related = ["conversation__owner"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        queryset = super().get_queryset(request).defer("content", "grounding", "tool_calls")
        return queryset.annotate(first_characters=_BEGINNING)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in ("conversation", "parent") or super().lookup_allowed(lookup, value, request)

    @display(description="message")
    def beginning(self, message: Message) -> SafeString:
        return format_html("<bdi>{}</bdi>", " ".join(message.first_characters.split()) or "(empty)")

    @display(ordering="conversation__owner__email")
    def owner(self, message: Message) -> str:
        return message.conversation.owner.email

    @display(description="tokens + grounding", ordering="content_tokens")
    def tokens(self, message: Message) -> str:
        grounding = f" + {figures.count(message.grounding_tokens)}" if message.grounding_tokens else ""
        return figures.count(message.content_tokens) + grounding

    @display(description="state", ordering="state", label=STATES)
    def shown_state(self, message: Message) -> str | tuple[str, str]:
        return message.state if message.active else (message.state, f"{message.state}, other branch")

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Message, **kwargs: Any
    ) -> HttpResponse:
        (shown,) = show_messages(Message.objects.filter(pk=obj.pk))
        beside = Message.objects.filter(conversation=obj.conversation_id, parent=obj.parent_id).exclude(pk=obj.pk)
        neighbours = {
            "shown": shown,
            "versions": _briefly(beside),
            "answers": _briefly(Message.objects.filter(parent=obj.pk)),
        }
        return super().render_change_form(request, context | neighbours, *args, obj=obj, **kwargs)


def _briefly(messages: QuerySet[Message]) -> QuerySet[Message]:
    brief = messages.only("role", "state", "active", "created_at").annotate(first_characters=_BEGINNING)
    return brief.order_by("pk")[:MOST_NEIGHBOURS]
