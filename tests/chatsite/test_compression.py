"""Compressed pages."""

import gzip
import json

import brotli
import pytest
from django.http import HttpResponse, JsonResponse

from chatsite.middleware.compression import compress_pages

pytestmark = pytest.mark.django_db(transaction=True)
ACCEPTS = {"accept-encoding": "gzip"}


def test_a_page_is_compressed_for_those_who_take_it(client):
    response = client.get("/login/", headers=ACCEPTS)
    assert response["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in response["Vary"]
    assert b"</html>" in gzip.decompress(response.content)
    assert "Content-Encoding" not in client.get("/login/")


def test_what_is_short_stays_as_it_is(client):
    assert "Content-Encoding" not in client.get("/healthz", headers=ACCEPTS)
    assert "Content-Encoding" not in client.post("/estimate/", headers={**ACCEPTS, "accept": "application/json"})


@pytest.mark.parametrize(
    ("accepts", "coding"),
    [("gzip;q=0", None), ("br;q=0, gzip", "gzip"), ("br;q=0.1, gzip;q=0.2", "gzip"), ("*;q=0", None), ("*", None)],
)
def test_a_coding_that_is_refused_is_not_sent(client, accepts, coding):
    response = client.get("/login/", headers={"accept-encoding": accepts})
    assert response.get("Content-Encoding") == coding
    assert "Accept-Encoding" in response["Vary"]


def test_what_is_short_is_compressed_for_those_who_refuse_it_as_it_is(rf):
    refusing = rf.get("/", headers={"accept-encoding": "gzip, identity;q=0"})
    answer = compress_pages(lambda _request: JsonResponse({"ok": True}))(refusing)
    assert json.loads(gzip.decompress(answer.content)) == {"ok": True}


def test_brotli_is_preferred_and_no_page_is_as_long_as_the_next(client):
    answers = [client.get("/login/", headers={"accept-encoding": "gzip, deflate, br"}) for _ in range(5)]
    assert {answer["Content-Encoding"] for answer in answers} == {"br"}
    assert all(b"</html>" in brotli.decompress(answer.content) for answer in answers)
    assert all(answer["Content-Length"] == str(len(answer.content)) for answer in answers)
    assert len({len(brotli.decompress(answer.content)) for answer in answers}) > 1


def test_json_is_compressed_too_and_what_makes_its_length_differ_is_no_part_of_it(rf):
    def answer(accepts: str = "br", **headers: str) -> HttpResponse:
        stored = JsonResponse({"titles": [f"Conversation {number}" for number in range(100)]}, headers=headers)
        return compress_pages(lambda _request: stored)(rf.get("/", headers={"accept-encoding": accepts}))

    answers = [answer() for _ in range(5)]
    contents = [brotli.decompress(each.content) for each in answers]
    assert [json.loads(content)["titles"][99] for content in contents] == ["Conversation 99"] * 5
    assert len({len(content) for content in contents}) > 1
    assert len(answers[0].content) < len(contents[0]) / 3
    assert answer("gzip")["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in answer(**{"Content-Disposition": "attachment"})
