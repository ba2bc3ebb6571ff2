"""The view that branches a conversation and leads to the branch."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from conversations.access import find_conversation
from conversations.services.portability.branch_conversation import branch_conversation
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest


@require_POST
@answers_errors()
def branch(request: HtmxRequest, public_id: uuid.UUID, message_id: int) -> HttpResponse:
    """Copy a conversation up to a message, and open the copy."""
    conversation = find_conversation(request.user, public_id)
    copy = branch_conversation(user=request.user, conversation=conversation, message_id=message_id)
    messages.success(request, _("A copy up to there. The conversation that it comes from stays as it is."))
    return redirect("conversations:conversation", copy.public_id)
