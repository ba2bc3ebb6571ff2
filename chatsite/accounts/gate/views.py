"""The gate's page: the password form, the waiting list, or why no password helps."""

from __future__ import annotations

from typing import cast

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import http_date, url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from chatsite.accounts.attempts import TooManyAttempts
from chatsite.accounts.gate.admission import Admission, load_admission_facts
from chatsite.accounts.gate.forms import UnlockForm
from chatsite.accounts.gate.passwords import required_gate_password
from chatsite.accounts.gate.seats import admit, waiting_position
from chatsite.accounts.gate.unlock import unlock
from chatsite.accounts.models import Gate
from chatsite.accounts.preferences.reader_time_zone import reader_time_zone, time_of_day
from chatsite.accounts.signed_in_request import SignedInRequest

LOOK_AGAIN_SECONDS = 10


@sensitive_post_parameters("gate_password")
@require_http_methods(["GET", "POST"])
def gate(request: HttpRequest) -> HttpResponse:
    """Admit the user and go on to the page that they came for, or show what keeps them out."""
    admission = admit(request.user)
    if admission is Admission.SIGNED_OUT:
        return redirect_to_login(request.get_full_path())
    if admission is Admission.ADMITTED:
        return redirect(_next(request))
    if admission is Admission.BLOCKED:
        return _page(request, "gate/blocked.html", status=403)
    request = cast(SignedInRequest, request)
    if admission is Admission.WAITING:
        place = waiting_position(request.user.pk)
        return _page(request, "gate/waiting.html", place=place, look_again_seconds=LOOK_AGAIN_SECONDS)
    return _take_password(request) if request.method == "POST" else _ask(request, UnlockForm())


@sensitive_variables("raw")
def _take_password(request: SignedInRequest) -> HttpResponse:
    form = UnlockForm(request.POST)
    if not form.is_valid():
        return _ask(request, form)
    raw = form.cleaned_data["gate_password"]
    try:
        is_right = unlock(request.user, raw, address=request.META.get("REMOTE_ADDR", ""))
    except TooManyAttempts as error:
        return _too_many(request, error)
    if is_right:
        return redirect(request.get_full_path())
    form.add_error("gate_password", _("Wrong password. Try again."))
    return _ask(request, form)


def _ask(request: SignedInRequest, form: UnlockForm) -> HttpResponse:
    """Ask for the password, or say that none is in force for this user."""
    status = 400 if request.method == "POST" else 200
    facts = load_admission_facts([request.user.pk]).get(request.user.pk)
    password = required_gate_password(request.user, facts) if facts else None
    if facts is None or password is None:
        return _page(request, "gate/no_password.html", status=status)
    form.label_password(is_personal=password.user_id is not None)
    return _page(request, "gate/password.html", status=status, form=form, is_changed=facts.has_outdated_entry)


def _too_many(request: HttpRequest, error: TooManyAttempts) -> HttpResponse:
    clock = time_of_day(error.opens_at, reader_time_zone(request.COOKIES))
    response = _page(request, "gate/too_many.html", status=429, opens_at=error.opens_at, opens_at_clock=clock)
    response["Retry-After"] = http_date(error.opens_at.timestamp())
    return response


def _page(request: HttpRequest, template: str, *, status: int = 200, **context: object) -> HttpResponse:
    gate = Gate.objects.first() or Gate()
    return render(request, template, {"gate": gate, "contact": gate.contact, **context}, status=status)


def _next(request: HttpRequest) -> str:
    """Return the page that the user came for, if it is one of this site."""
    wanted = request.GET.get(REDIRECT_FIELD_NAME, "")
    return wanted if url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted[0] == "/" else "/"
