"""What can be put in or done from the composer by `/` and `@`: commands, saved prompts, scenarios and documents."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from conversations.access import find_conversation
from conversations.models import Conversation, Document
from conversations.selectors.conversations.documents import in_reach_of
from conversations.selectors.conversations.folders import find_folder
from conversations.selectors.conversations.scenarios import list_scenarios
from conversations.services.conversations.default_scenario import scenario_to_begin_with
from conversations.views.http import parameters
from conversations.views.http.errors import answers_errors
from conversations.views.http.htmx_request import HtmxRequest

# What is typed after the slash, and what it does. A page leaves out what it can't do at the moment.
COMMANDS = {
    "stop": _("Stop the reply"),
    "documents": _("Add documents or pictures"),
    "notes": _("Notes on this conversation"),
    "model": _("Language model and scenario"),
    "pin": _("Pin the last reply, or unpin it"),
    "window": _("What the model saw for the last reply"),
    "preview": _("What would be sent now"),
    "save": _("Save what is written as a prompt"),
    "prompts": _("Your saved prompts"),
    "find": _("Find in this conversation"),
    "new": _("New conversation"),
    "temporary": _("New temporary conversation"),
    "keep": _("Keep this conversation"),
    "keys": _("Keys"),
}


@require_GET
@answers_errors()
def commands(request: HtmxRequest) -> HttpResponse:
    """All commands, prompts, scenarios and documents as data, in the order in which they are listed."""
    public_id = parameters.optional_unique_id(request, "conversation")
    conversation = find_conversation(request.user, public_id) if public_id else None
    prompts = request.user.saved_prompts.values_list("pk", "name")
    return JsonResponse(
        {
            "commands": [{"name": name, "label": str(label)} for name, label in COMMANDS.items()],
            "prompts": [
                {"name": name, "url": reverse("conversations:saved_prompt", args=[pk])} for pk, name in prompts
            ],
            "scenarios": _scenarios(request, conversation),
            "documents": _documents(conversation or _begun(request)),
        }
    )


def _scenarios(request: HtmxRequest, conversation: Conversation | None) -> list[dict[str, Any]]:
    """The scenarios that could be chosen in place of the one that the conversation has."""
    chosen = conversation.scenario_id if conversation else _begun(request).scenario_id
    offered = [scenario for scenario in list_scenarios(request.user) if scenario.pk != chosen]
    return [{"name": str(scenario.shown_name), "id": scenario.pk} for scenario in offered]


def _begun(request: HtmxRequest) -> Conversation:
    """Return a conversation as the first message would begin it, with the scenario and in the folder of the query."""
    folder_id = parameters.folder_id(request)
    return Conversation(
        owner=request.user,
        scenario=scenario_to_begin_with(request.user, parameters.scenario_id(request)),
        folder=find_folder(request.user, folder_id) if folder_id else None,
    )


def _documents(conversation: Conversation) -> list[str]:
    """Return the names of those that questions are looked up in."""
    return list(Document.objects.filter(in_reach_of(conversation)).order_by("pk").values_list("name", flat=True))
