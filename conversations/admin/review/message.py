"""Messages: every stored row, also on branches that are no longer active. Their content is shown in a reading."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.base_admin import ReadOnlyAdmin
from conversations.admin.filters import RatingFilter
from conversations.admin.review.content_access import logged_access
from conversations.admin.review.thread import CONTENT_FIELDS, show_messages
from conversations.admin.state_labels import STATE_COLOURS
from conversations.models import Message, ReadWhat
from conversations.templatetags import figures

MOST_NEIGHBOURS = 50


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["id", "role", "owner", "conversation", "place", "tokens", "shown_state", "rated", "created_at"]
    list_filter = ["created_at", "role", "state", "active", "pinned", "excluded", RatingFilter]
    linked_lookups = ("conversation", "parent")
    search_fields = ["conversation__owner__email"]
    search_help_text = _("Email address of the conversation’s owner")
    list_select_related = ["conversation__owner", "rating"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        rows: QuerySet[Message] = super().get_queryset(request).defer(*CONTENT_FIELDS, "rating__remark")
        return rows

    @display(description=_("owner"), ordering="conversation__owner__email")
    def owner(self, message: Message) -> str:
        return message.conversation.owner.email

    @display(description=_("position"), ordering="position")
    def place(self, message: Message) -> str:
        """The position, counted from 1 as people do."""
        return figures.count(message.position + 1)

    @display(description=_("tokens + passages"), ordering="content_tokens")
    def tokens(self, message: Message) -> str:
        grounding = f" + {figures.count(message.grounding_tokens)}" if message.grounding_tokens else ""
        return figures.count(message.content_tokens) + grounding

    @display(description=_("state"), ordering="state", label=STATE_COLOURS)
    def shown_state(self, message: Message) -> tuple[str, str]:
        state = message.get_state_display()
        if message.active:
            return message.state, state
        return message.state, gettext("%(state)s, other branch") % {"state": state}

    @display(description=_("rating"), ordering="rating__verdict", label=STATE_COLOURS)
    def rated(self, message: Message) -> tuple[str, str] | None:
        """The owner's verdict, without the remark."""
        rating = getattr(message, "rating", None)
        return (rating.verdict, rating.get_verdict_display()) if rating else None

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Message, **kwargs: Any
    ) -> HttpResponse:
        access = logged_access(request, obj.conversation, ReadWhat.MESSAGE, str(obj.pk))
        (shown,) = show_messages(Message.objects.filter(pk=obj.pk), has_content=access.is_open)
        beside = Message.objects.filter(conversation=obj.conversation_id, parent=obj.parent_id, step_of=None)
        neighbours = {
            "access": access,
            "shown": shown,
            "versions": _briefly(beside.exclude(pk=obj.pk) if not obj.step_of_id else beside.none()),
            "steps": _briefly(Message.objects.filter(step_of=obj.pk)),
            "answers": _briefly(Message.objects.filter(parent=obj.pk, step_of=None)),
        }
        response: HttpResponse = super().render_change_form(request, context | neighbours, *args, obj=obj, **kwargs)
        return response


def _briefly(messages: QuerySet[Message]) -> QuerySet[Message]:
    return messages.only("role", "state", "active", "position", "created_at").order_by("pk")[:MOST_NEIGHBOURS]
