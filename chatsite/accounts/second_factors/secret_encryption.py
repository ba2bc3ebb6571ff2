"""Encrypt secrets that the site must be able to read again, such as those of authenticator apps.

The key comes from `SECRET_KEY`: a copy of the database alone gives away no second factor.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

SECRET_BYTES = 20
log = logging.getLogger(__name__)


def encrypt_secret(text: str, *, bound_to: bytes = b"") -> str:
    """Return *text* encrypted. *bound_to* is to be in hand, unchanged, to read it again."""
    return _fernet(bound_to).encrypt(text.encode()).decode()


def decrypt_secret(sealed: str) -> str:
    """Return the text; if it was encrypted with another `SECRET_KEY`, a random secret.

    Every code for that is wrong. An error would leave the user with a broken sign-in, and a constant would be a secret
    that is public.
    """
    if (text := decrypt_secret_or_none(sealed)) is not None:
        return text
    log.error("A second factor was sealed with another SECRET_KEY. Remove it in the admin, under Users.")
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def decrypt_secret_or_none(sealed: str, *, bound_to: bytes = b"") -> str | None:
    """Return the text; None if it was encrypted with another `SECRET_KEY`, or bound to something else."""
    from cryptography.fernet import InvalidToken

    try:
        return _fernet(bound_to).decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _fernet(bound_to: bytes = b"") -> Fernet:
    from cryptography.fernet import Fernet  # 7 MB, which a site without such secrets does not need

    key = hashlib.blake2b(settings.SECRET_KEY.encode(), digest_size=32, person=b"sealing").digest()
    if bound_to:
        key = hashlib.blake2b(bound_to, key=key, digest_size=32, person=b"bound").digest()
    return Fernet(base64.urlsafe_b64encode(key))
