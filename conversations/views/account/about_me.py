"""Notes and recall: what users say about themselves, and where recall may look. The form of the account page, and its
answer.
"""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from conversations.core.errors import InputError
from conversations.services.conversations.notes import MOST_CHARACTERS, MOST_TOKENS, save_about_me
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader


@require_http_methods(["GET", "POST"])
@answers_errors()
def about_me(request: HtmxRequest) -> HttpResponse:
    """Save it and lead back to the account page. What can't be saved is shown again as it was typed."""
    text, error = request.user.about_me, ""
    recalls = request.user.recalls_other_conversations
    if request.method == "POST":
        text = request.POST.get("about_me", "")
        if asks_recall := "asks_recall" in request.POST:  # else the form is of a page from before the question
            recalls = "recalls_other_conversations" in request.POST
        try:
            save_about_me(request.user, text, recalls_other_conversations=recalls if asks_recall else None)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
        else:
            messages.success(request, _("Saved."))
            return redirect(f"{reverse('account')}#about-me")
    context = {
        "text": text,
        "recalls": recalls,
        "error": error,
        "most_characters": MOST_CHARACTERS,
        "most_tokens": MOST_TOKENS,
    }
    return render(request, "account/about_me.html", context, status=400 if error else 200)
