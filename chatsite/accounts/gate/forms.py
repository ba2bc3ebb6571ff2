"""The form of the gate's page."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.gate.passwords import LONGEST_CHARACTERS


class UnlockForm(forms.Form):
    """The gate password. Input that can't be one is refused here, before it costs the work of a hash."""

    is_personal = False

    gate_password = forms.CharField(
        label=_("Site password"),
        max_length=LONGEST_CHARACTERS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "autofocus": True, "spellcheck": "false"}),
        error_messages={"max_length": _("Wrong password. Try again.")},
    )

    def label_password(self, *, is_personal: bool) -> None:
        """Ask for the password of all, or for the user's own."""
        self.is_personal = is_personal
        if is_personal:
            self.fields["gate_password"].label = _("Your site password")
