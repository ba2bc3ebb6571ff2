"""The form of limits: an empty field shows what it inherits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.limits import LIMITS, EffectiveLimits, inherited_limits
from chatsite.accounts.models import Limits, Role, SiteBudget

FIELD_TEXTS = {
    "messages_per_minute": (_("Messages per minute"), _("Messages that a user may send in a minute.")),
    "replies_at_once": (_("Replies at once"), _("Replies that may be made for a user at the same time.")),
    "message_tokens": (_("Message length, tokens"), _("The longest message that a user may send.")),
    "uploads_per_day": (_("Uploads per day"), _("Files that a user may upload in a day (UTC).")),
    "upload_kilobytes": (_("File size, kilobytes"), _("The largest file that a user may upload.")),
    "money_per_day_usd": (_("US dollars per day"), _("The most that a user’s replies may cost in a day (UTC).")),
    "money_per_month_usd": (
        _("US dollars per month"),
        _("The most that a user’s replies may cost in a calendar month (UTC)."),
    ),
}
EVERYONE = _("everyone")
ROLES = {Role.USER: _("all users"), Role.REVIEWER: _("all reviewers"), Role.ADMIN: _("all admins")}
WITHOUT_LIMIT = _("no limit")
FROM = {
    "user": _("%(limit)s, from this person"),
    "role": _("%(limit)s, from the role"),
    "site": _("%(limit)s, from the site"),
    "settings": _("%(limit)s, from the settings"),
}


class LimitsForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """*inherited* are the limits that apply where a field is left empty; without it, they are loaded."""

    class Meta:
        model = Limits
        fields = ("role", *LIMITS)

    def __init__(self, *args: Any, inherited: EffectiveLimits | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        inherited = inherited or inherited_limits(self.instance)
        for name in LIMITS:
            field = self.fields[name]
            field.label, field.help_text = FIELD_TEXTS[name]
            field.widget.attrs["placeholder"] = limit_sentence(inherited, name)
        if "role" in self.fields:
            role = cast(forms.ChoiceField, self.fields["role"])
            role.choices = [("", EVERYONE), *ROLES.items()]
            role.help_text = _("A user’s own limits are on that user’s page.")

    def clean_role(self) -> str | None:
        role: str | None = self.cleaned_data["role"]
        if role is None and Limits.objects.filter(user=None, role=None).exists():
            raise forms.ValidationError(_("Everyone’s limits already exist: change those."))
        return role


class SiteBudgetForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    class Meta:
        model = SiteBudget
        fields = ("money_per_day_usd", "money_per_month_usd")
        labels = {name: FIELD_TEXTS[name][0] for name in fields}
        help_texts = {"money_per_day_usd": _("A day in UTC."), "money_per_month_usd": _("A calendar month in UTC.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs["placeholder"] = WITHOUT_LIMIT


def limit_sentence(limits: EffectiveLimits, name: str) -> str:
    """Return a limit and where it comes from, such as `20, from the role`."""
    value = getattr(limits, name)
    return str(WITHOUT_LIMIT) if value is None else FROM[limits.origins[name]] % {"limit": format_figure(value)}


def format_figure(value: int | Decimal) -> str:
    """Return a count, or an amount without the zeros that the column adds."""
    return f"{value.normalize():,f}" if isinstance(value, Decimal) else f"{value:,}"
