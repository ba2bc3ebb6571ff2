"""The query parameters of the first page: days and filters. Links can be kept, as all that is chosen is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from chatsite.accounts.models import User
from conversations.admin.object_ids import id_in
from conversations.models import Conversation, Scenario
from conversations.models.completion import Purpose
from conversations.models.conversation import short_id
from conversations.selectors.figures.figures import Filters
from conversations.views.usage.period_form import ChosenPeriod, PeriodChoice

EXPORT = "conversations_completion_figures"  # the name of the exports' address
MOST_EXPENSIVE_FIRST = {"o": -6}  # the column of costs in the list of completions
MOST_CHARACTERS = 200  # of a language model's name
# Filter → its name in the address of the list of completions. In our own address it has its name in the ledger.
LOOKUPS = {
    "user_id": "user",
    "language_model": "language_model",
    "scenario_id": "scenario",
    "purpose": "purpose__exact",
    "conversation_id": "conversation",
}


def parameter(name: str) -> str:
    """Return the name of the filter in our address."""
    return name.removesuffix("_id")


def read_filters(query: Mapping[str, str]) -> Filters:
    """Return the filters in the query; a value that can't be one is no filter."""
    purpose = query.get("purpose")
    return Filters(
        user_id=id_in(query.get("user", "")),
        language_model=query.get("language_model", "")[:MOST_CHARACTERS] or None,
        scenario_id=id_in(query.get("scenario", "")),
        purpose=purpose if purpose in Purpose.values else None,
        conversation_id=id_in(query.get("conversation", "")),
    )


@dataclass(frozen=True, slots=True)
class Address:
    """The days that are chosen, and the filters."""

    chosen: ChosenPeriod
    filters: Filters

    @property
    def filter_fields(self) -> dict[str, Any]:
        return {parameter(name): value for name, value in self.filters.chosen.items()}

    @property
    def query(self) -> str:
        return "?" + urlencode(self.chosen.fields | self.filter_fields)

    @property
    def periods(self) -> list[tuple[PeriodChoice, str]]:
        """The periods that have a name, each with its address under the same filters."""
        also = urlencode(self.filter_fields)
        return [(choice, f"?{choice.query}&{also}".rstrip("&")) for choice in self.chosen.choices]

    def narrowed(self, **filters: Any) -> str:
        """Return the address of the same days with these filters too."""
        return Address(self.chosen, replace(self.filters, **filters)).query

    def widened(self, name: str) -> str:
        """Return the address of the same days without this filter."""
        return self.narrowed(**{name: None})

    def file(self, by: str) -> str:
        """Return where all rows by *by* can be downloaded."""
        return reverse(f"admin:{EXPORT}", args=[by]) + self.query

    def completions(self, **lookups: Any) -> str:
        """Return the address of the ledger's rows behind a figure: of these days, these filters and *lookups*."""
        period = self.chosen.period
        days = {"created_at__gte": period.begin.isoformat(), "created_at__lt": period.end.isoformat()}
        ours = {LOOKUPS[name]: value for name, value in self.filters.chosen.items()}
        return reverse("admin:conversations_completion_changelist") + "?" + urlencode(days | ours | lookups)


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter as the page shows it; *without* is the address of the page without it."""

    label: str | Promise
    value: str
    without: str


def chips(address: Address) -> Iterator[Chip]:
    """Yield the filters, with one query for each whose value is an id."""
    for name, value in address.filters.chosen.items():
        label, name_of = FILTER_NAMES[name]
        yield Chip(label, name_of(value) or gettext("number %(id)s (deleted)") % {"id": value}, address.widened(name))


def _email(user_id: int) -> str | None:
    return User.objects.filter(pk=user_id).values_list("email", flat=True).first()


def _scenario(scenario_id: int) -> str | None:
    found = Scenario.objects.only("name", "owner").filter(pk=scenario_id).first()
    return str(found) if found else None


def _conversation(conversation_id: int) -> str | None:
    found = Conversation.objects.filter(pk=conversation_id).values_list("public_id", flat=True).first()
    return short_id(found) if found else None


FILTER_NAMES: dict[str, tuple[Promise, Callable[[Any], str | None]]] = {
    "user_id": (gettext_lazy("User"), _email),
    "language_model": (gettext_lazy("Language model"), str),
    "scenario_id": (gettext_lazy("Scenario"), _scenario),
    "purpose": (gettext_lazy("Purpose"), lambda value: str(Purpose(value).label)),
    "conversation_id": (gettext_lazy("Conversation"), _conversation),
}
