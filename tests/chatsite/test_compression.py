"""Compressed pages."""

import gzip

import brotli
import pytest

pytestmark = pytest.mark.django_db(transaction=True)
ACCEPTS = {"accept-encoding": "gzip"}


def test_a_page_is_compressed_for_those_who_take_it(client):
    response = client.get("/login/", headers=ACCEPTS)
    assert response["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in response["Vary"]
    assert b"</html>" in gzip.decompress(response.content)
    assert "Content-Encoding" not in client.get("/login/")


def test_what_is_no_page_stays_as_it_is(client):
    assert "Content-Encoding" not in client.get("/healthz", headers=ACCEPTS)
    assert "Content-Encoding" not in client.post("/estimate/", headers={**ACCEPTS, "accept": "application/json"})


def test_brotli_is_preferred_and_no_page_is_as_long_as_the_next(client):
    answers = [client.get("/login/", headers={"accept-encoding": "gzip, deflate, br"}) for _ in range(5)]
    assert {answer["Content-Encoding"] for answer in answers} == {"br"}
    assert all(b"</html>" in brotli.decompress(answer.content) for answer in answers)
    assert all(answer["Content-Length"] == str(len(answer.content)) for answer in answers)
    assert len({len(brotli.decompress(answer.content)) for answer in answers}) > 1
