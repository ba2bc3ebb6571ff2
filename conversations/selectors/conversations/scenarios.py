"""The scenarios that a user may choose, and those that are their own."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.errors import ScenarioNotFound
from conversations.models import Scenario
from conversations.models.scenario import scenario_name


def list_scenarios(user: User) -> list[Scenario]:
    """Return what is offered to everyone, the default, and the user's own, by name."""
    return list(_choosable(user).order_by("name", "pk"))


class ScenarioChoice(NamedTuple):
    """A scenario with what the menu says of it: *documented* counts its documents."""

    pk: int
    name: str
    owner_id: int | None
    tools: list[str]
    recall_share: Decimal
    has_instructions: bool
    documented: int

    @property
    def shown_name(self) -> str:
        return scenario_name(self.name)


def list_choices(user: User, chosen: Scenario) -> list[ScenarioChoice]:
    """Return *chosen* and what *user* may choose in its place, by name."""
    return [ScenarioChoice(*row) for row in _choices.all(user.pk, chosen.pk)]


@compiled_queryset
def _choices(user_id: int, chosen_id: int) -> QuerySet[Scenario, tuple[Any, ...]]:
    listed = Scenario.objects.filter(_may_choose(user_id) | Q(pk=chosen_id)).order_by("name", "pk")
    has_instructions = ExpressionWrapper(~Q(system_prompt=""), BooleanField())
    described = listed.annotate(has_instructions=has_instructions, documented=Count("documents"))
    return described.values_list(*ScenarioChoice._fields)


def find_scenario(user: User, scenario_id: int) -> Scenario:
    """Return a scenario that *user* may choose. Raises `ScenarioNotFound` also if it is someone else's."""
    if (found := _choosable(user).filter(pk=scenario_id).first()) is None:
        raise ScenarioNotFound
    return found


def list_own_scenarios(user: User) -> list[Scenario]:
    """Return the user's own, by name, each with the number of its conversations as *used*."""
    used = Count("conversations", filter=Q(conversations__deleted_at=None))
    return list(Scenario.objects.filter(owner_id=user.pk).annotate(used=used).order_by("name", "pk"))


def find_own_scenario(user: User, scenario_id: int, *, lock: bool = False) -> Scenario:
    """Return a scenario that *user* may edit. Raises `ScenarioNotFound`. *lock* it until the transaction ends."""
    own = Scenario.objects.filter(owner_id=user.pk, pk=scenario_id)
    if (found := (own.select_for_update() if lock else own).first()) is None:
        raise ScenarioNotFound
    return found


def _choosable(user: User) -> QuerySet[Scenario]:
    return Scenario.objects.filter(_may_choose(user.pk))


def _may_choose(user_id: int) -> Q:
    return Q(offered=True) | Q(is_default=True) | Q(owner_id=user_id)
