"""What may be asked first in a scenario with tools: a question for each of the built-in ones that it has."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from conversations.models import Scenario

QUESTIONS: dict[str, Promise] = {
    "current_time": _("What time is it?"),
    "calculator": _("What is 17 × 23?"),
    "search_conversation": _("What did I say about the invoice?"),
    "search_documents": _("What do my documents say about prices?"),
}


def suggestions_for(scenario: Scenario) -> list[Promise]:
    return [question for tool, question in QUESTIONS.items() if tool in scenario.tools]
