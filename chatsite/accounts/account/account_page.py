"""The account page, and ending sessions from it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from chatsite.accounts.account.account_changes import list_account_changes
from chatsite.accounts.account.reauthentication import require_reauthentication
from chatsite.accounts.account.sign_in_methods import sign_in_methods
from chatsite.accounts.forms import ProfileForm
from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.models import User
from chatsite.accounts.preferences.reader_language import reader_language, remember_language
from chatsite.accounts.sessions.session_list import (
    end_all_sessions,
    end_other_sessions,
    end_session,
    ends_no_other_session,
    list_sessions,
)
from chatsite.accounts.signed_in_request import SignedInRequest
from chatsite.version import product_version


@login_required
@require_http_methods(["GET", "POST"])
def account(request: SignedInRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        return _saved(request, form.save())
    context = {
        "form": form,
        "ways": sign_in_methods(request.user),
        "sessions": list_sessions(request.user, request.session),
        "changes": list_account_changes(request.user),
        "readings_are_shown": settings.READINGS_SHOWN_TO_OWNERS,
        # The gate lets people leave with their account; what they wrote for their conversations is behind it.
        "notes_are_shown": find_admission(request.user.pk) is Admission.ADMITTED,
        "version": product_version(),
    }
    return render(request, "account/account.html", context)


def _saved(request: HttpRequest, user: User) -> HttpResponse:
    """Show the page again, in the language that was saved."""
    response = redirect("account")
    if user.language:
        remember_language(request, response, user.language)
    else:
        response.delete_cookie(settings.LANGUAGE_COOKIE_NAME)
        request.COOKIES.pop(settings.LANGUAGE_COOKIE_NAME, None)
    with translation.override(reader_language(request)):
        messages.success(request, _("Saved."))
    return response


@login_required
@require_http_methods(["GET", "POST"])
def end_sessions(request: SignedInRequest) -> HttpResponseBase:
    """End one of the user's sessions, which the form names by its handle, or `others`, or `all`.

    Ending others asks for reauthentication, after which the user comes here by GET and chooses again.
    """
    which = request.POST.get("session", "") if request.method == "POST" else ""
    if ends_no_other_session(request.user, request.session, which):
        end_all_sessions(request.user)
        return _signed_out(request)
    return _end_sessions_elsewhere(request)


@require_reauthentication
def _end_sessions_elsewhere(request: SignedInRequest) -> HttpResponse:
    if request.method == "GET":
        messages.info(request, _("Choose again which sessions to sign out of."))
        return redirect("account")
    which = request.POST.get("session", "")
    if which == "all":
        end_all_sessions(request.user)
        return _signed_out(request)
    if which == "others":
        _tell_how_many(request, end_other_sessions(request.user, request.session))
    elif end_session(request.user, which):
        messages.success(request, _("Signed out of that session."))
    else:
        messages.info(request, _("That session has already ended."))
    return redirect("account")


def _tell_how_many(request: HttpRequest, ended: int) -> None:
    if ended:
        text = ngettext("Signed out of %(count)d other session.", "Signed out of %(count)d other sessions.", ended)
        messages.success(request, text % {"count": ended})
    else:
        messages.info(request, _("You weren’t signed in anywhere else."))


def _signed_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    messages.success(request, _("You have signed out."))
    return redirect(settings.LOGIN_URL)
