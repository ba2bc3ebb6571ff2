"""The form of a user in the admin: its addresses and its fields."""

from __future__ import annotations

from django.urls import reverse

from chatsite.accounts.models import User

ADD = reverse("admin:accounts_user_add")
LIST = reverse("admin:accounts_user_changelist")
NO_LIMITS = {"limits-TOTAL_FORMS": "0", "limits-INITIAL_FORMS": "0"}
PASSWORD = "a seat by the window, 12A"


def change(user: User) -> str:
    return reverse("admin:accounts_user_change", args=[user.pk])


def form_of(user: User, **fields: str) -> dict[str, str]:
    choices = {"role": user.role, "gate_rule": user.gate_rule} | ({"is_active": "on"} if user.is_active else {})
    return {"email": user.email, "name": user.name} | choices | NO_LIMITS | fields
