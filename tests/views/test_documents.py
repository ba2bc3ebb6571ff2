"""Documents over HTTP: by a page without a script, and by scripts."""

from __future__ import annotations

import gc
import os
import tracemalloc
import uuid
from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from conversations.models import Conversation, Document, Scenario
from conversations.services.conversations.folders import create_folder
from conversations.services.documents.documents import add_document
from conversations.views.documents import documents as views
from conversations.views.documents.document_list import Addresses
from tests.support.documents import add, make_failed
from tests.support.people import begin, make_user

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}
LARGE_BYTES = 4_000_000


@pytest.fixture
def alice():
    return make_user("alice")


def client_of(user):
    client = Client()
    client.force_login(user)
    return client


def files(*names):
    return {"files": [SimpleUploadedFile(name, f"The text of {name}".encode()) for name in names]}


def adding_to(place):
    return Addresses.of(place).add


def address(action, document):
    place = document.conversation or document.folder or document.scenario
    return Addresses.of(place).of_document(action, document)


@pytest.fixture(params=["conversation", "folder", "scenario"])
def place(request, alice):
    if request.param == "folder":
        return create_folder(alice, name="Work")
    return begin(alice) if request.param == "conversation" else Scenario.objects.create(name="Guide", owner=alice)


def test_a_script_is_told_what_became_of_each_file(alice, place):
    answer = client_of(alice).post(adding_to(place), files("a.txt", "b.txt"), **JSON)
    assert answer.status_code == 201
    told = answer.json()["documents"]
    assert [(each["name"], each["created"]) for each in told] == [("a.txt", True), ("b.txt", True)]
    assert {each["document"] for each in told} == {str(each.public_id) for each in place.documents.all()}


def test_what_is_there_already_is_no_new_document(alice, place):
    client = client_of(alice)
    first = client.post(adding_to(place), files("a.txt"), **JSON).json()["documents"][0]
    again = client.post(adding_to(place), files("a.txt"), **JSON)
    assert again.status_code == 200
    assert again.json()["documents"][0] == first | {"created": False}


def test_of_several_files_those_are_kept_that_can_be(alice, place, settings):
    settings.DOCUMENTS_PER_CONVERSATION = 1
    answer = client_of(alice).post(adding_to(place), files("a.txt", "b.txt"), **JSON)
    assert answer.status_code == 201
    kept, refused = answer.json()["documents"]
    assert kept["created"]
    assert (refused["error"], "document" in refused) == ("documents_too_many", False)
    assert "1 document here" in refused["message"]


def test_where_nothing_is_kept_the_answer_is_the_first_refusal(alice, place, settings):
    settings.DOCUMENT_MEGABYTES = 0
    answer = client_of(alice).post(adding_to(place), files("a.txt"), **JSON)
    assert answer.status_code == 413
    assert answer.json()["code"] == answer.json()["documents"][0]["error"] == "document_too_large"


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_became_of_a_file_does_not_hold_its_content(alice, settings, is_kept):
    """Nor does a cycle: the collector comes late, because large bytes count as no objects."""
    settings.DOCUMENTS_PER_CONVERSATION = int(is_kept)
    keep = partial(add_document, user=alice, place=begin(alice))
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        sent = views._sent(SimpleUploadedFile("large.txt", os.urandom(LARGE_BYTES)), keep)
        held_bytes, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert bool(sent.added) == is_kept
    assert held_bytes < LARGE_BYTES < most_bytes


def test_a_form_without_a_script_leads_back_to_where_it_was(alice):
    conversation, scenario = begin(alice), Scenario.objects.create(name="Guide", owner=alice)
    client = client_of(alice)
    assert client.post(adding_to(conversation), files("a")).url == f"/c/{conversation.public_id}/"
    assert client.post(adding_to(scenario), files("a")).url == f"/scenarios/{scenario.pk}/documents/"
    folder = create_folder(alice, name="Work")
    assert client.post(adding_to(folder), files("a")).url == f"/conversations/folders/{folder.pk}/"


def test_a_form_without_a_script_says_what_was_refused(alice, place, settings):
    settings.DOCUMENTS_PER_CONVERSATION = 1
    answer = client_of(alice).post(adding_to(place), files("a.txt", "b.txt"))
    assert answer.status_code == 201
    assert "b.txt" in answer.text
    assert "that is the most" in answer.text


def test_what_was_refused_stays_until_one_goes_on_to_the_list(alice, place, settings):
    settings.DOCUMENTS_PER_CONVERSATION = 1
    answer = client_of(alice).post(adding_to(place), files("a.txt", "b.txt"))
    path = adding_to(place).removesuffix("add/")
    refresh = 'http-equiv="refresh"'  # would ask by GET for what answers a POST only
    assert refresh not in answer.text
    assert f'<a href="{path}">Continue to the list' in answer.text
    assert refresh in client_of(alice).get(path).text


def test_a_form_without_a_file_is_told_so(alice, place):
    answer = client_of(alice).post(adding_to(place))
    assert answer.status_code == 400
    assert "There is no file to add" in answer.text


def test_the_first_file_begins_a_conversation_with_the_chosen_scenario(alice):
    scenario, public_id = Scenario.objects.create(name="Guide", owner=alice), uuid.uuid4()
    path = reverse("conversations:add_conversation_documents", args=[public_id])
    client_of(alice).post(path, files("a.txt") | {"scenario": scenario.pk}, **JSON)
    conversation = Conversation.objects.get(public_id=public_id)
    assert (conversation.scenario, conversation.documents.count()) == (scenario, 1)


def test_a_file_that_is_refused_begins_nothing(alice, settings):
    settings.DOCUMENT_MEGABYTES = 0
    path = reverse("conversations:add_conversation_documents", args=[uuid.uuid4()])
    answer = client_of(alice).post(path, files("a.txt"))
    assert answer.status_code == 413
    assert "larger than 0 MB" in answer.text
    assert not Conversation.objects.exists()


def test_more_files_than_one_request_may_have_are_refused_in_words(alice, place, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    answer = client_of(alice).post(adding_to(place), files("a", "b", "c", "d"), **JSON)
    assert answer.status_code == 413
    assert answer.json() == {
        "code": "files_too_many",
        "message": "More than 3 files can’t be sent at once. Send them in parts.",
    }
    assert not Document.objects.exists()


def test_the_list_names_each_document_and_goes_where_it_is_asked_for(alice, place):
    document = add(alice, place, "plan.txt")
    path = adding_to(place).removesuffix("add/")
    page, piece = client_of(alice).get(path), client_of(alice).get(path, HTTP_HX_REQUEST="true")
    for answer in (page, piece):
        assert "plan.txt" in answer.text
        assert address("download", document) in answer.text
    assert "<html" in page.text
    assert "<html" not in piece.text


def test_a_deleted_document_is_gone_and_the_page_shows_the_rest(alice, place):
    gone, stays = add(alice, place, "gone.txt", b"1"), add(alice, place, "stays.txt", b"2")
    answer = client_of(alice).post(address("delete", gone), HTTP_HX_REQUEST="true")
    assert "stays.txt" in answer.text
    assert "gone.txt" not in answer.text
    assert list(Document.objects.all()) == [stays]
    assert client_of(alice).post(address("delete", gone)).status_code == 404


def test_without_a_script_one_is_led_to_the_list(alice, place):
    document = make_failed(add(alice, place), "document_too_costly")
    answer = client_of(alice).post(address("read_again", document))
    assert answer.url == adding_to(place).removesuffix("add/")
    document.refresh_from_db()
    assert document.state == "waiting"


# Who may


def test_an_admin_fills_the_scenarios_of_the_site_and_no_one_elses(alice):
    ada, of_the_site = make_user("ada", role="admin"), Scenario.objects.create(name="Guide", offered=True)
    own = Scenario.objects.create(name="Own", owner=alice, offered=True)
    assert client_of(ada).post(adding_to(of_the_site), files("a"), **JSON).status_code == 201
    assert client_of(ada).post(adding_to(own), files("a"), **JSON).status_code == 404
    assert client_of(alice).post(adding_to(of_the_site), files("a"), **JSON).status_code == 404


def test_a_user_who_may_use_a_scenario_sees_no_file_of_it(alice):
    scenario = Scenario.objects.create(name="Guide", offered=True)
    document = add(make_user("ada", role="admin"), scenario)
    client = client_of(alice)
    assert client.get(f"/scenarios/{scenario.pk}/documents/").status_code == 404
    assert client.get(address("download", document)).status_code == 404
    assert client.post(address("delete", document)).status_code == 404
    assert Document.objects.exists()


def test_a_document_is_not_found_below_something_else_of_ones_own(alice):
    document, other = add(alice, begin(alice)), begin(alice)
    path = reverse("conversations:download_conversation_document", args=[other.public_id, document.public_id])
    assert client_of(alice).get(path).status_code == 404


def test_documents_of_a_deleted_conversation_are_not_found(alice):
    document = add(alice, begin(alice))
    Conversation.objects.update(deleted_at="2026-01-01T00:00Z")
    assert client_of(alice).get(address("download", document)).status_code == 404
    assert client_of(alice).post(adding_to(document.conversation), files("b"), **JSON).status_code == 404
