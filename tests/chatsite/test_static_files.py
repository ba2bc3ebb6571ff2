"""Static files over HTTP: each coding of a file has a validator of its own, and parts are of one coding."""

import gzip

import brotli
import pytest
from django.test import Client

CONTENT = b"body { margin: 0 }\n" * 500
ADDRESS = "/static/page.css"
SENT = {"identity": CONTENT, "gzip": gzip.compress(CONTENT, mtime=0), "br": brotli.compress(CONTENT)}


@pytest.fixture
def get(settings, tmp_path):
    """Return a function that asks for a file of which there are three codings."""
    for ending, coding in (("", "identity"), (".gz", "gzip"), (".br", "br")):
        (tmp_path / f"page.css{ending}").write_bytes(SENT[coding])
    settings.STATIC_ROOT = tmp_path
    settings.SERVESTATIC_USE_STATIC_ROOT = True
    client = Client()

    def ask(accepts, method="get", **headers):
        answer = getattr(client, method)(ADDRESS, headers={"accept-encoding": accepts, **headers})
        answer.body = b"".join(answer)
        return answer

    return ask


def test_each_coding_has_a_strong_validator_of_its_own(get):
    answers = {coding: get(coding) for coding in SENT}
    assert {coding: answer.body for coding, answer in answers.items()} == SENT
    assert {answer.get("Content-Encoding", "identity") for answer in answers.values()} == set(SENT)
    tags = {answer["ETag"] for answer in answers.values()}
    assert len(tags) == 3
    assert all(tag.startswith('"') and tag.endswith('"') and tag.count('"') == 2 for tag in tags)
    assert all(answer["Vary"] == "Accept-Encoding" for answer in answers.values())
    assert all(answer["Content-Length"] == str(len(answer.body)) for answer in answers.values())


@pytest.mark.parametrize("coding", SENT)
def test_what_a_browser_has_is_not_sent_again(get, coding):
    tag = get(coding)["ETag"]
    for held in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = get(coding, **{"if-none-match": held})
        assert (answer.status_code, answer.body, answer["ETag"]) == (304, b"", tag)
        assert answer["Vary"] == "Accept-Encoding"


def test_what_a_browser_has_in_another_coding_is_sent(get):
    for held in ("gzip", "identity"):
        answer = get("br", **{"if-none-match": get(held)["ETag"]})
        assert (answer.status_code, answer.body) == (200, SENT["br"])


def test_a_date_is_a_validator_too(get):
    assert get("br", **{"if-modified-since": get("br")["Last-Modified"]}).status_code == 304


def test_a_coding_that_is_refused_is_not_sent(get):
    assert get("br;q=0, gzip").body == SENT["gzip"]
    assert get("br;q=0.5, gzip;q=0.6").body == SENT["gzip"]
    assert get("br;q=0, *;q=0").body == CONTENT
    assert get("identity;q=0, *").body == SENT["br"]


@pytest.mark.parametrize("coding", SENT)
def test_a_part_is_one_of_the_coding_that_it_belongs_to(get, coding):
    tag, modified = (get(coding)[name] for name in ("ETag", "Last-Modified"))
    for condition in ({}, {"if-range": tag}, {"if-range": modified}):
        answer = get(coding, range="bytes=5-14", **condition)
        assert (answer.status_code, answer.body, answer["ETag"]) == (206, SENT[coding][5:15], tag)
        assert answer["Content-Range"] == f"bytes 5-14/{len(SENT[coding])}"
        assert answer.get("Content-Encoding", "identity") == coding


def test_a_download_that_goes_on_in_another_coding_begins_again(get):
    """A part of this one, put behind the part of the other, would be neither."""
    for held in (get("br")["ETag"], f"W/{get('gzip')['ETag']}", "Mon, 01 Jan 2024 00:00:00 GMT"):
        answer = get("gzip", range="bytes=5-14", **{"if-range": held})
        assert (answer.status_code, answer.body) == (200, SENT["gzip"])


def test_only_a_get_has_parts(get):
    answer = get("br", method="head", range="bytes=5-14")
    assert (answer.status_code, answer["Content-Length"]) == (200, str(len(SENT["br"])))


def test_a_part_that_there_is_not_is_refused(get):
    answer = get("gzip", range="bytes=99999-")
    assert (answer.status_code, answer["Content-Range"]) == (416, f"bytes */{len(SENT['gzip'])}")
