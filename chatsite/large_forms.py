"""Large urlencoded forms, decoded without holding up the event loop.

`urllib.parse.unquote` splits a text at each percent sign. A message of a million brackets, as any user can send it,
became two million small objects, and joining them keeps the interpreter's lock. The quoted-printable codec of the
standard library is written in C and decodes the same digits behind another sign. Figures, and when to remove this, are
in docs/decisions/0108.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.core.handlers.asgi import ASGIRequest
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

LARGE_BYTES = 16_000  # a smaller form is decoded by Django
PIECE_BYTES = 100_000
LONE_SIGN = re.compile(rb"%(?![0-9A-Fa-f]{2})")
SIGN_AND_LINE_END = (b"%\n", b"%\r")  # the codec takes these for a line that goes on
URLENCODED = "application/x-www-form-urlencoded"


def parse_large_form(body: bytes) -> QueryDict:
    """Return the fields of an urlencoded form, as `QueryDict(body)` would. Raises `TooManyFieldsSent`."""
    most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    if most is not None and body.count(b"&") >= most:
        raise TooManyFieldsSent("The number of POST parameters exceeded settings.DATA_UPLOAD_MAX_NUMBER_FIELDS.")
    fields = QueryDict(mutable=True, encoding="utf-8")
    for field in filter(None, _to_utf_8(body).split(b"&")):
        name, _, value = field.partition(b"=")
        fields.appendlist(decode_percent(name), decode_percent(value))
    fields._mutable = False
    return fields


def _to_utf_8(body: bytes) -> bytes:
    """Return *body* as UTF-8: Django takes it for ISO 8859-1 if what is not encoded in it is no UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode("iso-8859-1").encode()
    return body


def decode_percent(encoded: bytes) -> str:
    """Return the text of a name or a value; what is no UTF-8 becomes U+FFFD."""
    encoded = encoded.replace(b"+", b" ")
    return b"".join(map(_unquote, _split(encoded))).decode("utf-8", "replace")


def _split(encoded: bytes) -> Iterator[bytes]:
    """Yield pieces of about `PIECE_BYTES`: other threads run between two. None ends within a percent sequence."""
    start = 0
    while start < len(encoded):
        end = start + PIECE_BYTES
        sign = encoded.rfind(b"%", end - 2, end)
        end = sign if sign > start else end
        yield encoded[start:end]
        start = end


def _unquote(encoded: bytes) -> bytes:
    """Return the bytes that *encoded* stands for; a percent sign without two digits is one."""
    if not any(end in encoded for end in SIGN_AND_LINE_END):
        decoded = _decode(encoded)
        # Two bytes less for each sign: so behind each stood two digits.
        if len(encoded) - len(decoded) == 2 * encoded.count(b"%"):
            return decoded
    return _decode(LONE_SIGN.sub(b"%25", encoded))


def _decode(encoded: bytes) -> bytes:
    return binascii.a2b_qp(encoded.replace(b"=", b"%3D").replace(b"%", b"="))


class LargeFormRequest(ASGIRequest):
    """A request whose form may be large."""

    _read_started: bool

    def _load_post_and_files(self) -> None:
        is_utf_8 = self.encoding is None or self.encoding.lower() == "utf-8"  # Django refuses others
        is_form = self.method == "POST" and self.content_type == URLENCODED and is_utf_8
        is_read = hasattr(self, "_body") or not self._read_started  # else some of it is gone
        if is_form and is_read and len(self.body) >= LARGE_BYTES:
            self._post = parse_large_form(self.body)
            self._files: MultiValueDict[str, Any] = MultiValueDict()
        else:
            super()._load_post_and_files()
