"""Secrets that the site must be able to read again, such as those of authenticator apps: not in clear in the database.

The key comes from `SECRET_KEY`, so whoever has only the database, or a copy of it, has no second factor of anybody.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

SECRET_BYTES = 20
log = logging.getLogger(__name__)


def encrypt_secret(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def decrypt_secret(sealed: str) -> str:
    """Return what was sealed; where it was sealed with another `SECRET_KEY`, a secret that nobody knows.

    So a code for it is always wrong. An error would leave the person with a broken sign-in, and a constant would be a
    secret that everybody knows.
    """
    if (text := decrypt_secret_or_none(sealed)) is not None:
        return text
    log.error("A second factor was sealed with another SECRET_KEY. Remove it in the admin, under Users.")
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def decrypt_secret_or_none(sealed: str) -> str | None:
    """Return what was sealed; None where it was sealed with another `SECRET_KEY`."""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _fernet() -> Fernet:
    key = hashlib.blake2b(settings.SECRET_KEY.encode(), digest_size=32, person=b"sealing").digest()
    return Fernet(base64.urlsafe_b64encode(key))
