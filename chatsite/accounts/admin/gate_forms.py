"""Forms of the gate in the admin."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from chatsite.accounts.gate.passwords import LONGEST_CHARACTERS, SHORTEST_CHARACTERS
from chatsite.accounts.models import Gate


class GateForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    class Meta:
        model = Gate
        fields = ["mode", "seats", "contact"]
        labels = {
            "mode": pgettext_lazy("what the gate asks for", "Password"),
            "seats": _("Seats"),
            "contact": _("Contact"),
        }
        widgets = {
            "mode": UnfoldAdminSelectWidget,
            "seats": UnfoldAdminIntegerFieldWidget,
            "contact": UnfoldAdminTextInputWidget,
        }


class ExpiryForm(forms.Form):
    """When a password expires; empty means never."""

    expires_at = forms.DateTimeField(
        label=_("Expires at"),
        required=False,
        widget=UnfoldAdminTextInputWidget({"type": "datetime-local"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        by_clock = _("Leave empty to never expire. By the clock of %(zone)s.") % {
            "zone": timezone.get_current_timezone_name()
        }
        self.fields["expires_at"].help_text = by_clock

    def clean_expires_at(self) -> dt.datetime | None:
        expires_at: dt.datetime | None = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= timezone.now():
            raise ValidationError(_("This moment has passed. To end the password now, revoke it."))
        return expires_at


class NewPasswordForm(ExpiryForm):
    """A password of the admin's choice; empty, one is generated."""

    password = forms.CharField(
        label=_("A password of your choice"),
        required=False,
        min_length=SHORTEST_CHARACTERS,
        max_length=LONGEST_CHARACTERS,
        widget=UnfoldAdminPasswordWidget({"autocomplete": "new-password"}),
        help_text=_("Leave empty to generate one. It is shown once."),
    )
    field_order = ["password", "expires_at"]
