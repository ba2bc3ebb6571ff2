"""Forms of users in the admin. None has a password field: users choose their own."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.core.exceptions import ValidationError
from django.forms import ModelForm
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.account.last_admin import lock_remaining_admin
from chatsite.accounts.models import GateRule, Role, User

OWN_ACCESS = ("is_active", "role", "gate_rule")
LAST_ADMIN = _("The site needs an admin, and this is the only one.")


class _UniqueAddress(ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """Refuses an email address that another user has, in any letter case, also as a pending one."""

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        users = User.objects.filter(email=email).exclude(pk=self.instance.pk)
        addresses = EmailAddress.objects.filter(email=email).exclude(user=self.instance.pk)
        if users.exists() or addresses.exists():
            raise ValidationError(_("This address is already taken."))
        return email


class NewUserForm(_UniqueAddress):
    class Meta:
        model = User
        fields = ("email", "name")

    def save(self, commit: bool = True) -> User:
        self.instance.set_unusable_password()
        saved: User = super().save(commit)
        return saved


class UserForm(_UniqueAddress):
    class Meta:
        model = User
        fields = ("email", "name", "is_active", "role", "gate_rule")

    def clean(self) -> dict[str, Any]:
        """Refuse to remove the last admin: the form is validated in the transaction that saves it."""
        cleaned = super().clean() or {}
        will_be = {name: cleaned.get(name, getattr(self.instance, name)) for name in OWN_ACCESS}
        is_admin = will_be["role"] == Role.ADMIN and will_be["is_active"] and will_be["gate_rule"] != GateRule.BLOCKED
        if not is_admin and not lock_remaining_admin([self.instance.pk]):
            raise ValidationError(LAST_ADMIN)
        return cleaned
