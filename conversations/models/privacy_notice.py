"""The site's own words on privacy, for the page that all can read."""

from __future__ import annotations

from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

MOST_CHARACTERS = 50_000


class PrivacyNotice(models.Model):
    """What admins write above the facts of the page, as Markdown: at most one row."""

    singleton = models.BooleanField(primary_key=True, default=True, editable=False)
    content = models.TextField(
        _("text"),
        blank=True,
        validators=[MaxLengthValidator(MOST_CHARACTERS)],
        help_text=_("Markdown. It stands above what the page says by itself of this site’s settings."),
    )
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)

    class Meta:
        verbose_name = _("privacy page")
        verbose_name_plural = _("privacy page")
        constraints = [models.CheckConstraint(condition=Q(singleton=True), name="privacy_notice_is_only_one")]

    def __str__(self) -> str:
        return gettext("privacy page")
