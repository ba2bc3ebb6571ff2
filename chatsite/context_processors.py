"""What every template may use."""

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "site_name": settings.SITE_NAME,
        "sign_up_is_open": settings.SIGN_UP == "open",
        "mail_is_printed": not settings.SMTP_URL,
    }
