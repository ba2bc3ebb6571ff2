"""The site's own words on privacy, for the page that all can read, and which servers it names."""

from __future__ import annotations

from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.names import NameField

MOST_CHARACTERS = 50_000


class PrivacyNotice(models.Model):
    """What admins write above the facts of the page, as Markdown, and what it calls servers: at most one row.

    The database has the defaults, too: version 1.0.0 stores rows without the new columns.
    """

    singleton = models.BooleanField(primary_key=True, default=True, editable=False)
    content = models.TextField(
        _("text"),
        blank=True,
        validators=[MaxLengthValidator(MOST_CHARACTERS)],
        help_text=_("Markdown. It stands above what the page says by itself of this site’s settings."),
    )
    names_servers = models.BooleanField(
        _("name the servers"),
        default=True,
        db_default=True,
        help_text=_(
            "Off: it says what each server does and not its host. Hosts of the site’s own network are never named."
        ),
    )
    provider_name = NameField(
        _("name of the provider"),
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text=_("It stands in place of the provider’s host. For example: Example AI, in Frankfurt."),
    )
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)

    class Meta:
        verbose_name = _("privacy page")
        verbose_name_plural = _("privacy page")
        constraints = [models.CheckConstraint(condition=Q(singleton=True), name="privacy_notice_is_only_one")]

    def __str__(self) -> str:
        return gettext("privacy page")
