"""Base classes of the admin's pages: lists of any length, and read-only pages."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ShowFacets
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

MOST_COUNTED_ROWS = 10_000


class CappedPaginator(Paginator):  # type: ignore[type-arg]  # it takes no argument when the site runs
    """Counts and pages up to `MOST_COUNTED_ROWS` rows: those beyond are found with search and filters."""

    template_name = "admin/capped_pagination.html"

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Model] = self.object_list  # type: ignore[assignment]  # the admin pages querysets alone
        return rows.order_by()[:MOST_COUNTED_ROWS].count()

    @property
    def is_capped(self) -> bool:
        return self.count == MOST_COUNTED_ROWS


class CappedChangeList(ChangeList):
    """A list that does not count the rows without the filters."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        # None would be announced in the page's head, as a number of results.
        self.full_result_count = self.result_count


# Suffixes that the filters of a list add to the name of a field in an address.
LOOKUPS_OF_FILTERS = ("", "__exact", "__id__exact", "__isnull", "__isempty", "__gte", "__lt")


class LargeListAdmin(ModelAdmin):
    """Lists of any length: paged, capped, without a count of everything.

    *linked_lookups* are those in links of other pages, beside those of the filters.
    """

    linked_lookups: tuple[str, ...] = ()

    paginator = CappedPaginator
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    show_facets = ShowFacets.NEVER  # they count all rows, once for each choice of each filter
    empty_value_display = "–"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return CappedChangeList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Allow only the list's own lookups: Django allows any field, so content could be guessed letter by letter."""
        return lookup in self.linked_lookups or any(
            lookup == name + suffix for name in self._names_of_filters() for suffix in LOOKUPS_OF_FILTERS
        )

    def _names_of_filters(self) -> list[str]:
        """Return the fields that the list is filtered by, and the names of our own filters in an address."""
        filters = (each[0] if isinstance(each, tuple) else each for each in self.list_filter)
        return [each if isinstance(each, str) else each.parameter_name for each in filters]


class ReadOnlyAdmin(LargeListAdmin):
    """Shows what is stored. Read-only by construction: for superusers too, by form, forged request or action."""

    actions = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
