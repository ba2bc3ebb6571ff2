"""Views of a user's saved prompts: a page with all of them, a form for one, and one as data for the composer."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from chatsite.names import isolate_name
from conversations.core.errors import InputError
from conversations.models import SavedPrompt
from conversations.services.saved_prompts.saved_prompts import (
    MOST_CHARACTERS,
    MOST_NAME_CHARACTERS,
    MOST_PROMPTS,
    change_prompt,
    find_saved_prompt,
    save_prompt,
)
from conversations.views.http.errors import answers_errors, wants_json
from conversations.views.http.htmx_request import HtmxRequest
from conversations.wording.error_sentences import error_sentence, request_reader


@require_GET
@answers_errors()
def saved_prompts(request: HtmxRequest) -> HttpResponse:
    context = {"prompts": request.user.saved_prompts.all(), "most_prompts": MOST_PROMPTS}
    return render(request, "account/saved_prompts.html", context)


@require_http_methods(["GET", "POST"])
@answers_errors()
def new(request: HtmxRequest) -> HttpResponse:
    """Ask for a name and a text: in a dialog that leaves the page as it is, or on a page that leads to all of them."""
    return _form(request, None)


@require_http_methods(["GET", "POST"])
@answers_errors()
def edit(request: HtmxRequest, prompt_id: int) -> HttpResponse:
    """Ask for another name and text; a script gets both as data."""
    prompt = find_saved_prompt(request.user, prompt_id)
    if wants_json(request) and request.method == "GET":
        return JsonResponse({"name": prompt.name, "content": prompt.content})
    return _form(request, prompt)


def _form(request: HtmxRequest, prompt: SavedPrompt | None) -> HttpResponse:
    """What can't be saved is shown again as it was typed."""
    typed = {"name": prompt.name if prompt else "", "content": prompt.content if prompt else ""}
    error = ""
    if request.method == "POST":
        typed = {name: request.POST.get(name, "") for name in typed}
        try:
            change_prompt(prompt, **typed) if prompt else save_prompt(request.user, **typed)
        except InputError as refusal:
            error = error_sentence(refusal, request_reader(request))
        else:
            return _saved(request)
    limits = {"most_name_characters": MOST_NAME_CHARACTERS, "most_characters": MOST_CHARACTERS}
    context = {"prompt": prompt, **typed, **limits, "error": error}
    template = "account/_saved_prompt.html" if request.htmx else "account/saved_prompt.html"
    return render(request, template, context, status=400 if error and not request.htmx else 200)


def _saved(request: HtmxRequest) -> HttpResponse:
    if request.htmx:
        return trigger_client_event(HttpResponse(status=204), "promptSaved", {})
    messages.success(request, _("Saved."))
    return redirect("conversations:saved_prompts")


@require_POST
@answers_errors()
def delete(request: HtmxRequest, prompt_id: int) -> HttpResponse:
    prompt = find_saved_prompt(request.user, prompt_id)
    prompt.delete()
    messages.success(request, _("“%(name)s” is deleted.") % {"name": isolate_name(prompt.name)})
    return redirect("conversations:saved_prompts")
