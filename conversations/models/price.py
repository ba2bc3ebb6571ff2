"""Prices that admins set for language models, each valid from a day on."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.core.money.unit_prices import LARGEST_PRICE_USD, PRICE_DECIMALS

USD_PER_MILLION: dict[str, Any] = {
    "max_digits": 16,
    "decimal_places": PRICE_DECIMALS,
    "validators": [MinValueValidator(Decimal(0)), MaxValueValidator(LARGEST_PRICE_USD)],
}
RANGE = (0, int(LARGEST_PRICE_USD))  # NaN, which PostgreSQL sorts above all numbers, is not in it


def today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


class Price(models.Model):
    """The price of a language model on this site from *valid_from* (UTC) on: it precedes all known price lists.

    US dollars for a million tokens. Without a price of their own, tokens read from the provider's cache or written to
    it cost what the others cost. Completions keep the prices that they were made at, so no change here reaches back.
    """

    language_model = models.CharField(_("language model"), max_length=200)
    valid_from = models.DateField(_("valid from"), default=today)
    input_usd = models.DecimalField(_("input usd"), **USD_PER_MILLION)
    cached_input_usd = models.DecimalField(_("cached input usd"), **USD_PER_MILLION, null=True, blank=True)
    cache_write_usd = models.DecimalField(_("cache write usd"), **USD_PER_MILLION, null=True, blank=True)
    output_usd = models.DecimalField(_("output usd"), **USD_PER_MILLION)
    note = models.CharField(_("note"), max_length=200, blank=True, help_text=_("Source of the price."))
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("created by")
    )

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["language_model", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["language_model", "valid_from"], name="price_one_a_day"),
            models.CheckConstraint(
                condition=Q(input_usd__range=RANGE, output_usd__range=RANGE)
                & (Q(cached_input_usd=None) | Q(cached_input_usd__range=RANGE))
                & (Q(cache_write_usd=None) | Q(cache_write_usd__range=RANGE)),
                name="price_in_range",
            ),
        ]

    def __str__(self) -> str:
        words = {"language_model": self.language_model, "day": f"{self.valid_from:%Y-%m-%d}"}
        return gettext("%(language_model)s from %(day)s") % words
