"""Forms of the account pages."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, LoginForm, ResetPasswordKeyForm, SignupForm
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.socialaccount.forms import SignupForm as SocialSignupForm
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from chatsite.accounts.attempts import Limit, TooManyAttempts, count_network_attempt, refund_network_attempt
from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.security.security_log import record_request_event
from chatsite.accounts.sign_in.sign_in_attempts import too_many_attempts_sentence
from chatsite.accounts.sign_up import first_admin
from chatsite.accounts.sign_up.sign_up_policy import complete_sign_up, refusal_sentence

KNOWN_ADDRESSES = "known addresses"
MOST_KNOWN_ADDRESSES = Limit(10, dt.timedelta(hours=1))


class SignInForm(LoginForm):
    """allauth's form; the page opens with the focus in its first field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True


class ResetLinkUsed(Exception):
    """The link in the mail was used by another browser meanwhile."""


class ResetPasswordForm(ResetPasswordKeyForm):
    """Sets a new password by the link of a mail. Of several at once that have the same link, the first one does."""

    user: User

    def save(self) -> None:
        """Raises `ResetLinkUsed`."""
        password = self.user.password
        with transaction.atomic():
            try:  # what an admin has changed meanwhile stays; the view has this object, too
                self.user.refresh_from_db(from_queryset=User.objects.select_for_update())
            except User.DoesNotExist:
                raise ResetLinkUsed from None
            if self.user.password != password:
                raise ResetLinkUsed
            super().save()


class _AddressByPolicy:
    """For both sign-up forms: refuses the addresses that the policy refuses."""

    cleaned_data: dict[str, Any]

    def clean_email(self) -> str:
        refusal = refusal_sentence(context.request.session, self.cleaned_data["email"])
        if refusal:
            raise forms.ValidationError(refusal)
        email: str = super().clean_email()  # type: ignore[misc]  # of the form that it is mixed into
        return email


class SocialSignUpForm(_AddressByPolicy, SocialSignupForm):
    """Asks users who come from an identity provider for the address, if it has not given one."""


class SignUpForm(_AddressByPolicy, SignupForm):
    """allauth's form, by this site's policy."""

    def fix_email(self, email: str) -> None:
        """Fill in the address, read-only, for a user who is invited with this address only."""
        self.fields["email"].initial = email
        self.fields["email"].widget.attrs["readonly"] = True

    def validate_unique_email(self, value: str) -> str:
        """Refuse an address that has an account. Without mail that can't be hidden: it is limited and recorded."""
        if settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory":  # an email tells the owner, the page tells nothing
            return str(super().validate_unique_email(value))
        address = context.request.META.get("REMOTE_ADDR", "")
        try:
            count_network_attempt(KNOWN_ADDRESSES, address, MOST_KNOWN_ADDRESSES)
        except TooManyAttempts as refusal:
            raise forms.ValidationError(too_many_attempts_sentence(refusal.wait_seconds)) from None
        try:
            email = str(super().validate_unique_email(value))
        except forms.ValidationError:
            record_request_event(SecurityEventKind.SIGN_UP_REFUSED, context.request, about="known address")
            raise
        refund_network_attempt(KNOWN_ADDRESSES, address)
        return email

    @transaction.atomic
    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponseBase | None]:
        """Make the account whole or not at all.

        Raises `IntegrityError` if another with this address was faster, `SignUpRefused` if one by the same link was.
        """
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])  # as much work as for a new account: time reveals nothing
        saved: tuple[User | None, HttpResponseBase | None] = super().try_save(request)
        return saved

    def custom_signup(self, request: HttpRequest, user: User) -> None:
        came_as_admin = first_admin.GRANT in request.session
        if complete_sign_up(request.session, user):
            # The operator's link proves more than an email could, and a first start often can't send email yet.
            get_adapter().stash_verified_email(request, user.email)
        elif came_as_admin:
            messages.info(
                request, _("Another account has already become the administrator. Yours is an ordinary account.")
            )


class ChangeEmailForm(AddEmailForm):
    """A new address, which waits beside the current one until it is confirmed.

    allauth's own `save` would first delete a current address that was never confirmed, and leave the account without.
    """

    @transaction.atomic
    def save(self, request: HttpRequest) -> EmailAddress:
        waiting = EmailAddress.objects.filter(user=self.user, verified=False).exclude(email=self.user.email)
        waiting.delete()
        return EmailAddress.objects.add_email(request, self.user, self.cleaned_data["email"], confirm=True)


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # at run time it takes none
    """Name, language, and where costs are shown."""

    class Meta:
        model = User
        fields = ["name", "language", "shows_costs", "shows_costs_always"]
        labels = {
            "language": _lazy("Language"),
            "name": pgettext_lazy("of a person", "Name"),
            "shows_costs": _lazy("Show costs"),
            "shows_costs_always": _lazy("Show tokens and cost under every reply"),
        }
        help_texts = {"language": ""}
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "name"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        language = cast(forms.ChoiceField, self.fields["language"])
        language.choices = [("", _("Same as the browser")), *settings.LANGUAGES]


class DeleteAccountForm(forms.Form):
    """Asks for the account's own address, against deletion by mistake."""

    email = forms.CharField(
        label=_lazy("Type your email address to confirm"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "email", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._email = email

    def clean_email(self) -> str:
        typed: str = self.cleaned_data["email"]
        if typed.strip().lower() != self._email:
            raise forms.ValidationError(_("This is not this account’s email address."))
        return typed


class TokenForm(forms.Form):
    """The token of a one-time link, which the page's script fills in."""

    token = forms.CharField(
        label=_lazy("Code from the link"), max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
