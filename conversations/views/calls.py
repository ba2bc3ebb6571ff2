"""Allowing a tool call that asks, or not: by a form, or by a page without a socket."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from conversations.access import find_conversation
from conversations.services.decide_call import decide_call

from . import parameters
from .errors import answers_errors, wants_json
from .requests import PersonRequest


@require_POST
@answers_errors()
def decide(request: PersonRequest, public_id: uuid.UUID, call_id: int) -> HttpResponse:
    """Store what the person says to the call that they have seen, which the form's digest names."""
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
