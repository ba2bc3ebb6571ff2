"""Views of "Recently deleted" and of what retention deletes soon.

All that were deleted, one of them, deleting one or all of them permanently; all that are deleted soon.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from conversations.selectors.conversations.deleted_conversations import (
    HeldConversation,
    find_deleted_conversation,
    gone_at,
    list_deleted_conversations,
)
from conversations.selectors.conversations.list_pages import DELETED, PageEnd
from conversations.selectors.retention.notices import list_deleted_soon
from conversations.services.conversations.deletion import delete_permanently
from conversations.services.retention.keep_conversations import keep_all_conversations
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

PER_PAGE = 50
MOST_SHOWN = 200  # of those that are deleted soon


@require_safe
@answers_errors()
def deleted(request: HtmxRequest) -> HttpResponse:
    """Recently deleted: what can be restored, and when each will be gone."""
    found = list_deleted_conversations(request.user, before=parameters.page_end(request), limit=PER_PAGE)
    more = PageEnd.of(found, limit=PER_PAGE, by=DELETED)
    context = {
        "rows": [_row(conversation) for conversation in found],
        "more": more,
        "may_delete_all": more or not all(conversation.is_held for conversation in found),
        "days": settings.DELETED_CONVERSATION_DAYS,
    }
    return render(request, "conversations/recently_deleted.html", context)


@require_http_methods(["GET", "POST"])
@answers_errors()
def deleted_conversation(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """A deleted conversation: say so, and offer to restore it; by POST delete it permanently."""
    conversation = find_deleted_conversation(request.user, public_id)
    if request.method == "POST":
        delete_permanently(request.user, public_id)
        messages.success(request, gettext("The conversation is permanently gone."))
        return redirect("conversations:deleted")
    return show_deleted(request, conversation)


def show_deleted(request: HtmxRequest, conversation: HeldConversation, *, status: int = 200) -> HttpResponse:
    """Show the page of one that is deleted, which has none of its words but the title."""
    return render(request, "conversations/deleted_conversation.html", {"row": _row(conversation)}, status=status)


@require_http_methods(["GET", "POST"])
@answers_errors()
def empty_deleted(request: HtmxRequest) -> HttpResponse:
    """Ask whether to delete all of them permanently, and do it."""
    if request.method == "POST":
        delete_permanently(request.user)
        words = gettext("What was deleted is permanently gone.")
        if list_deleted_conversations(request.user, limit=1):
            words = gettext("What was deleted is permanently gone, except for what a legal hold keeps.")
        messages.success(request, words)
        return redirect("conversations:deleted")
    return render(request, "conversations/empty_deleted.html")


@require_http_methods(["GET", "POST"])
@answers_errors()
def deleted_soon(request: HtmxRequest) -> HttpResponse:
    """Deleted soon: what retention deletes, the next one first, and when; by POST keep all of them."""
    if request.method == "POST":
        kept = keep_all_conversations(request.user)
        words = ngettext("%(count)d conversation is kept.", "%(count)d conversations are kept.", kept)
        messages.success(request, words % {"count": kept})
        return redirect("conversations:deleted_soon")
    found = list_deleted_soon(request.user, limit=MOST_SHOWN + 1)
    context = {
        "conversations": found[:MOST_SHOWN],
        "is_cut": len(found) > MOST_SHOWN,
        "days": settings.DELETED_CONVERSATION_DAYS,
    }
    return render(request, "conversations/deleted_soon.html", context)


def _row(conversation: HeldConversation) -> dict[str, object]:
    return {"conversation": conversation, "gone_at": gone_at(conversation), "is_held": conversation.is_held}
