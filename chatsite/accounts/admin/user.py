"""People in the admin. Accounts are deactivated, never deleted: the ledger knows whose money it was."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from chatsite.accounts.admin.colours import Colours
from chatsite.accounts.admin.conflicts import SavedByOne
from chatsite.accounts.admin.limits import RULE, PersonalLimits
from chatsite.accounts.admin.limits_form import WORDS, in_words
from chatsite.accounts.admins import keeps_an_admin
from chatsite.accounts.limits import LIMITS, effective_limits
from chatsite.accounts.models import GatePassword, GateRule, Role, User
from chatsite.accounts.second_factors.factors import remove_second_factors

OWN_ACCESS = ("is_active", "role", "gate_rule")
LAST_ADMIN = _("The site needs an admin: nobody else is one.")
ACTIVATED = _("Activated: %(count)d. Your own account stays as it is.")
DEACTIVATED = _("Deactivated: %(count)d. Your own account stays as it is.")


class UniqueAddress:
    """Refuses an email address that someone else has, in any letter case, also as a second one."""

    instance: User
    cleaned_data: dict[str, Any]

    def clean_email(self) -> str:
        email = self.cleaned_data["email"].lower()
        users = User.objects.filter(email=email).exclude(pk=self.instance.pk)
        addresses = EmailAddress.objects.filter(email=email).exclude(user=self.instance.pk)
        if users.exists() or addresses.exists():
            raise ValidationError(_("Someone has this address already."))
        return email


class NewUserForm(UniqueAddress, UserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class UserForm(UniqueAddress, UserChangeForm):
    class Meta:
        model = User
        fields = ("email", "name", "password", "is_active", "role", "gate_rule")

    def clean(self) -> dict[str, Any]:
        """Leave the site an admin: this form runs in the transaction that saves it."""
        cleaned = super().clean()
        will_be = {name: cleaned.get(name, getattr(self.instance, name)) for name in OWN_ACCESS}
        is_admin = will_be["role"] == Role.ADMIN and will_be["is_active"] and will_be["gate_rule"] != GateRule.BLOCKED
        if not is_admin and not keeps_an_admin([self.instance.pk]):
            raise ValidationError(LAST_ADMIN)
        return cleaned


@admin.register(User)
class UserAdmin(DjangoUserAdmin, SavedByOne):
    form = UserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["email", "shown_name", "shown_role", "is_active"]
    list_filter = ["is_active", "role", "gate_rule", "date_joined"]
    search_fields = ["email", "name"]
    search_help_text = _("Email address or name")
    ordering = ["email"]
    readonly_fields = ["at_the_gate", "last_login", "date_joined", "limits_that_hold"]
    inlines = [PersonalLimits]
    filter_horizontal = []
    actions = ["deactivate", "activate", "remove_second_factors"]
    fieldsets = [
        (None, {"fields": ["email", "name", "password", "is_active"]}),
        (_("Rights"), {"fields": ["role", "gate_rule", "at_the_gate"]}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
        (_("Limits"), {"description": RULE, "fields": ["limits_that_hold"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "usable_password", "password1", "password2"]})]

    @display(description=_("name"), ordering="name")
    def shown_name(self, user: User) -> str:
        return user.name or "–"

    @display(description=_("role"), ordering="role", label=Colours(admin="primary", reviewer="info"))
    def shown_role(self, user: User) -> tuple[str, str]:
        return user.role, user.get_role_display()

    @display(description=_("in force now"))
    def limits_that_hold(self, user: User) -> str:
        limits = effective_limits(user)
        rows = [(WORDS[name][0], in_words(limits, name)) for name in LIMITS]
        return render_to_string("admin/accounts/user/limits_that_hold.html", {"rows": rows})

    @display(description=_("own gate password"))
    def at_the_gate(self, user: User) -> SafeString:
        """The way to what the gate knows of the person, and to a password of their own."""
        is_set = GatePassword.objects.filter(user=user, revoked_at=None).exists()
        state = gettext("One is set.") if is_set else gettext("None is set.")
        url = reverse("admin:accounts_gate_person", args=[user.pk])
        return format_html('{} <a class="leads-on" href="{}">{}</a>', state, url, gettext("See and change"))

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[type[PersonalLimits]]:
        return self.inlines if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        """No admin locks the last admin out."""
        own = OWN_ACCESS if obj == request.user else ()
        return [*super().get_readonly_fields(request, obj), *own]

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: Any) -> None:
        super().save_model(request, obj, form, change)
        if "email" in form.changed_data:
            _take_over_address(obj)

    @action(description=_("Deactivate selected users"), permissions=["change"])
    def deactivate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_active(request, queryset, active=False)

    @action(description=_("Activate selected users"), permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        self._set_active(request, queryset, active=True)

    @action(description=_("Remove second factors of selected users"), permissions=["change"])
    @transaction.atomic
    def remove_second_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """For people who have lost theirs and their recovery codes; one's own are removed on the account page."""
        others = list(queryset.exclude(pk=request.user.pk))
        remove_second_factors(others)
        for user in others:
            self.log_change(request, user, "Removed the second factors.")
        note = gettext("Second factors removed: %(count)d. Your own stay as they are.")
        self.message_user(request, note % {"count": len(others)})

    @transaction.atomic
    def _set_active(self, request: HttpRequest, queryset: QuerySet[User], *, active: bool) -> None:
        others = list(queryset.exclude(pk=request.user.pk))
        keys = [user.pk for user in others]
        if not active and not keeps_an_admin(keys):
            return self.message_user(request, LAST_ADMIN, messages.ERROR)
        User.objects.filter(pk__in=keys).update(is_active=active)
        for user in others:
            self.log_change(request, user, "Activated." if active else "Deactivated.")
        return self.message_user(request, (ACTIVATED if active else DEACTIVATED) % {"count": len(others)})


def _take_over_address(user: User) -> None:
    """Make the user's address the one that allauth signs in and mails to; it has to prove itself as any other."""
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=False)
