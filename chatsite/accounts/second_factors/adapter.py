"""django-allauth's adapter for second factors: our error messages, encrypted secrets, the site's name."""

from __future__ import annotations

from urllib.parse import urlsplit

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatsite.accounts.second_factors.secret_encryption import decrypt_secret, encrypt_secret


class MFAAdapter(DefaultMFAAdapter):
    """Encrypts secrets, and shows the site's name on users' devices."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "add_email_blocked": _(
            "You can’t change the address while you have a second factor. Remove it, change the "
            "address, then set it up again."
        ),
        "cannot_generate_recovery_codes": _("Recovery codes back up a second factor. Set one up first."),
        "incorrect_code": _("This code is wrong or has been used before. Try again."),
        "unverified_email": _("Confirm your email address before you set up a second factor."),
    }

    def encrypt(self, text: str) -> str:
        return encrypt_secret(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt_secret(encrypted_text)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": urlsplit(f"//{context.request.get_host()}").hostname or "", "name": settings.SITE_NAME}

    def generate_authenticator_name(self, user: AbstractBaseUser, type: Authenticator.Type) -> str:  # noqa: A002
        number = Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1
        return gettext("Passkey") if number == 1 else gettext("Passkey %(number)d") % {"number": number}
