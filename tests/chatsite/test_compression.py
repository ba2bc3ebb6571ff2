"""Compressed pages."""

import gzip

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
