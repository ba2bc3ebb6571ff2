"""Limits on what users may send and spend, and the site's budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .user import Role

AT_MOST = [MaxValueValidator(1_000_000_000)]
MONEY_BOUND = 10**10  # as many digits as the columns have before the point
MONEY: dict[str, Any] = {
    "max_digits": 16,
    "decimal_places": 6,
    "null": True,
    "blank": True,
    "validators": [MinValueValidator(Decimal(0))],
}


def amount_constraint(field: str, *, name: str) -> models.CheckConstraint:
    """Let the column hold NULL, or 0 and more. The bound excludes NaN, which PostgreSQL sorts above all numbers."""
    condition = Q(**{field: None}) | Q(**{f"{field}__gte": 0, f"{field}__lt": MONEY_BOUND})
    return models.CheckConstraint(condition=condition, name=name)


class Limits(models.Model):
    """Limits of one user, of all users with a *role*, or of all users (neither).

    None inherits from the next wider rule: user, role, site, settings. 0 allows nothing. Money is in US dollars, days
    and months are those of UTC.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="limits",
        verbose_name=_("user"),
    )
    role = models.CharField(_("role"), max_length=8, choices=Role, null=True, blank=True, unique=True)
    messages_per_minute = models.PositiveIntegerField(
        _("messages per minute"), null=True, blank=True, validators=AT_MOST
    )
    replies_at_once = models.PositiveIntegerField(_("replies at once"), null=True, blank=True, validators=AT_MOST)
    message_tokens = models.PositiveIntegerField(
        _("message tokens"), null=True, blank=True, validators=AT_MOST, help_text=_("The longest message, in tokens.")
    )
    uploads_per_day = models.PositiveIntegerField(_("uploads per day"), null=True, blank=True, validators=AT_MOST)
    upload_kilobytes = models.PositiveIntegerField(
        _("upload kilobytes"), null=True, blank=True, validators=AT_MOST, help_text=_("The largest file.")
    )
    money_per_day_usd = models.DecimalField(**MONEY)
    money_per_month_usd = models.DecimalField(**MONEY)

    class Meta:
        verbose_name = _("limits")
        verbose_name_plural = _("limits")
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None) | Q(role=None),
                name="limits_of_a_person_or_a_role",
                violation_error_message=_("Limits belong to a user or a role, not both."),
            ),
            models.UniqueConstraint(
                models.Value(1),
                condition=Q(user=None, role=None),
                name="limits_of_the_site_are_one_row",
                violation_error_message=_("Everyone's limits already exist."),
            ),
            amount_constraint("money_per_day_usd", name="limits_day_is_an_amount"),
            amount_constraint("money_per_month_usd", name="limits_month_is_an_amount"),
        ]

    def __str__(self) -> str:
        return str(self.user or self.get_role_display() or gettext("everyone"))


class SiteBudget(models.Model):
    """The site's budget, which all users together may spend: at most one row. None is without limit."""

    singleton = models.BooleanField(primary_key=True, default=True, editable=False)
    money_per_day_usd = models.DecimalField(**MONEY)
    money_per_month_usd = models.DecimalField(**MONEY)

    class Meta:
        verbose_name = _("site budget")
        verbose_name_plural = _("site budget")
        constraints = [
            models.CheckConstraint(condition=Q(singleton=True), name="site_budget_is_only_one"),
            amount_constraint("money_per_day_usd", name="site_budget_day_is_an_amount"),
            amount_constraint("money_per_month_usd", name="site_budget_month_is_an_amount"),
        ]

    def __str__(self) -> str:
        day, month = (_limit_label(amount) for amount in (self.money_per_day_usd, self.money_per_month_usd))
        return gettext("per day: %(day)s, per month: %(month)s") % {"day": day, "month": month}


def _limit_label(amount: Decimal | None) -> str:
    return gettext("no limit") if amount is None else f"${amount.normalize():,f}"
