"""Views of a user's own scenarios: a list, a form, and their files. Those of the site can be copied, not edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from chatsite.names import isolate_name
from conversations.core.errors import ConversationError, ScenarioNotFound
from conversations.forms.scenario_forms import MATTERS_TO, ScenarioFileForm, ScenarioForm
from conversations.models import Scenario
from conversations.providers.catalog.language_models import default_language_model, language_models
from conversations.selectors.conversations.documents import documents_count
from conversations.selectors.conversations.scenarios import (
    find_own_scenario,
    find_scenario,
    list_own_scenarios,
    list_scenarios,
)
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.documents.upload_limits import count_upload
from conversations.services.language_models.model_context import model_context
from conversations.services.scenarios.scenario_file import problems_of, read_document, write_document
from conversations.services.scenarios.scenarios import check_there_is_room, copy_scenario, delete_scenario
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors, show_refusal, status_of
from conversations.views.http.htmx_request import HtmxRequest
from conversations.window_policies import policy_choices
from conversations.wording.error_sentences import error_sentence, request_reader

NAME_CHARACTERS = 80  # of the one copied, so that there is room to say so
# What the drawing of each policy shows; one of the site's own has none.
SLIDE_WORDS: Mapping[str, Promise] = {
    "sliding": gettext_lazy("When the window is full it slides once, and older messages then fill {percent} % of it."),
    "sliding-with-summary": gettext_lazy(
        "When the window is full it slides once, and older messages then fill {percent} % of it. A summary stands for "
        "what is out of view."
    ),
    "last-n-messages": gettext_lazy("The newest {messages} messages are sent, as far as they fit."),
    "full": gettext_lazy("Everything is sent. Once it no longer fits, nothing is: the next message is refused."),
}


def show_missing_scenario(request: HttpRequest, error: ConversationError, **kwargs: object) -> HttpResponse:
    """Another user's scenario is not found; neither is one of the site's where only one's own can be."""
    if isinstance(error, ScenarioNotFound):
        raise Http404 from error
    return show_refusal(request, error, **kwargs)


@require_GET
@answers_errors(refuse=show_missing_scenario)
def scenarios(request: HtmxRequest) -> HttpResponse:
    own = list_own_scenarios(request.user)
    offered = [scenario for scenario in list_scenarios(request.user) if scenario.owner_id != request.user.pk]
    context = {"own": list(map(_listed_scenario, own)), "offered": list(map(_listed_scenario, offered))}
    return render(request, "conversations/scenarios.html", context)


class ListedScenario(NamedTuple):
    scenario: Scenario
    language_model: str
    policy: str


def _listed_scenario(scenario: Scenario) -> ListedScenario:
    policy = policy_choices().get(scenario.policy_name, scenario.policy_name)
    return ListedScenario(scenario, model_context(scenario).configured.label, policy)


@require_http_methods(["GET", "POST"])
@answers_errors(refuse=show_missing_scenario)
def new(request: HtmxRequest) -> HttpResponse:
    """A new scenario; with one in the query it begins as a copy of that."""
    if (scenario_id := parameters.scenario_id(request)) is None:
        return _form_page(request, Scenario(owner=request.user))
    copied = find_scenario(request.user, scenario_id)
    instance = copy_scenario(request.user, copied)
    instance.name = gettext("%(name)s (copy)") % {"name": copied.shown_name[:NAME_CHARACTERS]}
    tools_left = len(copied.tools) - len(instance.tools)
    return _form_page(request, instance, documents_left=documents_count(copied), tools_left=tools_left)


@require_http_methods(["GET", "POST"])
@answers_errors(refuse=show_missing_scenario)
def edit(request: HtmxRequest, scenario_id: int) -> HttpResponse:
    """Locked while it is stored: what is deleted or taken meanwhile must not come back as it was."""
    with transaction.atomic():
        scenario = find_own_scenario(request.user, scenario_id, lock=request.method == "POST")
        return _form_page(request, scenario)


def _form_page(request: HtmxRequest, instance: Scenario, **beside: object) -> HttpResponse:
    """The form, with what was typed and what is wrong with it until there is nothing wrong."""
    form = ScenarioForm(request.POST if request.method == "POST" else None, instance=instance)
    if form.is_bound and form.is_valid():
        try:
            return _stored(request, form.instance)
        except ValidationError as error:
            form.add_error(None, error)
    title = Scenario.objects.get(pk=instance.pk).name if instance.pk else gettext("New scenario")
    context = {"form": form, "title": title, "matters_to": MATTERS_TO, **_drawn(form)} | beside
    return render(request, "conversations/scenario_form.html", context, status=400 if form.errors else 200)


def _drawn(form: ScenarioForm) -> dict[str, str]:
    """What the drawings of the form need: the windows of the models that can be chosen, and words for each policy."""
    names = [str(name) for name, _ in cast(Any, form.fields["language_model"]).choices]
    models = {name: (language_models().get(name) or default_language_model()).language_model for name in names}
    windows = {
        name: {"contextWindow": model.context_window_tokens, "replyReserve": model.reply_reserve_tokens}
        for name, model in models.items()
    }
    return {"models": json.dumps(windows), "slide_words": json.dumps(SLIDE_WORDS, cls=DjangoJSONEncoder)}


def _stored(request: HtmxRequest, scenario: Scenario) -> HttpResponse:
    """Raises a `ValidationError` if the user has too many already."""
    if not scenario.pk:
        check_there_is_room(request.user)
    scenario.save()
    messages.success(request, gettext("“%(name)s” is saved.") % {"name": isolate_name(scenario.shown_name)})
    return redirect("conversations:scenarios")


@require_http_methods(["GET", "POST"])
@answers_errors(refuse=show_missing_scenario)
def delete(request: HtmxRequest, scenario_id: int) -> HttpResponse:
    """Ask first, and with which scenario its conversations shall go on."""
    scenario = find_own_scenario(request.user, scenario_id)
    if request.method == "POST":
        delete_scenario(user=request.user, scenario_id=scenario_id, successor_id=parameters.scenario_id(request))
        messages.success(request, gettext("“%(name)s” is deleted.") % {"name": isolate_name(scenario.shown_name)})
        return redirect("conversations:scenarios")
    context = {
        "scenario": scenario,
        "used": scenario.conversations.filter(deleted_at=None).count(),
        "successors": [each for each in list_scenarios(request.user) if each != scenario],
        "default": default_scenario(),
    }
    return render(request, "conversations/scenario_delete.html", context)


@require_GET
@answers_errors(refuse=show_missing_scenario)
def export(request: HtmxRequest, scenario_id: int) -> HttpResponse:
    """The scenario's file."""
    scenario = find_scenario(request.user, scenario_id)
    response = HttpResponse(write_document(scenario), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slugify(scenario.name) or "scenario"}.json"'
    return response


def show_refused_file(request: HttpRequest, error: ConversationError) -> HttpResponse:
    """The file is not looked at, and text that was typed beside it stays."""
    form = ScenarioFileForm(initial={"text": request.POST.get("text", "")})
    return _file_page(request, form, refusal=error_sentence(error, request_reader(request)), status=status_of(error))


@require_http_methods(["GET", "POST"])
@answers_errors(refuse=show_refused_file)
def from_file(request: HtmxRequest) -> HttpResponse:
    """A new scenario from a file; what is wrong with it is said, and its text can be mended on the spot."""
    if file := request.FILES.get("file"):  # before the form reads it
        count_upload(request.user, size_bytes=file.size or 0)
    form = ScenarioFileForm(request.POST, request.FILES) if request.method == "POST" else ScenarioFileForm()
    if not (form.is_bound and form.is_valid()):
        return _file_page(request, form, status=400 if form.errors else 200)
    raw = form.cleaned_data["raw"]
    try:
        return _stored(request, read_document(raw, owner=request.user))
    except ValidationError as error:
        unread = ScenarioFileForm(initial={"text": raw.decode(errors="replace")})
        return _file_page(request, unread, problems=problems_of(error), status=400)


def _file_page(
    request: HttpRequest, form: ScenarioFileForm, *, refusal: str = "", problems: Sequence[str] = (), status: int
) -> HttpResponse:
    context = {"form": form, "refusal": refusal, "problems": problems}
    return render(request, "conversations/scenario_file.html", context, status=status)
