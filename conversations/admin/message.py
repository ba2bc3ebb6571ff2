"""Messages: every stored row, also those of branches that are no longer shown. Their words are shown in a reading."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from conversations.admin.content_access import words_for_page
from conversations.admin.review import ReviewAdmin
from conversations.admin.state_colours import STATES
from conversations.admin.thread import WORDS, show_messages
from conversations.models import Message, ReadWhat
from conversations.templatetags import figures

MOST_NEIGHBOURS = 50


@admin.register(Message)
class MessageAdmin(ReviewAdmin):
    list_display = ["id", "role", "owner", "conversation", "place", "tokens", "shown_state", "created_at"]
    list_filter = ["created_at", "role", "state", "active", "pinned", "excluded"]
    linked_lookups = ("conversation", "parent")
    search_fields = ["conversation__owner__email"]
    search_help_text = _("The email address of the conversation's owner")
    list_select_related = ["conversation__owner"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        return super().get_queryset(request).defer(*WORDS)

    @display(description=_("owner"), ordering="conversation__owner__email")
    def owner(self, message: Message) -> str:
        return message.conversation.owner.email

    @display(description=_("position"), ordering="position")
    def place(self, message: Message) -> str:
        """Where it stands, counted from 1 as people do."""
        return figures.count(message.position + 1)

    @display(description=_("tokens + grounding"), ordering="content_tokens")
    def tokens(self, message: Message) -> str:
        grounding = f" + {figures.count(message.grounding_tokens)}" if message.grounding_tokens else ""
        return figures.count(message.content_tokens) + grounding

    @display(description=_("state"), ordering="state", label=STATES)
    def shown_state(self, message: Message) -> tuple[str, str]:
        state = message.get_state_display()
        if message.active:
            return message.state, state
        return message.state, gettext("%(state)s, other branch") % {"state": state}

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, obj: Message, **kwargs: Any
    ) -> HttpResponse:
        words = words_for_page(request, obj.conversation, ReadWhat.MESSAGE, str(obj.pk))
        (shown,) = show_messages(Message.objects.filter(pk=obj.pk), has_words=words.are_shown)
        beside = Message.objects.filter(conversation=obj.conversation_id, parent=obj.parent_id, step_of=None)
        neighbours = {
            "words": words,
            "shown": shown,
            "versions": _briefly(beside.exclude(pk=obj.pk) if not obj.step_of_id else beside.none()),
            "steps": _briefly(Message.objects.filter(step_of=obj.pk)),
            "answers": _briefly(Message.objects.filter(parent=obj.pk, step_of=None)),
        }
        return super().render_change_form(request, context | neighbours, *args, obj=obj, **kwargs)


def _briefly(messages: QuerySet[Message]) -> QuerySet[Message]:
    return messages.only("role", "state", "active", "position", "created_at").order_by("pk")[:MOST_NEIGHBOURS]
