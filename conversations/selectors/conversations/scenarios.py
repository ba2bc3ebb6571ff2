"""The scenarios that a user may choose, and those that are their own."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from chatsite.accounts.models import User
from chatsite.postgres.compiled_queryset import compiled_queryset
from conversations.core.errors import ScenarioNotFound
from conversations.models import Scenario


def list_scenarios(user: User) -> list[Scenario]:
    """Return what is offered to everyone, the default, and the user's own, by name."""
    return list(_choosable(user).order_by("name", "pk"))


def list_choices(user: User, chosen: Scenario) -> list[Scenario]:
    """Return *chosen* and what *user* may choose in its place, by name. *documented* counts the documents."""
    return _choices.all(user.pk, chosen.pk)


@compiled_queryset
def _choices(user_id: int, chosen_id: int) -> QuerySet[Scenario]:
    listed = Scenario.objects.filter(_may_choose(user_id) | Q(pk=chosen_id))
    return listed.annotate(documented=Count("documents")).order_by("name", "pk")


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
