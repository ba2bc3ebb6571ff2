"""Account pages beside django-allauth's: sign-in and -up, passwords, second factor, first admin, account deleted."""

from __future__ import annotations

from typing import Any

from allauth.account.views import LoginView, PasswordResetFromKeyView, SignupView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from chatsite.accounts.forms import ResetLinkUsed, ResetPasswordForm, SignUpForm, TokenForm
from chatsite.accounts.second_factors.factors import must_set_up_second_factor
from chatsite.accounts.sign_up.first_admin import accept_token, holds_grant, is_link_open, make_first_admin
from chatsite.accounts.sign_up.invitations import held_invitation
from chatsite.accounts.sign_up.sign_up_policy import SignUpRefused, policy_sentence, usable_invitation
from chatsite.accounts.signed_in_request import SignedInRequest


class SignInView(LoginView):
    """Sign-in, which says on a new site how its first account is made."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(has_no_admin=is_link_open(), **kwargs)
        return context


class SignUpView(SignupView):
    """Sign-up, in which two at once end like two in a row."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        session = self.request.session
        own = {"makes_first_admin": holds_grant(session), "invitation": usable_invitation(session)}
        context: dict[str, Any] = super().get_context_data(policy=policy_sentence(), **own, **kwargs)
        return context

    def get_form(self, form_class: type[Form] | None = None) -> SignUpForm:
        form: SignUpForm = super().get_form(form_class)
        invitation = usable_invitation(self.request.session)
        if invitation and invitation.email:
            form.fix_email(invitation.email)
        return form

    def closed(self) -> HttpResponse:
        own = {"policy": settings.SIGN_UP, "invitation": held_invitation(self.request.session)}
        return render(self.request, self.template_name_signup_closed, own)

    def form_valid(self, form: Form) -> HttpResponse:
        try:
            response: HttpResponse = super().form_valid(form)
        except (IntegrityError, SignUpRefused):
            response = self._decide_again()
        return response

    def _decide_again(self) -> HttpResponse:
        """Answer as if this sign-up had come after the one that was faster."""
        if not self.is_open():
            return self.closed()
        form = self.get_form_class()(**self.get_form_kwargs())
        response: HttpResponse = super().form_valid(form) if form.is_valid() else self.form_invalid(form)
        return response


class ResetPasswordView(PasswordResetFromKeyView):
    """A new password by the link of a mail, which works once."""

    form_class = ResetPasswordForm

    def form_valid(self, form: Form) -> HttpResponse:
        try:
            response: HttpResponse = super().form_valid(form)
        except ResetLinkUsed:
            response = self.render_to_response(self.get_context_data(token_fail=True))
        return response


@login_required
def second_factor(request: SignedInRequest) -> HttpResponse:
    """Lead staff to set up the second factor that the admin requires."""
    if not must_set_up_second_factor(request.user):
        return redirect("admin:index" if request.user.is_staff else "account")
    return render(request, "account/second_factor.html")


@require_GET
def account_deleted(request: HttpRequest) -> HttpResponse:
    """Show that the account was deleted."""
    return render(request, "account/goodbye.html")


@sensitive_post_parameters("token")
@require_http_methods(["GET", "POST"])
def first_admin(request: HttpRequest) -> HttpResponse:
    """Take the token of the first admin's link, and go on to the account that becomes the admin."""
    if not is_link_open():
        return _link_is_used_up(request)
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if accept_token(request.session, form.cleaned_data["token"]):
            return redirect(_claim_url(request))
        form.add_error("token", _("This link is not valid or has expired. A new one is printed at the next start."))
    return render(request, "account/first_admin.html", {"form": form})


def _claim_url(request: HttpRequest) -> str:
    """Return the page on which the user confirms, by way of sign-up if they aren't signed in."""
    claim = reverse("first_admin_claim")
    if request.user.is_authenticated:
        return claim
    return reverse("account_signup") + "?" + urlencode({"next": claim})


@login_required
@require_http_methods(["GET", "POST"])
def first_admin_claim(request: SignedInRequest) -> HttpResponse:
    """Make the signed-in user the admin, if they came by the link and confirm it."""
    if request.method == "POST":
        make_first_admin(request.session, request.user)
    elif holds_grant(request.session):
        return render(request, "account/first_admin_claim.html")
    if request.user.is_superuser:
        messages.success(request, _("You are the administrator of this site."))
        return redirect("/")
    return _link_is_used_up(request)


def _link_is_used_up(request: HttpRequest) -> HttpResponse:
    return render(request, "account/first_admin.html", status=410)
