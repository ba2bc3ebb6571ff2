"""The scenario that new conversations begin with: the chosen one, or the site's default, which is made at first use."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.models import Scenario
from conversations.models.scenario import PLAIN, WITH_TOOLS
from conversations.selectors.conversations.scenarios import find_scenario

BUILT_IN_TOOLS = ("calculator", "current_time", "search_conversation", "search_documents")


def scenario_to_begin_with(user: User, scenario_id: int | None = None) -> Scenario:
    """Return the chosen scenario, or the default if none is. Raises `ScenarioNotFound`."""
    return default_scenario() if scenario_id is None else find_scenario(user, scenario_id)


def default_scenario() -> Scenario:
    """Return the scenario that new conversations start with, made at first use.

    One with tools is made beside it: the default has none, because some providers refuse every request with tools.
    """
    if found := _default.first():
        return found
    try:
        with transaction.atomic():
            Scenario.objects.create(name=WITH_TOOLS, offered=True, tools=list(BUILT_IN_TOOLS))
            return Scenario.objects.create(name=PLAIN, offered=True, is_default=True)
    except IntegrityError:  # another request was first
        return Scenario.objects.get(is_default=True)


@compiled_queryset
def _default() -> QuerySet[Scenario]:
    return Scenario.objects.filter(is_default=True)
