"""Forms of the account pages."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.forms import AddEmailForm, SignupForm
from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

from chatsite.accounts.first_admin import GRANT, make_first_admin
from chatsite.accounts.models import User


class SignUpClosed(Exception):
    """The link that had opened the sign-up was used by someone else meanwhile."""


class SignUpForm(SignupForm):
    """allauth's form, which also makes the first admin."""

    @transaction.atomic
    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponseBase | None]:
        """Make the account whole or not at all.

        Raises `IntegrityError` if another sign-up with this address was faster, `SignUpClosed` if another admin was.
        """
        return super().try_save(request)

    def custom_signup(self, request: HttpRequest, user: User) -> None:
        if GRANT not in request.session:
            return
        if make_first_admin(request.session, user):
            # The operator's link proves more than a mail could, and a first start often can't send mail yet.
            get_adapter().stash_verified_email(request, user.email)
        elif settings.SIGN_UP == "closed":
            raise SignUpClosed
        else:
            messages.info(request, _("Someone else has become the administrator. Yours is an ordinary account."))


class ChangeEmailForm(AddEmailForm):
    """A new address, which waits beside the current one until it is confirmed.

    allauth's own `save` would first delete a current address that was never confirmed, and the account were without.
    """

    @transaction.atomic
    def save(self, request: HttpRequest) -> EmailAddress:
        waiting = EmailAddress.objects.filter(user=self.user, verified=False).exclude(email=self.user.email)
        waiting.delete()
        return EmailAddress.objects.add_email(request, self.user, self.cleaned_data["email"], confirm=True)


class NameForm(forms.ModelForm):
    """How the page greets its person."""

    class Meta:
        model = User
        fields = ["name"]
        widgets = {"name": forms.TextInput(attrs={"autocomplete": "name"})}


class FirstAdminForm(forms.Form):
    """The token of the first admin's link, which the page's script fills in."""

    token = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "off"}))
