"""Second factors for tests: codes of an app, and people who have one."""

from __future__ import annotations

import re

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.test import Client

from chatsite.accounts.models import User

SECRET = "JBSWY3DPEHPK3PXP"


def code_of(secret: str = SECRET) -> str:
    """Return what an app shows now."""
    (counter,) = yield_hotp_counters_from_time()
    return format_hotp_value(hotp_value(secret, counter))


def wrong_code(secret: str = SECRET) -> str:
    """Return a code that is wrong now and in the next period."""
    (counter,) = yield_hotp_counters_from_time()
    right = {format_hotp_value(hotp_value(secret, counter + later)) for later in range(3)}
    return next(code for code in ("000000", "111111", "222222", "333333") if code not in right)


def confirm(user: User) -> User:
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def give_app(user: User) -> Authenticator:
    return TOTP.activate(user, SECRET).instance


def set_up_app(client: Client) -> list[str]:
    """Set an app up by the pages, in a session that has just been confirmed; return the recovery codes."""
    secret = client.get("/accounts/2fa/totp/activate/").context["form"].secret
    page = client.post("/accounts/2fa/totp/activate/", {"code": code_of(secret)}, follow=True).content.decode()
    return re.findall(r"\b\d{8}\b", page.partition("<pre")[2].partition("</pre>")[0])
