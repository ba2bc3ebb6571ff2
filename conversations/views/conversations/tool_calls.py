"""Views of a reply's tool calls: allow or refuse one that awaits approval, and show a result in full."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_POST

from conversations.access import find_call, find_conversation
from conversations.selectors.conversations.tool_calls import whole_result
from conversations.services.replies.approve_tool_call import decide_call
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.views.http.inert_policy import INERT


@require_POST
@answers_errors()
def decide(request: HtmxRequest, public_id: uuid.UUID, call_id: int) -> HttpResponse:
    """Store the user's decision about the call that they have seen, which the form's digest names."""
    call = decide_call(
        conversation=find_conversation(request.user, public_id),
        call_id=call_id,
        digest=request.POST.get("digest", ""),
        allowed=parameters.is_yes(request, "allowed"),
    )
    if wants_json(request):
        return JsonResponse({"call": call.pk, "state": call.state})
    # Without a fragment: browsers do not refresh an address that has one.
    return redirect("conversations:conversation", public_id)


@require_GET
@answers_errors()
def result(request: HtmxRequest, public_id: uuid.UUID, call_id: int) -> HttpResponse:
    """The whole result of a call, of which the page shows the beginning: a text to be saved, whatever is in it."""
    call = find_call(find_conversation(request.user, public_id), call_id)
    response = HttpResponse(whole_result(call), content_type="text/plain; charset=utf-8")
    # The tool's name is what a language model wrote, so the file is called by the number alone.
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=f"result-{call.pk}.txt")
    response["Content-Security-Policy"] = INERT
    return response
