"""What the page is narrowed to: each filter by its name, with the way to the page without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from chatsite.accounts.models import User
from conversations.models import Conversation, Scenario
from conversations.models.completion import Purpose
from conversations.models.conversation import short_id

from .address import Address


@dataclass(frozen=True, slots=True)
class Chip:
    label: str | Promise
    value: str
    without: str


def chips(address: Address) -> Iterator[Chip]:
    """Yield the filters, with one query for each that goes by an id."""
    for name, value in address.filters.chosen.items():
        label, name_of = NAMES[name]
        yield Chip(
            label, name_of(value) or gettext("number %(id)s, which is gone") % {"id": value}, address.widened(name)
        )


def _email(user_id: int) -> str | None:
    return User.objects.filter(pk=user_id).values_list("email", flat=True).first()


def _scenario(scenario_id: int) -> str | None:
    found = Scenario.objects.only("name", "owner").filter(pk=scenario_id).first()
    return str(found) if found else None


def _conversation(conversation_id: int) -> str | None:
    found = Conversation.objects.filter(pk=conversation_id).values_list("public_id", flat=True).first()
    return short_id(found) if found else None


NAMES: dict[str, tuple[Promise, Callable[[Any], str | None]]] = {
    "user_id": (gettext_lazy("User"), _email),
    "language_model": (gettext_lazy("Language model"), str),
    "scenario_id": (gettext_lazy("Scenario"), _scenario),
    "purpose": (gettext_lazy("Purpose"), lambda value: str(Purpose(value).label)),
    "conversation_id": (gettext_lazy("Conversation"), _conversation),
}
