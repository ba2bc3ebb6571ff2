"""The address of the first page: which days, and whose. All that is chosen stands there, so that it can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from conversations.admin.object_ids import id_in
from conversations.models.completion import Purpose
from conversations.selectors.figures.figures import Filters
from conversations.views.usage.period_form import ChosenPeriod

EXPORT = "conversations_completion_figures"  # the address of the files
DEAREST_FIRST = {"o": -6}  # the column of costs in the list of completions
MOST_CHARACTERS = 200  # of a language model's name
# Filter → how the list of completions calls it. In our own address it is called as in the ledger.
LOOKUPS = {
    "user_id": "user",
    "language_model": "language_model",
    "scenario_id": "scenario",
    "purpose": "purpose__exact",
    "conversation_id": "conversation",
}


def parameter(name: str) -> str:
    """Return what the filter is called in our address."""
    return name.removesuffix("_id")


def read_filters(query: Mapping[str, str]) -> Filters:
    """Return what the query asks for; what can't be is not asked for."""
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
    """Where somebody is: the days that were chosen, and the filters."""

    chosen: ChosenPeriod
    filters: Filters

    @property
    def filter_fields(self) -> dict[str, Any]:
        return {parameter(name): value for name, value in self.filters.chosen.items()}

    @property
    def query(self) -> str:
        return "?" + urlencode(self.chosen.fields | self.filter_fields)

    @property
    def periods(self) -> list[tuple[Any, str]]:
        """The periods that have a name, each with the way to it under the same filters."""
        also = urlencode(self.filter_fields)
        return [(choice, f"?{choice.query}&{also}".rstrip("&")) for choice in self.chosen.choices]

    def narrowed(self, **filters: Any) -> str:
        """Return the way to the same days with these filters too."""
        return Address(self.chosen, replace(self.filters, **filters)).query

    def widened(self, name: str) -> str:
        return self.narrowed(**{name: None})

    def file(self, by: str) -> str:
        """Return where the rows by *by* can be downloaded, all of them."""
        return reverse(f"admin:{EXPORT}", args=[by]) + self.query

    def completions(self, **lookups: Any) -> str:
        """Return the way to the rows of the ledger behind a figure: of these days, these filters and *lookups*."""
        period = self.chosen.period
        days = {"created_at__gte": period.begin.isoformat(), "created_at__lt": period.end.isoformat()}
        ours = {LOOKUPS[name]: value for name, value in self.filters.chosen.items()}
        return reverse("admin:conversations_completion_changelist") + "?" + urlencode(days | ours | lookups)
