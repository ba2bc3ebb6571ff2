"""Random strings for the tokens of forms (CSRF), each of one call for random bytes.

Django makes each of the 32 characters of a string by a call of its own, and of a page two such strings. Each call gives
up the interpreter's lock, which another request takes meanwhile.
"""

from __future__ import annotations

import secrets

from django.middleware import csrf

CHARACTERS: str = csrf.CSRF_ALLOWED_CHARS
LENGTH: int = csrf.CSRF_SECRET_LENGTH
USED = 256 - 256 % len(CHARACTERS)  # a byte from here on would make the first characters more likely than others


def random_string() -> str:
    """Return a string as `_get_new_csrf_string` of Django does: each character is as likely as any other."""
    string = ""
    while len(string) < LENGTH:
        random = secrets.token_bytes(2 * LENGTH)
        string += "".join([CHARACTERS[byte % len(CHARACTERS)] for byte in random if byte < USED])
    return string[:LENGTH]


def make_tokens_of_few_calls() -> None:
    """Let Django's tokens be made of our strings; it has no other way in."""
    setattr(csrf, "_get_new_csrf_string", random_string)  # noqa: B010  # not in the stubs
