"""Views that set up, switch, rename, delete and restore a conversation."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget, trigger_client_event

from chatsite.names import isolate_name
from conversations.access import find_conversation
from conversations.core.errors import FrameError
from conversations.models.conversation import UNTITLED
from conversations.services.conversations.conversations import choose_scenario, rename_conversation, switch_web_search
from conversations.services.conversations.deletion import delete_conversation, restore_conversation
from conversations.services.retention.keep_conversations import keep_conversation
from conversations.views.conversation_list.listed_conversations import list_again
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest

from .messages import show_page_with_draft
from .page_context import page_context


@require_POST
@answers_errors()
def scenario(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Go on with another scenario."""
    conversation = find_conversation(request.user, public_id)
    if (scenario_id := parameters.scenario_id(request)) is None:
        raise FrameError("scenario")
    choose_scenario(conversation, user=request.user, scenario_id=scenario_id)
    return JsonResponse({}) if wants_json(request) else redirect("conversations:conversation", public_id)


@require_POST
@answers_errors(refuse=show_page_with_draft)
def web_search(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Switch the web search of a conversation. By a form, what was typed comes back with the page."""
    conversation = find_conversation(request.user, public_id)
    switch_web_search(conversation, searches_web=parameters.flag(request, "searches_web"))
    if wants_json(request):
        return JsonResponse({"searches_web": conversation.searches_web})
    if not (draft := parameters.content(request)):
        return redirect("conversations:conversation", public_id)
    return render(request, "conversations/conversation.html", page_context(request, conversation) | {"draft": draft})


@require_POST
@answers_errors(refuse=show_page_with_draft)
def keep(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Keep one that is temporary or deleted soon, and show it as any other, or go back to what else is deleted soon."""
    keep_conversation(find_conversation(request.user, public_id))
    if parameters.name(request, "back") == "soon":
        return redirect("conversations:deleted_soon")
    return redirect("conversations:conversation", public_id)


@require_http_methods(["GET", "POST"])
@answers_errors()
def rename(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Ask for the new title: in a dialog that leaves the page as it is, or on a page that leads to the conversation."""
    conversation = find_conversation(request.user, public_id)
    typed = conversation.title
    if request.method == "POST":
        typed = request.POST.get("title", "")
        if title := rename_conversation(conversation, title=typed):
            return _renamed(request, public_id, title)
    template = "conversations/_rename.html" if request.htmx else "conversations/rename.html"
    context = {
        "conversation": conversation,
        "typed": typed,
        "is_refused": request.method == "POST",
    }
    return render(request, template, context)


def _renamed(request: HtmxRequest, public_id: uuid.UUID, title: str) -> HttpResponse:
    """Render the list again, and send the page the title, for it may be its own."""
    if not request.htmx:
        return redirect("conversations:conversation", public_id)
    listed = render(request, "conversations/_list.html", {"listed": list_again(request)})
    renamed = {"conversation": str(public_id), "title": title}
    return trigger_client_event(retarget(reswap(listed, "outerHTML"), "#conversation-list"), "renamed", renamed)


@require_POST
@answers_errors()
def delete(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Take the conversation away and offer to bring it back. A page that shows it goes to a new one."""
    conversation = find_conversation(request.user, public_id)
    delete_conversation(conversation)
    text = gettext("“%(title)s” is deleted.") % {"title": isolate_name(conversation.title or gettext(UNTITLED))}
    messages.success(request, text, extra_tags=reverse("conversations:restore", args=[public_id]))
    current = parameters.optional_unique_id(request, "current")
    if not request.htmx:
        return redirect("conversations:new")
    if current == public_id:
        return HttpResponseClientRedirect(reverse("conversations:new"))
    return render(request, "conversations/changed_list.html", {"listed": list_again(request)})


@require_POST
@answers_errors()
def restore(request: HtmxRequest, public_id: uuid.UUID) -> HttpResponse:
    """Bring the conversation back, and lead to it: a script is told where it is."""
    conversation = restore_conversation(user=request.user, public_id=public_id)
    address = reverse("conversations:conversation", args=[conversation.public_id])
    if request.htmx:
        restored = {"conversation": str(public_id), "address": address}
        return trigger_client_event(HttpResponse(status=204), "restored", restored)
    if parameters.name(request, "back") == "deleted":
        words = gettext("“%(title)s” is back in the list.")
        messages.success(request, words % {"title": isolate_name(conversation.title or gettext(UNTITLED))})
        return redirect("conversations:deleted")
    return redirect(address)
