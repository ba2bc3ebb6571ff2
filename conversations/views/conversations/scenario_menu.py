"""The scenarios that a conversation may go on with, as the menu in its header lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext

from chatsite.accounts.models import User
from chatsite.addresses import address_of
from conversations.models import Conversation
from conversations.selectors.conversations.scenarios import ScenarioChoice

from .new_address import new_address


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    """A scenario on offer. *url* chooses it; of a conversation that is not stored, it is a page with it."""

    scenario: ScenarioChoice
    facts: str
    url: str
    is_chosen: bool
    is_own: bool


def scenario_rows(conversation: Conversation, user: User, choices: Sequence[ScenarioChoice]) -> tuple[ScenarioRow, ...]:
    """Return the scenarios among which *user* can choose; none where there is no choice."""
    if len(choices) < 2:
        return ()
    return tuple(
        ScenarioRow(
            scenario,
            facts=_facts(scenario),
            url=_url(conversation, scenario),
            is_chosen=scenario.pk == conversation.scenario_id,
            is_own=scenario.owner_id == user.pk,
        )
        for scenario in choices
    )


def _facts(scenario: ScenarioChoice) -> str:
    """Return in few words what a conversation with *scenario* has."""
    documents, tools = scenario.documented, len(scenario.tools)
    facts = [
        gettext("Instructions") if scenario.has_instructions else "",
        ngettext("%(count)s document", "%(count)s documents", documents) % {"count": documents} if documents else "",
        ngettext("%(count)s tool", "%(count)s tools", tools) % {"count": tools} if tools else "",
        gettext("Recall") if scenario.recall_share else "",
    ]
    return " · ".join(filter(None, facts)) or gettext("No instructions, no tools")


def _url(conversation: Conversation, scenario: ScenarioChoice) -> str:
    if conversation.pk is not None:
        return address_of("conversations:scenario", conversation.public_id)
    return new_address(conversation, scenario=str(scenario.pk))
