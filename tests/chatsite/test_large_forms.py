"""Large urlencoded forms say what Django reads of them, at the price of a copy."""

from __future__ import annotations

import io
from urllib.parse import urlencode

import pytest
from django.core.exceptions import BadRequest, TooManyFieldsSent
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from chatsite import large_forms
from chatsite.large_forms import LARGE_BYTES, URLENCODED, LargeFormRequest, parse_large_form

ALPHABET = st.sampled_from("%&=+;3dDfFgG_\n\r\t ZéÄ的\x00\ufffd")
PIECES = st.sampled_from(
    ["%", "%3D", "%3d", "%C3%A9", "%C3", "%ZZ", "%%", "%\n", "%\r\n", "=", "==", "&", "+", "_", "a "]
)


@given(st.dictionaries(st.text(ALPHABET, min_size=1), st.text(ALPHABET)))
def test_what_is_encoded_comes_back(fields):
    assert parse_large_form(urlencode(fields).encode()).dict() == fields


@given(st.lists(PIECES.map(str.encode) | st.binary(max_size=3)).map(b"".join))
def test_any_body_says_what_django_reads_of_it(body):
    assert parse_large_form(body) == QueryDict(body, encoding="utf-8")


def test_far_too_many_fields_are_refused():
    with pytest.raises(TooManyFieldsSent):
        parse_large_form(b"a=1&" * 2_000)


def make_request(body, *, content_type=URLENCODED):
    headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode())]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    return LargeFormRequest(scope, io.BytesIO(body))


@pytest.mark.parametrize(("length", "is_large"), [(10, False), (LARGE_BYTES, True)])
def test_a_request_decodes_a_large_form_itself(monkeypatch, length, is_large):
    decoded = []
    monkeypatch.setattr(large_forms, "decode_percent", lambda encoded: decoded.append(encoded) or encoded.decode())
    body = f"content={'x' * length}".encode()
    request = make_request(body)
    assert request.POST["content"] == "x" * length
    assert bool(decoded) == is_large
    assert not request.FILES


@pytest.mark.parametrize("length", [10, LARGE_BYTES])
def test_a_form_in_another_encoding_is_refused(length):
    request = make_request(b"content=" + b"x" * length, content_type=f"{URLENCODED}; charset=latin-1")
    with pytest.raises(BadRequest):
        _ = request.POST


@pytest.mark.parametrize("piece", ["%5B", "%", "%%5B", "%ZZ", "%\n", "+", "a", "%E7%9A%84", "=", "\r\n%5b"])
def test_a_text_of_many_pieces_says_what_django_reads_of_it(monkeypatch, piece):
    """Wherever they are cut."""
    for size in range(3, 12):
        monkeypatch.setattr(large_forms, "PIECE_BYTES", size)
        body = f"content=x{piece * 30}".encode()
        assert parse_large_form(body) == QueryDict(body, encoding="utf-8")
