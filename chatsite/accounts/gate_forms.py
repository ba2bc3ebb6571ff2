"""What people fill in at the gate, and admins about it."""

from __future__ import annotations

import datetime as dt

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.gate_passwords import LONGEST_CHARACTERS, SHORTEST_CHARACTERS
from chatsite.accounts.models import Gate


class UnlockForm(forms.Form):
    """The password of the gate. What can't be one is refused here, before it costs the work of a hash."""

    gate_password = forms.CharField(
        label=_("Password of this site"),
        max_length=LONGEST_CHARACTERS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "autofocus": True, "spellcheck": "false"}),
        error_messages={"max_length": _("This is not the password.")},
    )


class GateForm(forms.ModelForm):
    class Meta:
        model = Gate
        fields = ["mode", "seats", "contact"]


class ExpiryForm(forms.Form):
    """When a password ends; empty is never."""

    expires_at = forms.DateTimeField(
        label="Ends at (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )

    def clean_expires_at(self) -> dt.datetime | None:
        expires_at: dt.datetime | None = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= timezone.now():
            raise ValidationError("This moment is over. To end the password at once, revoke it.")
        return expires_at


class NewPasswordForm(ExpiryForm):
    """A password that an admin chooses."""

    password = forms.CharField(
        label="New password",
        min_length=SHORTEST_CHARACTERS,
        max_length=LONGEST_CHARACTERS,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
