"""The gate in the admin: mode, passwords, seats. A generated password is shown once, to the admin who generated it.

It is in the answer to the POST that made it and nowhere else: no message, session, URL or log entry holds it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from unfold.admin import ModelAdmin

from chatsite.accounts.gate.admission import find_admission, users_without_password
from chatsite.accounts.gate.passwords import (
    find_gate_password,
    generate_password,
    revoke_gate_password,
    set_gate_password_expiry,
    set_password,
)
from chatsite.accounts.gate.seats import assign_seats, list_seat_requests
from chatsite.accounts.models import Gate, GateMode, GatePassword, GateRule, User
from chatsite.names import isolate_name

from .gate_forms import ExpiryForm, GateForm, NewPasswordForm

MOST_LISTED = 200
MOST_WITHOUT_PASSWORD = 20
PERSON = "admin:accounts_gate_person"


@dataclass(frozen=True)
class PasswordState:
    """A gate password as the admin shows it; *user* is None for the password for all."""

    user: User | None
    stored: GatePassword | None

    @property
    def state(self) -> str:
        if self.stored is None:
            return "none"
        if self.stored.revoked_at:
            return "revoked"
        return "over" if self.stored.expires_at and self.stored.expires_at <= timezone.now() else "in force"

    @property
    def can_be_revoked(self) -> bool:
        return self.state in ("in force", "over")

    @property
    def url(self) -> str:
        if self.user is None:
            return reverse("admin:accounts_gate_password")
        return reverse(f"{PERSON}_password", args=[self.user.pk])


@admin.register(Gate)
class GateAdmin(ModelAdmin):
    """One page for the gate, one for each person at it; there is nothing to list, add or delete."""

    def get_urls(self) -> list[URLPattern]:
        pages: dict[str, tuple[str, Callable[..., HttpResponse]]] = {
            "changelist": ("", self.changelist_view),
            "password": ("password/", self.change_password),
            "person": ("people/<int:user_id>/", self.person_view),
            "person_password": ("people/<int:user_id>/password/", self.change_password),
        }
        return [
            path(route, self.admin_site.admin_view(_for_admins(view)), name=f"accounts_gate_{name}")
            for name, (route, view) in pages.items()
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Gate | None = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The gate; posted to, its settings."""
        form = GateForm(request.POST or None, instance=_gate())
        if request.method == "POST" and form.is_valid():
            self._save_gate(request, form)
            return redirect("admin:accounts_gate_changelist")
        return self._gate_page(request, form=form)

    def _save_gate(self, request: HttpRequest, form: GateForm) -> None:
        with transaction.atomic():
            gate = form.save()
            assign_seats()  # a higher cap admits users who wait
        self.log_change(request, gate, _settings_log_entry(gate))
        messages.success(request, _("Saved."))

    def person_view(self, request: HttpRequest, user_id: int) -> HttpResponse:
        return self._person_page(request, _find_person(user_id))

    @method_decorator(sensitive_post_parameters("password"))
    def change_password(self, request: HttpRequest, user_id: int | None = None) -> HttpResponse:
        """Set, revoke or expire the password of all, or of one user. A GET leads back to the page of that password."""
        user = None if user_id is None else _find_person(user_id)
        if request.method != "POST":
            return self._to_page(user)
        actions = {"set": self._set, "expiry": self._set_expiry, "revoke": self._revoke}
        if (action := actions.get(request.POST.get("action", ""))) is None:
            raise BadRequest("no such action")
        return action(request, user)

    @sensitive_variables("raw", "made_up")
    def _set(self, request: HttpRequest, user: User | None) -> HttpResponse:
        form = NewPasswordForm(request.POST)
        if not form.is_valid():
            return self._page_of(request, user, new_form=form)
        made_up = "" if form.cleaned_data["password"] else generate_password()
        raw = form.cleaned_data["password"] or made_up
        set_password(raw, user=user, expires_at=form.cleaned_data["expires_at"])
        self._log(
            request, user, "Made up a new gate password" if made_up else "Set a gate password of their own choice"
        )
        if made_up:
            return self._page_of(request, user, made_up=made_up)
        return self._done(request, user, _("The password is set. Everyone who came in with the old one is out."))

    def _set_expiry(self, request: HttpRequest, user: User | None) -> HttpResponse:
        form = ExpiryForm(request.POST)
        if not form.is_valid():
            return self._page_of(request, user, expiry_form=form)
        expires_at = form.cleaned_data["expires_at"]
        if not set_gate_password_expiry(expires_at, user=user):
            raise BadRequest("there is no password")
        self._log(request, user, f"Changed the end of the gate password: {expires_at or 'never'}")
        return self._done(request, user, _expiry_sentence(expires_at))

    def _revoke(self, request: HttpRequest, user: User | None) -> HttpResponse:
        if revoke_gate_password(user=user):
            self._log(request, user, "Revoked the gate password")
        return self._done(request, user, _("The password is revoked. Everyone who came in with it is out."))

    def _log(self, request: HttpRequest, user: User | None, done: str) -> None:
        self.log_change(request, user or _gate(), f"{done}.")

    def _done(self, request: HttpRequest, user: User | None, sentence: str) -> HttpResponse:
        messages.success(request, sentence)
        return self._to_page(user)

    def _to_page(self, user: User | None) -> HttpResponse:
        return redirect(PERSON, user.pk) if user else redirect("admin:accounts_gate_changelist")

    def _page_of(self, request: HttpRequest, user: User | None, **context: Any) -> HttpResponse:
        return self._person_page(request, user, **context) if user else self._gate_page(request, **context)

    def _gate_page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        places = list_seat_requests()
        seated = [place for place in places if place.is_seated]
        waiting = places[len(seated) :]
        gate = _gate()
        password = PasswordState(None, find_gate_password(None))
        shown = {
            "title": _("Gate"),
            "gate": gate,
            "form": GateForm(instance=gate),
            "password": password,
            "nobody_gets_in": gate.mode == GateMode.SHARED and password.state != "in force",
            "without_password": [] if gate.mode == GateMode.SHARED else users_without_password(MOST_WITHOUT_PASSWORD),
            "most_without_password": MOST_WITHOUT_PASSWORD,
            "seated": seated[:MOST_LISTED],
            "seated_count": len(seated),
            "waiting": waiting[:MOST_LISTED],
            "waiting_count": len(waiting),
            "exceptions": _exceptions(),
        }
        return self._render(request, "admin/accounts/gate.html", {**shown, **context})

    def _person_page(self, request: HttpRequest, person: User, **context: Any) -> HttpResponse:
        shown = {
            "title": _("%(person)s at the gate") % {"person": isolate_name(person)},
            "person": person,
            "admission": find_admission(person.pk).name,
            "password": PasswordState(person, find_gate_password(person)),
        }
        return self._render(request, "admin/accounts/gate_person.html", {**shown, **context})

    def _render(self, request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
        forms_of_page = {"new_form": NewPasswordForm(), "expiry_form": _expiry_form(context["password"])}
        shown = {**self.admin_site.each_context(request), "opts": self.opts, **forms_of_page, **context}
        has_errors = any(isinstance(form, BaseForm) and form.errors for form in context.values())
        return render(request, template, shown, status=400 if has_errors else 200)


def _for_admins(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    def answer(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not request.user.has_perm("accounts.change_gate"):
            raise PermissionDenied
        return view(request, **kwargs)

    return answer


def _gate() -> Gate:
    return Gate.objects.first() or Gate()


def _find_person(user_id: int) -> User:
    if (person := User.objects.filter(pk=user_id).first()) is None:
        raise Http404
    return person


def _expiry_form(password: PasswordState) -> ExpiryForm:
    expires_at = password.stored and password.stored.expires_at
    initial = f"{timezone.localtime(expires_at):%Y-%m-%dT%H:%M}" if expires_at else ""
    return ExpiryForm(initial={"expires_at": initial})


def _expiry_sentence(expires_at: dt.datetime | None) -> str:
    if expires_at is None:
        return _("The password does not expire.")
    return _("The password expires at %(moment)s.") % {"moment": f"{timezone.localtime(expires_at):%Y-%m-%d %H:%M}"}


def _exceptions() -> list[User]:
    """Return the users with a gate rule or a gate password of their own."""
    people = User.objects.exclude(gate_rule=GateRule.SITE) | User.objects.exclude(gate_password=None)
    return list(people.select_related("gate_password").order_by("email")[:MOST_LISTED])


def _settings_log_entry(gate: Gate) -> str:
    """Return the log entry of the settings, always in English: log entries are not translated later."""
    seats = "without a cap" if gate.seats is None else f"{gate.seats} seats"
    return f"Gate: {gate.mode}, {seats}, contact “{gate.contact}”."
