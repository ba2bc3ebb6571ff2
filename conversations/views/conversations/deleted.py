"""Views of "Recently deleted": all of them, one of them, and removing one or all of them before their time."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from conversations.models import Conversation
from conversations.selectors.conversations.deleted_conversations import (
    find_deleted_conversation,
    gone_at,
    list_deleted_conversations,
)
from conversations.selectors.conversations.list_pages import DELETED, PageEnd
from conversations.services.conversations.conversations import remove_deleted_conversations
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

PER_PAGE = 50


@require_safe
@answers_errors()
def deleted(request: HtmxRequest) -> HttpResponse:
    """All that can be restored, and when each of them will be gone."""
    found = list_deleted_conversations(request.user, before=parameters.page_end(request), limit=PER_PAGE)
    context = {
        "rows": [_row(conversation) for conversation in found],
        "more": PageEnd.of(found, limit=PER_PAGE, by=DELETED),
        "days": settings.DELETED_CONVERSATION_DAYS,
    }
    return render(request, "conversations/recently_deleted.html", context)


@require_http_methods(["GET", "POST"])
@answers_errors()
def deleted_conversation(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Say of one that it is deleted, and offer to restore it; by POST remove it permanently."""
    conversation = find_deleted_conversation(request.user, public_id)
    if request.method == "POST":
        remove_deleted_conversations(request.user, public_id)
        messages.success(request, gettext("The conversation is permanently gone."))
        return redirect("conversations:deleted")
    return show_deleted(request, conversation)


def show_deleted(request: HtmxRequest, conversation: Conversation, *, status: int = 200) -> HttpResponse:
    """Show the page of one that is deleted, which has none of its words but the title."""
    return render(request, "conversations/deleted_conversation.html", {"row": _row(conversation)}, status=status)


@require_http_methods(["GET", "POST"])
@answers_errors()
def empty_deleted(request: HtmxRequest) -> HttpResponse:
    """Ask whether to remove all of them permanently, and do it."""
    if request.method == "POST":
        remove_deleted_conversations(request.user)
        messages.success(request, gettext("What was deleted is permanently gone."))
        return redirect("conversations:deleted")
    return render(request, "conversations/empty_deleted.html")


def _row(conversation: Conversation) -> dict[str, object]:
    return {"conversation": conversation, "gone_at": gone_at(conversation)}
