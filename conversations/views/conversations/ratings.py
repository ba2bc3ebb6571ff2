"""The view of a reply's rating: a form by itself, a press of a button, or the page's script."""

from __future__ import annotations

import uuid

from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from conversations.access import find_conversation
from conversations.core.errors import FrameError, RemarkTooLong
from conversations.models import Rating
from conversations.models.rating import MOST_REMARK_CHARACTERS, Verdict
from conversations.services.messages.rate_reply import find_rateable, rate_reply
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader

NO_VERDICT = "none"


@require_http_methods(["GET", "HEAD", "POST"])
@answers_errors()
def rating(request: HtmxRequest, public_id: uuid.UUID, reply_id: int) -> HttpResponse:
    """Rate a reply or remove its rating; before that, ask for both verdict and remark. A refused remark stays typed."""
    conversation = find_conversation(request.user, public_id)
    reply = find_rateable(conversation, reply_id)
    rated = Rating.objects.filter(reply=reply).first()
    context = {"conversation": conversation, "reply": reply, "rating": rated, "most": MOST_REMARK_CHARACTERS}
    if request.method != "POST":
        if wants_json(request):
            return _as_json(rated)
        return render(request, "conversations/rating.html", context | {"remark": rated.remark if rated else ""})
    verdict, remark = _verdict(request), request.POST.get("remark")
    try:
        stored = rate_reply(conversation=conversation, reply_id=reply.pk, verdict=verdict, remark=remark)
    except RemarkTooLong as refusal:
        if wants_json(request):
            raise
        error = error_sentence(refusal, request_reader(request))
        return render(request, "conversations/rating.html", context | {"remark": remark, "error": error}, status=400)
    if wants_json(request):
        return _as_json(stored)
    page = reverse("conversations:conversation", args=[public_id])
    return HttpResponseRedirect(f"{page}#message-{reply.pk}")


def _as_json(rated: Rating | None) -> JsonResponse:
    return JsonResponse({"verdict": rated.verdict if rated else NO_VERDICT, "remark": rated.remark if rated else ""})


def _verdict(request: HtmxRequest) -> Verdict | None:
    asked = request.POST.get("verdict", "")
    if asked == NO_VERDICT:
        return None
    if asked not in Verdict.values:
        raise FrameError("verdict")
    return Verdict(asked)
