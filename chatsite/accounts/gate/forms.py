"""What people fill in at the gate."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.gate.passwords import LONGEST_CHARACTERS


class UnlockForm(forms.Form):
    """The password of the gate. What can't be one is refused here, before it costs the work of a hash."""

    gate_password = forms.CharField(
        label=_("Password of this site"),
        max_length=LONGEST_CHARACTERS,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "autofocus": True, "spellcheck": "false"}),
        error_messages={"max_length": _("This is not the password.")},
    )
