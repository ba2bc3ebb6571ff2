"""Context processor: variables of every template."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.http import HttpRequest

from chatsite.accounts.allauth_adapter import has_mail_failed
from chatsite.accounts.gate.admission import Admission, find_admission
from chatsite.accounts.preferences.reader_language import same_page_url
from chatsite.accounts.second_factors.passkeys import why_no_passkeys
from chatsite.middleware.without_shell import wants_no_shell


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "site_name": settings.SITE_NAME,
        "chosen_theme": request.COOKIES.get("theme", ""),
        "sign_up_is_open": settings.SIGN_UP in ("open", "domains"),
        "mail_is_printed": not settings.SMTP_URL,
        "mail_failed": partial(has_mail_failed, request),
        "may_share": settings.SHARES != "off",
        "single_sign_on": settings.OIDC_NAME if settings.OIDC_SERVER_URL else "",
        "languages": settings.LANGUAGES,
        "same_page_url": partial(same_page_url, request),
        "why_no_passkeys": partial(why_no_passkeys, request),
        "shell_layout": "without_shell.html" if wants_no_shell(request) else "shell.html",
        "account_layout": partial(account_layout, request),
    }


def account_layout(request: HttpRequest) -> str:
    """Return what a page about the account extends: users whom the gate keeps out have one, and no conversations."""
    return "shell_page.html" if find_admission(request.user.pk) is Admission.ADMITTED else "page.html"
