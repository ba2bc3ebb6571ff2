"""Context processor: variables of every template."""

from functools import partial

from django.conf import settings
from django.http import HttpRequest

from chatsite.accounts.allauth_adapter import has_mail_failed
from chatsite.accounts.preferences.reader_language import same_page_url
from chatsite.accounts.second_factors.passkeys import why_no_passkeys


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "site_name": settings.SITE_NAME,
        "sign_up_is_open": settings.SIGN_UP in ("open", "domains"),
        "mail_is_printed": not settings.SMTP_URL,
        "mail_failed": partial(has_mail_failed, request),
        "single_sign_on": settings.OIDC_NAME if settings.OIDC_SERVER_URL else "",
        "languages": settings.LANGUAGES,
        "same_page_url": partial(same_page_url, request),
        "why_no_passkeys": partial(why_no_passkeys, request),
    }
