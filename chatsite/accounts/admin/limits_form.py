"""The form of limits: what is left empty shows what it inherits."""

from __future__ import annotations

from typing import Any

from django import forms

from chatsite.accounts.limits import LIMITS, EffectiveLimits, inherited_limits
from chatsite.accounts.models import Limits

WORDS = {
    "messages_per_minute": ("messages a minute", "How many messages somebody may send in any minute."),
    "replies_at_once": ("replies at once", "How many replies may be made for somebody at the same time."),
    "message_tokens": ("tokens in a message", "The longest message that somebody may send."),
    "uploads_per_day": ("uploads a day", "How many files somebody may upload in a day (UTC)."),
    "upload_kilobytes": ("kilobytes of a file", "The largest file that somebody may upload."),
    "money_per_day_usd": ("US dollars a day", "What somebody's replies may cost in a day (UTC)."),
    "money_per_month_usd": ("US dollars a month", "What somebody's replies may cost in a calendar month (UTC)."),
}
ORIGINS = {"person": "this person", "role": "the role", "site": "the site", "settings": "the settings"}


class LimitsForm(forms.ModelForm):
    """*inherited* is what holds where a field is left empty; without it, what the instance says it is."""

    class Meta:
        model = Limits
        fields = ("role", *LIMITS)

    def __init__(self, *args: Any, inherited: EffectiveLimits | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        inherited = inherited or inherited_limits(self.instance)
        for name in LIMITS:
            field = self.fields[name]
            field.label, field.help_text = WORDS[name]
            field.widget.attrs["placeholder"] = in_words(inherited, name)

    def clean_role(self) -> str | None:
        role: str | None = self.cleaned_data["role"]
        if role is None and Limits.objects.filter(user=None, role=None).exists():
            raise forms.ValidationError("Everyone's limits are there already: change those.")
        return role


def in_words(limits: EffectiveLimits, name: str) -> str:
    """Return what holds and where it comes from, such as `20, from the role`."""
    value = getattr(limits, name)
    shown = "without limit" if value is None else f"{value.normalize():,f}" if name.endswith("_usd") else f"{value:,}"
    return f"{shown}, from {ORIGINS[limits.origins[name]]}" if value is not None else shown
