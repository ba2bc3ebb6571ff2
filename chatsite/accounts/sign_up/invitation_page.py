"""The page that an invitation's link opens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from chatsite.accounts.forms import TokenForm
from chatsite.accounts.sign_up import invitations


@sensitive_post_parameters("token")
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest) -> HttpResponse:
    """Take the token of an invitation, and go on to sign-up."""
    if request.user.is_authenticated or settings.SIGN_UP == "closed":
        return _page(request, is_closed=settings.SIGN_UP == "closed", status=410)
    form = TokenForm(request.POST or None)
    if request.method == "GET" or not form.is_valid():
        return _page(request, form=form)
    return _answer(request, form)


def _answer(request: HttpRequest, form: TokenForm) -> HttpResponse:
    found = invitations.find_by_token(form.cleaned_data["token"])
    if found is None:
        form.add_error(
            "token", _("This link is not valid, or a newer one has replaced it. Ask the person who invited you.")
        )
        return _page(request, form=form, status=404)
    if not found.is_open:
        return _page(request, found=found, status=410)
    invitations.hold_invitation(request.session, found)
    return redirect("account_signup")


@require_POST
def decline(request: HttpRequest) -> HttpResponse:
    """Go on without the invitation: with another address, where the site's policy allows that."""
    invitations.drop_invitation(request.session)
    return redirect("account_signup")


def _page(request: HttpRequest, *, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "account/invitation.html", context, status=status)
