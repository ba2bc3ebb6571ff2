"""Calibration: how far our token counts are from those of the provider, by language model."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _


class Calibration(models.Model):
    """The calibration of a language model, learned from its reported usage: one row for each model's name.

    *ratio* is reported ÷ estimated input tokens, a high quantile of the newest completions and never below 1; budgets
    are divided by it. *pairs* is how many were compared last; while they are too few the ratio stays what it was.
    *limit_tokens* is the context window that the provider named when it refused a prompt, where that is smaller than
    the configured one. Where it named none, it is the largest prompt with its reply that went through, and
    *refused_tokens* the smallest that was refused.
    """

    language_model = models.CharField(_("language model"), max_length=200, unique=True)
    ratio = models.DecimalField(_("ratio"), max_digits=6, decimal_places=4, default=Decimal(1))
    pairs = models.PositiveIntegerField(_("pairs"), default=0)
    limit_tokens = models.PositiveIntegerField(_("limit tokens"), null=True, blank=True)
    refused_tokens = models.PositiveIntegerField(_("refused tokens"), null=True, blank=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("calibration")
        verbose_name_plural = _("calibrations")
        ordering = ["language_model"]
        constraints = [models.CheckConstraint(condition=models.Q(ratio__gte=1), name="calibration_only_tightens")]

    def __str__(self) -> str:
        return self.language_model
