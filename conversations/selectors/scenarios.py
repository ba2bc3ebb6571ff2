"""The scenarios that a person may choose."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from chatsite.accounts.models import User
from conversations.core.errors import ScenarioNotFound
from conversations.models import Scenario


def list_scenarios(user: User) -> list[Scenario]:
    """Return what is offered to everyone, the default, and the person's own, by name."""
    return list(_choosable(user).order_by("name", "pk"))


def find_scenario(user: User, scenario_id: int) -> Scenario:
    """Return a scenario that *user* may choose. Raises `ScenarioNotFound` also if it is someone else's."""
    if (found := _choosable(user).filter(pk=scenario_id).first()) is None:
        raise ScenarioNotFound
    return found


def _choosable(user: User) -> QuerySet[Scenario]:
    return Scenario.objects.filter(Q(offered=True) | Q(is_default=True) | Q(owner_id=user.pk))
