"""The page of imports: files by a form and in pieces, how far it is, its report, and what is refused."""

from __future__ import annotations

import hashlib
import re

import pytest
from asgiref.sync import async_to_sync
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from conversations.models import Conversation, ConversationImport
from conversations.services.imports.import_files import SentFile, begin_import
from tests.support.exports import as_json, as_zip, chatgpt, chatgpt_files, node, odd_chatgpt
from tests.support.imports import run_waiting
from tests.support.people import make_user

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice):
    client = Client()
    client.force_login(alice)
    return client


async def content_of(answer):
    return b"".join([piece async for piece in answer.streaming_content]).decode()


def test_a_form_with_files_is_an_import_and_the_page_says_what_came(client):
    packed = as_zip(chatgpt_files(odd_chatgpt(), {"id": "x", "title": "<Lost> one", "create_time": 1}))
    answer = client.post("/import/", {"files": [SimpleUploadedFile("export.zip", packed)]}, follow=True)
    assert "Waiting for its turn" in answer.content.decode()
    run_waiting()
    page = client.get("/import/").content.decode()
    assert "8 of 14 messages taken" in page
    assert "Imported · <bdi>export.zip</bdi>" in page
    assert "“<bdi>&lt;Lost&gt; one</bdi>”: it has no messages" in page
    assert f"/c/{Conversation.objects.get().public_id}/" in page
    answer = client.get(f"/import/{ConversationImport.objects.get().public_id}/left-out/")
    rows = async_to_sync(content_of)(answer)
    assert "1,Changes of a canvas or file; it is here as it was created" in rows


def test_of_files_that_can_not_be_read_the_page_says_that_and_no_figures(client):
    client.post("/import/", {"files": [SimpleUploadedFile("holiday.json", b'{"hello": 1}')]})
    run_waiting()
    page = client.get("/import/").content.decode()
    assert "Not imported · <bdi>holiday.json</bdi>" in page
    assert "not of a form that can be read here" in page
    for words in ("messages taken", "Left out", "import-figures"):
        assert words not in page


def test_pieces_go_on_where_they_ended(client):
    content = as_json([chatgpt("c", [node("a", None, "user", "x")])])
    named = {"name": ["a.json"], "size": [str(len(content))]}
    plan = client.post("/import/", named, **JSON).json()
    url = plan["files"][0]["url"]
    kind = {"content_type": "application/octet-stream", **JSON}
    assert client.post(f"{url}?start=0", content[:100], **kind).json() == {"received": 100}
    assert client.post(plan["start"], **JSON).status_code == 409
    assert client.post(f"{url}?start=400", content[400:], **kind).status_code == 409
    again = client.post("/import/", named, **JSON).json()
    assert (again["import"], again["files"][0]["received"]) == (plan["import"], 100)
    client.post(f"{url}?start=100", content[100:], **kind)
    assert client.post(plan["start"], **JSON).status_code == 200
    run_waiting()
    assert "1 of 1 message taken" in client.get(plan["import"], HTTP_HX_REQUEST="true").content.decode()


def test_what_is_here_is_known_by_its_digest_and_another_file_begins_again(client):
    named = {"name": ["a.json"], "size": ["300"]}
    plan = client.post("/import/", named, **JSON).json()
    kind = {"content_type": "application/octet-stream", **JSON}
    first, second = b"x" * 100, b"y" * 50
    client.post(f"{plan['files'][0]['url']}?start=0", first, **kind)
    client.post(f"{plan['files'][0]['url']}?start=100", second, **kind)
    again = client.post("/import/", named, **JSON).json()
    assert again["files"][0]["digest"] == hashlib.sha256(hashlib.sha256(first).digest() + second).hexdigest()
    other = client.post("/import/", {**named, "again": "yes"}, **JSON).json()
    assert other["import"] != plan["import"]
    assert (other["files"][0]["received"], ConversationImport.objects.count()) == (0, 1)


def test_a_form_is_never_taken_for_the_rest_of_what_was_begun(client):
    content = as_json([chatgpt("c", [node("a", None, "user", "x")])])
    plan = client.post("/import/", {"name": ["a.json"], "size": [str(len(content))]}, **JSON).json()
    url = f"{plan['files'][0]['url']}?start=0"
    client.post(url, b" " * 100, content_type="application/octet-stream", **JSON)
    client.post("/import/", {"files": [SimpleUploadedFile("a.json", content)]})
    run_waiting()
    assert Conversation.objects.get().title == "c"


@pytest.mark.parametrize("named", [{"name": ["a"], "size": ["x"]}, {"name": ["a"], "size": []}, {}])
def test_what_names_no_file_is_refused(client, named):
    assert client.post("/import/", named, **JSON).status_code == 400


def test_a_refused_form_says_why_on_its_page(client, settings):
    answer = client.post("/import/")
    assert (answer.status_code, "There is no file to add" in answer.content.decode()) == (400, True)
    settings.IMPORT_MEGABYTES = 0
    assert "You can’t import conversations here." in client.get("/import/").content.decode()
    assert client.post("/import/", {"name": ["a"], "size": ["1"]}, **JSON).status_code == 403


def test_an_import_is_cancelled_and_its_report_removed(client, alice):
    found = begin_import(alice, [SentFile("a", 1)])
    client.post(f"/import/{found.public_id}/cancel/")
    found.refresh_from_db()
    assert found.state == "cancelled"
    client.post(f"/import/{found.public_id}/delete/")
    assert not ConversationImport.objects.exists()


def test_an_import_is_paused_and_goes_on_from_its_page(client):
    content = as_json([chatgpt("c", [node("a", None, "user", "x")])])
    client.post("/import/", {"files": [SimpleUploadedFile("a.json", content)]})
    found = ConversationImport.objects.get()
    address = f"/import/{found.public_id}/"
    assert f"{address}pause/" in client.get("/import/").text
    client.post(f"{address}pause/")
    page = client.get("/import/").text
    assert ("Paused" in page, f"{address}resume/" in page, f"{address}pause/" in page) == (True, True, False)
    client.post(f"{address}resume/", **JSON)
    run_waiting()
    assert "1 of 1 message taken" in client.get(address, HTTP_HX_REQUEST="true").text


def test_the_report_says_what_one_more_message_costs(client, settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4o"
    nodes = [node("q", None, "user", "word " * 9_000), node("a", "q", "assistant", "Yes.")]
    client.post("/import/", {"files": [SimpleUploadedFile("a.json", as_json([chatgpt("c", nodes, "a")]))]})
    run_waiting()
    words = re.sub(r"<[^>]*>", "", client.get("/import/").text)
    assert "2 messages · one more costs about $0.022545 before its reply" in words


def test_the_report_says_what_the_model_there_could_not_take_any_more(client, settings, alice):
    nodes = [
        node("q", None, "user", "word " * 9_000),
        node("a", "q", "assistant", "Yes.", metadata={"model_slug": "gpt-4"}),
    ]
    client.post("/import/", {"files": [SimpleUploadedFile("a.json", as_json([chatgpt("c", nodes, "a")]))]})
    run_waiting()
    text = client.get("/import/").text
    assert "tokens, more than the 8,192 that gpt-4 takes at once" in text
    Conversation.objects.get().messages.update(copied_model="gpt-4o")
    assert "takes at once" not in client.get("/import/").text


def test_someone_elses_import_is_not_found(client):
    found = begin_import(make_user("bob"), [SentFile("a", 1)])
    assert client.get(f"/import/{found.public_id}/").status_code == 404
    assert client.post(f"/import/{found.public_id}/cancel/").status_code == 404
    answer = client.post(f"/import/{found.public_id}/files/0/?start=0", b"x", content_type="a/b", **JSON)
    assert answer.status_code == 404
