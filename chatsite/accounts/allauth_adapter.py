"""django-allauth's account adapter: sign-up by policy, limits on passwords, and emails that never break a page."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from chatsite.accounts.attempts import TooManyAttempts
from chatsite.accounts.models import SecurityEventKind, User
from chatsite.accounts.preferences.reader_language import is_site_language
from chatsite.accounts.security.security_log import record_request_event
from chatsite.accounts.sign_in.sign_in_attempts import (
    SignInAttempt,
    begin_attempt,
    count_sign_in_attempt,
    forget_sign_in_attempts,
    refund_sign_in_attempt,
    too_many_attempts_sentence,
)
from chatsite.accounts.sign_up.sign_up_policy import is_sign_up_open

log = logging.getLogger(__name__)
MAIL_SENT = "account/messages/email_confirmation_sent.txt"
MAIL_FAILED = "mail-failed"  # the tag of the message that says so


def has_mail_failed(request: HttpRequest) -> bool:
    """Return whether an email has just failed, so that the next page does not say that one is on its way.

    Reading the messages shows them: only for pages that do.
    """
    return any(message.extra_tags == MAIL_FAILED for message in messages.get_messages(request))


class AccountAdapter(DefaultAccountAdapter):
    """Opens sign-up by the site's policy, limits wrong passwords; emails always link to `SITE_URL`."""

    attempt: SignInAttempt  # of this request: allauth makes an adapter for each call

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return is_sign_up_open(request.session)

    def clean_email(self, email: str) -> str:
        """Refuse what the column can't hold; allauth would cut it to another address, maybe another user's."""
        cleaned: str = User._meta.get_field("email").clean(email, None)
        return cleaned

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count an attempt at sign-in or reauthentication before its password is checked."""
        self.attempt = begin_attempt(request, credentials.get("email", ""))
        try:
            count_sign_in_attempt(self.attempt)
        except TooManyAttempts as refusal:
            if refusal.is_first:
                record_request_event(SecurityEventKind.SIGN_IN_LIMITED, request, user=self.attempt.user)
            raise ValidationError(_too_many_attempts(refusal.wait_seconds), code="too_many_attempts") from None

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user:
            refund_sign_in_attempt(self.attempt)
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        about = "reauthentication" if request.user.is_authenticated else ""
        record_request_event(SecurityEventKind.SIGN_IN_FAILED, request, user=self.attempt.user, about=about)

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        """Delete the counts of an account whose password was reset; the counts are ours and in no cache."""
        forget_sign_in_attempts(begin_attempt(request, credentials.get("email", "")))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send the email, or show that it couldn't be sent. The same for known and unknown addresses."""
        links = {name: _on_this_site(value) for name, value in context.items() if name.endswith("_url")}
        site = SimpleNamespace(name=settings.SITE_NAME, domain=urlsplit(settings.SITE_URL).netloc)
        try:
            with override(_email_language(email, context.get("user"))):
                super().send_mail(template_prefix, email, {**context, **links, "current_site": site})
        except OSError as error:  # which smtplib's errors are
            log.error("The mail %s could not be sent: %s: %s", template_prefix, type(error).__name__, error)
            self.request.mail_failed = True
            messages.error(self.request, _("The email could not be sent. Please try again later."), MAIL_FAILED)

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Add it, unless it says that an email was sent which has just failed."""
        if not (message_template == MAIL_SENT and getattr(request, "mail_failed", False)):
            super().add_message(request, level, message_template, *args, **kwargs)

    def format_email_subject(self, subject: str) -> str:
        return f"{settings.SITE_NAME}: {subject}"

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Label the ways to reauthenticate as the rest of the site does."""
        labels = {
            "reauthenticate": _("Use your password"),
            "mfa_reauthenticate": _("Use a code"),
            "mfa_reauthenticate:webauthn": _("Use a passkey"),
        }
        return [{**way, "description": labels[way["id"]]} for way in super().get_reauthentication_methods(user)]

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


def _too_many_attempts(seconds: int) -> str:
    wait = too_many_attempts_sentence(seconds)
    if not settings.SMTP_URL:
        return wait
    return wait + " " + _("A link to reset the password, sent by email, lets you in at once.")


def _email_language(email: str, user: User | None) -> str:
    """Return the language that *user*, or else the account with this address, has chosen; else the request's."""
    account = user or User.objects.filter(email__iexact=email).first()
    chosen = account.language if account else ""
    return chosen if chosen and is_site_language(chosen) else get_language()


def _on_this_site(url: str) -> str:
    """Put `SITE_URL` in the place of the scheme and host that the request claimed."""
    return settings.SITE_URL + urlsplit(url).path
