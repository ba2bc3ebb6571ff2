"""What the running site sees of a request that came through its proxy, told to `manage.py doctor` alone.

The doctor proves that it has the site's SECRET_KEY by a token that holds for a minute.
"""

from __future__ import annotations

from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest

from chatsite.version import product_version

ADDRESS = "/seen-request"
DOCTOR_HEADER = "X-Windowseat-Doctor"
TOKEN_SECONDS = 60


def make_doctor_token() -> str:
    return _signer().sign("doctor")


def is_asked_by_doctor(request: HttpRequest) -> bool:
    if request.path_info != ADDRESS:
        return False
    try:
        _signer().unsign(request.headers.get(DOCTOR_HEADER, ""), max_age=TOKEN_SECONDS)
    except BadSignature:
        return False
    return True


def describe_request(request: HttpRequest) -> dict[str, str]:
    """Return scheme, host and address as all of the site takes them, and the headers that they may come from."""
    return {
        "version": product_version(),
        "scheme": request.scheme or "",
        "host": request.META.get("HTTP_HOST", ""),
        "address": request.META.get("REMOTE_ADDR", ""),
        "forwarded_for": request.META.get("HTTP_X_FORWARDED_FOR", ""),
        "forwarded_proto": request.META.get("HTTP_X_FORWARDED_PROTO", ""),
    }


def _signer() -> TimestampSigner:
    return TimestampSigner(salt="windowseat.doctor")
