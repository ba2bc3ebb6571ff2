"""Users in the admin. Accounts are deactivated, never deleted: the ledger names who spent the money.

Changes that could open an account are recorded by `account_changes`, and its user sees them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from chatsite.accounts.account.account_changes import record_account_change, send_password_link
from chatsite.accounts.account.last_admin import lock_remaining_admin
from chatsite.accounts.account.sign_in_methods import sign_in_methods
from chatsite.accounts.admin.base_admin import EditConflictAdmin, StateColours
from chatsite.accounts.admin.limits import RULE, PersonalLimits
from chatsite.accounts.admin.limits_form import FIELD_TEXTS, limit_sentence
from chatsite.accounts.admin.user_forms import LAST_ADMIN, OWN_ACCESS, NewUserForm, UserForm
from chatsite.accounts.limits import LIMITS, effective_limits
from chatsite.accounts.models import ChangeKind, GatePassword, User
from chatsite.accounts.second_factors.factors import remove_second_factors
from chatsite.accounts.sessions.session_list import end_all_sessions
from chatsite.accounts.signed_in_request import SignedInRequest

NEW = _("The user is sent a link to choose a password. If this site can’t send email, invite them instead.")
LINKS_SENT = _("Password reset links sent: %(count)d.")
LINKS_PRINTED = _(
    "Password reset links made: %(count)d. This site can’t send email: the links are printed "
    "where the site was started, and its operator can pass them on."
)
SEND_LINK = "accounts_user_send_password_link"  # the button of a user's form, as the admin names it
ACTIVATED = _("Activated: %(count)d. Your own account stays as it is.")
DEACTIVATED = _("Deactivated: %(count)d. Your own account stays as it is.")


class UserFormRequest(SignedInRequest):
    """A request to the form of a user. *only_sent_link* is known once the form is saved."""

    only_sent_link: bool


@admin.register(User)
class UserAdmin(EditConflictAdmin):
    form = UserForm
    list_display = ["email", "shown_name", "shown_role", "is_active"]
    list_filter = ["is_active", "role", "gate_rule", "date_joined"]
    search_fields = ["email", "name"]
    search_help_text = _("Email address or name")
    ordering = ["email"]
    readonly_fields = ["signs_in_with", "at_the_gate", "last_login", "date_joined", "limits_that_hold"]
    inlines = [PersonalLimits]
    actions = ["deactivate", "activate", "remove_second_factors", "send_password_links"]
    actions_submit_line = ["send_password_link"]
    fieldsets = [
        (None, {"fields": ["email", "name", "signs_in_with", "is_active"]}),
        (_("Rights"), {"fields": ["role", "gate_rule", "at_the_gate"]}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
        (_("Limits"), {"description": RULE, "fields": ["limits_that_hold"]}),
    ]
    add_fieldsets = [(None, {"description": NEW, "fields": ["email", "name"]})]

    @display(description=_("name"), ordering="name")
    def shown_name(self, user: User) -> str:
        return user.name or "–"

    @display(description=_("role"), ordering="role", label=StateColours(admin="primary", reviewer="info"))
    def shown_role(self, user: User) -> tuple[str, str]:
        return user.role, user.get_role_display()

    @display(description=_("valid now"))
    def limits_that_hold(self, user: User) -> str:
        limits = effective_limits(user)
        rows = [(FIELD_TEXTS[name][0], limit_sentence(limits, name)) for name in LIMITS]
        return render_to_string("admin/accounts/user/limits_that_hold.html", {"rows": rows})

    @display(description=_("signs in with"))
    def signs_in_with(self, user: User) -> str:
        return render_to_string("admin/accounts/user/ways_in.html", {"ways": sign_in_methods(user)})

    @display(description=_("own gate password"))
    def at_the_gate(self, user: User) -> SafeString:
        """Link to the gate's page of the user, on which they get a password of their own."""
        is_set = GatePassword.objects.filter(user=user, revoked_at=None).exists()
        state = gettext("Set.") if is_set else gettext("Not set.")
        url = reverse("admin:accounts_gate_person", args=[user.pk])
        return format_html('{} <a class="leads-on" href="{}">{}</a>', state, url, gettext("View and change"))

    def get_form(self, request: HttpRequest, obj: User | None = None, **kwargs: Any) -> type[ModelForm[User]]:
        kwargs["form"] = UserForm if obj else NewUserForm
        form: type[ModelForm[User]] = super().get_form(request, obj, **kwargs)
        return form

    def get_actions_submit_line(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Offer nothing beside saving for a new account: its link is sent anyway."""
        return super().get_actions_submit_line(request, object_id) if object_id else []

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> list[Any]:
        return list(super().get_fieldsets(request, obj)) if obj else self.add_fieldsets

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[type[PersonalLimits]]:
        return self.inlines if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        """Admins can't change their own access."""
        own = OWN_ACCESS if obj == request.user else ()
        return [*super().get_readonly_fields(request, obj), *own]

    def save_model(self, request: SignedInRequest, obj: User, form: ModelForm[User], change: Any) -> None:
        super().save_model(request, obj, form, change)
        if "email" in form.changed_data:
            _replace_sign_in_address(obj)
        if "is_active" in form.changed_data:
            end_all_sessions(obj)
        if change:
            _record_access_changes(request, obj, form)
        else:
            send_password_link(request, obj)

    def save_related(self, request: UserFormRequest, form: ModelForm[User], formsets: Any, change: Any) -> None:
        super().save_related(request, form, formsets, change)
        request.only_sent_link = SEND_LINK in request.POST and not any(each.has_changed() for each in [form, *formsets])

    def response_change(self, request: UserFormRequest, obj: User) -> HttpResponse:
        """Don't say that the user was changed if the button sent a link and nothing else was changed."""
        answer = self.response_post_save_change if request.only_sent_link else super().response_change
        response: HttpResponse = answer(request, obj)
        return response

    @action(description=_("Send a password reset link"), permissions=["change"])
    def send_password_link(self, request: SignedInRequest, user: User) -> None:
        """The button of one user's form, which is saved with it."""
        self._send_links(request, [user])

    @action(description=_("Send selected users a password reset link"), permissions=["change"])
    def send_password_links(self, request: SignedInRequest, queryset: QuerySet[User]) -> None:
        self._send_links(request, queryset.filter(is_active=True))

    @transaction.atomic
    def _send_links(self, request: SignedInRequest, users: Iterable[User]) -> None:
        people = list(users)
        for user in people:
            send_password_link(request, user)
            self.log_change(request, user, "Sent a link to choose a new password.")
        if settings.SMTP_URL:
            self.message_user(request, LINKS_SENT % {"count": len(people)})
        else:
            self.message_user(request, LINKS_PRINTED % {"count": len(people)}, messages.WARNING)

    @action(description=_("Deactivate selected users"), permissions=["change"])
    def deactivate(self, request: SignedInRequest, queryset: QuerySet[User]) -> None:
        self._set_active(request, queryset, active=False)

    @action(description=_("Activate selected users"), permissions=["change"])
    def activate(self, request: SignedInRequest, queryset: QuerySet[User]) -> None:
        self._set_active(request, queryset, active=True)

    @action(description=_("Remove second factors of selected users"), permissions=["change"])
    @transaction.atomic
    def remove_second_factors(self, request: SignedInRequest, queryset: QuerySet[User]) -> None:
        """For users who have lost theirs and their recovery codes; one's own are removed on the account page."""
        others = list(queryset.exclude(pk=request.user.pk))
        remove_second_factors(others)
        for user in others:
            record_account_change(request, user, ChangeKind.FACTORS)
            self.log_change(request, user, "Removed the second factors.")
        note = gettext("Second factors removed: %(count)d. Your own stay as they are.")
        self.message_user(request, note % {"count": len(others)})

    @transaction.atomic
    def _set_active(self, request: SignedInRequest, queryset: QuerySet[User], *, active: bool) -> None:
        others = list(queryset.exclude(pk=request.user.pk))
        keys = [user.pk for user in others]
        if not active and not lock_remaining_admin(keys):
            self.message_user(request, LAST_ADMIN, messages.ERROR)
            return
        User.objects.filter(pk__in=keys).update(is_active=active)
        end_all_sessions(*others)  # also when activating: a sign-in at the moment of deactivating may have left one
        for user in others:
            self.log_change(request, user, "Activated." if active else "Deactivated.")
        self.message_user(request, (ACTIVATED if active else DEACTIVATED) % {"count": len(others)})


def _replace_sign_in_address(user: User) -> None:
    """Make the user's address the one that allauth signs in and mails to; it has to be confirmed as any other."""
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=False)


def _record_access_changes(request: SignedInRequest, user: User, form: ModelForm[User]) -> None:
    """Record what the form has changed that opens the account to others or gives more rights."""
    if "email" in form.changed_data:
        before = form.initial["email"]
        record_account_change(request, user, ChangeKind.ADDRESS, detail=before, email=before)
    if "role" in form.changed_data:
        record_account_change(request, user, ChangeKind.ROLE, detail=user.role)
