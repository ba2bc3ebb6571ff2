"""Views of “What the model saw”: the window of a reply, its sources, and the request itself as it was sent."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from conversations.access import find_conversation, find_reply
from conversations.selectors.conversations.never_recalled import list_never_recalled
from conversations.selectors.conversations.sent_request import sent_request
from conversations.selectors.conversations.sources import sources_of_reply
from conversations.selectors.conversations.window import SentWindow, sent_window
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import request_reader

from .sources_summary import summarize_sources
from .summary_context import summary_view
from .window_context import window_context

IS_EXACT_HEADER = "X-Is-Exact"


@require_GET
@answers_errors()
def window(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """What the language model saw when it made a reply."""
    sent = _sent_window(request, public_id, reply_id)
    reader = request_reader(request)
    context = {
        "public_id": public_id,
        "sent": sent,
        "completion": sent.completion,
        "is_exact": sent_request(sent.completion).is_exact,
        "sources_summary": summarize_sources(sent.view.record.grounding, reader),
        "kept_summary": summary_view(sent.reply.conversation, reader),
        "never_recalled_list": list_never_recalled(sent.reply.conversation),
        **window_context(sent.view),
    }
    return render(request, "conversations/_sent_window.html" if request.htmx else "conversations/window.html", context)


@require_GET
@answers_errors()
def request_body(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """The JSON body of a request, as it was sent. Its header and its file's name say if it is that no more."""
    sent = _sent_window(request, public_id, reply_id)
    rebuilt = sent_request(sent.completion)
    response = JsonResponse(dict(rebuilt.body), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response[IS_EXACT_HEADER] = "yes" if rebuilt.is_exact else "no"
    name = f"request-{sent.completion.pk}{'' if rebuilt.is_exact else '-not-as-sent'}.json"
    response["Content-Disposition"] = f'inline; filename="{name}"'
    return response


@require_GET
@answers_errors()
def sources(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """The passages that were looked up for a reply: those it was sent, what was cut of them, and those left out."""
    reply = find_reply(find_conversation(request.user, public_id), reply_id)
    found = sources_of_reply(reply)
    sources_summary = summarize_sources(found.record, request_reader(request))
    context = {"public_id": public_id, "sources": found, "sources_summary": sources_summary}
    return render(request, "conversations/_passages.html" if request.htmx else "conversations/sources.html", context)


def _sent_window(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> SentWindow:
    """Return the window of the reply's last request, or of the one with the number in the query."""
    reply = find_reply(find_conversation(request.user, public_id), reply_id)
    return sent_window(reply, number=parameters.position(request, "number"))
