"""Retention rules: after how many days without activity conversations of a role or a scenario are deleted."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.models.user import Role

MOST_DAYS = 36_500


class RetentionRule(models.Model):
    """*days* of a *role*, that of the conversations' owner, or of a *scenario*; `RETENTION_DAYS` is the site's.

    Of all that apply to a conversation the shortest counts.
    """

    role = models.CharField(_("role"), max_length=8, choices=Role, null=True, blank=True, unique=True)
    scenario = models.OneToOneField(
        "conversations.Scenario",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="retention_rule",
        verbose_name=_("scenario"),
    )
    days = models.PositiveIntegerField(
        _("days without activity"), validators=[MinValueValidator(1), MaxValueValidator(MOST_DAYS)]
    )

    class Meta:
        verbose_name = _("retention rule")
        verbose_name_plural = _("retention rules")
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(role=None, scenario__isnull=False) | Q(role__isnull=False, scenario=None),
                name="retention_rule_of_a_role_or_a_scenario",
                violation_error_message=_("A rule is for a role or for a scenario, not both."),
            ),
            models.CheckConstraint(condition=Q(days__gte=1, days__lte=MOST_DAYS), name="retention_rule_has_days"),
        ]

    def __str__(self) -> str:
        return gettext("Retention rule %(id)s") % {"id": self.pk}
