"""Prices: what each language model costs today and who says so, and the prices that admins set."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from chatsite.accounts.admin.base_admin import EditConflictAdmin
from conversations.admin.base_admin import LargeListAdmin
from conversations.admin.ledger.price_form import PriceForm
from conversations.admin.state_labels import PRICE_COLOURS
from conversations.core.money.unit_prices import UnitPrices
from conversations.models import Price
from conversations.models.price import today
from conversations.providers.catalog.language_models import ConfiguredModel, language_models
from conversations.selectors.figures.reported_costs import reported_costs
from conversations.services.language_models.prices import all_unit_prices
from conversations.templatetags import figures

REPORTED_DAYS = 30  # for so long ours and theirs are compared

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class ListedColumns(TypedDict):
        is_replaced: bool

    ListedPrice = WithAnnotations[Price, ListedColumns]


@dataclass(frozen=True)
class ShownPrice:
    """A configured language model and what it costs; *prices* None where they are unknown."""

    configured: ConfiguredModel
    prices: UnitPrices | None

    @property
    def rows(self) -> Iterator[tuple[str, UnitPrices]]:
        """The prices up to the first threshold, and above each of them."""
        if self.prices:
            yield "", self.prices
            above = gettext("above %(tokens)s input tokens")
            yield from (
                (above % {"tokens": figures.count(tier.above_input_tokens)}, tier.prices) for tier in self.prices.tiers
            )

    @property
    def add_url(self) -> str:
        return f"{reverse('admin:conversations_price_add')}?{urlencode({'language_model': self.configured.name})}"


def prices_in_force(at: dt.datetime) -> list[ShownPrice]:
    """Return what each configured language model costs at that moment."""
    return [ShownPrice(language_models()[name], prices) for name, prices in all_unit_prices(at).items()]


@admin.register(Price)
class PriceAdmin(EditConflictAdmin, LargeListAdmin):
    form = PriceForm
    list_display = [
        "language_model",
        "valid_from",
        "state",
        "input",
        "cached",
        "written",
        "output",
        "note",
    ]
    search_fields = ["language_model", "note"]
    search_help_text = _("Language model, or note")
    list_before_template = "admin/conversations/price/_in_force.html"
    actions = None
    readonly_fields = ["created_by"]
    warn_unsaved_form = True
    fieldsets = [
        (None, {"fields": ["language_model", "valid_from"]}),
        (
            _("Per million tokens"),
            {
                "description": _(
                    "One price for prompts of any length. It takes precedence over the settings and all price lists."
                ),
                "fields": ["input_usd", "cached_input_usd", "cache_write_usd", "output_usd"],
            },
        ),
        (None, {"fields": ["note"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Price | None = None) -> Any:
        stored = [(None, {"fields": ["created_by"]})] if obj else []
        return [*super().get_fieldsets(request, obj), *stored]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Price]:
        holds = Price.objects.filter(valid_from__lte=today())
        later = holds.filter(language_model=OuterRef("language_model"), valid_from__gt=OuterRef("valid_from"))
        rows: QuerySet[Price] = super().get_queryset(request).annotate(is_replaced=Exists(later))
        return rows

    @display(description=_("state"), label=PRICE_COLOURS)
    def state(self, price: ListedPrice) -> tuple[str, str]:
        if price.valid_from > today():
            return "upcoming", gettext("upcoming")
        return ("replaced", gettext("replaced")) if price.is_replaced else ("valid now", gettext("valid now"))

    @display(description=_("input"), ordering="input_usd")
    def input(self, price: Price) -> str:
        return figures.usd(price.input_usd)

    @display(description=_("from the cache"), ordering="cached_input_usd")
    def cached(self, price: Price) -> str:
        return _or_as_input(price.cached_input_usd)

    @display(description=_("written to it"), ordering="cache_write_usd")
    def written(self, price: Price) -> str:
        return _or_as_input(price.cache_write_usd)

    @display(description=_("output"), ordering="output_usd")
    def output(self, price: Price) -> str:
        return figures.usd(price.output_usd)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        now = timezone.now()
        context = {
            "in_force": prices_in_force(now),
            "now": now,
            "may_add": self.has_add_permission(request),
            "reported": reported_costs(begin=now - dt.timedelta(days=REPORTED_DAYS), end=now),
            "reported_days": REPORTED_DAYS,
        }
        response: HttpResponse = super().changelist_view(request, context | (extra_context or {}))
        return response

    def save_model(self, request: HttpRequest, obj: Price, form: PriceForm, change: Any) -> None:
        if not change:
            obj.created_by_id = request.user.pk
        super().save_model(request, obj, form, change)
        for warning in form.warnings():
            messages.warning(request, warning)


def _or_as_input(price: Decimal | None) -> str:
    return gettext("as input") if price is None else figures.usd(price)
