"""A person's own scenarios on the pages of the product, with and without scripts."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.urls import reverse

from chatsite.accounts.models import Limits
from conversations.models import Scenario, UploadCount
from conversations.services.conversations.conversations import start_conversation
from conversations.services.conversations.default_scenario import default_scenario
from conversations.services.scenarios.scenario_file import MOST_BYTES, write_document
from conversations.services.scenarios.scenarios import delete_scenario
from conversations.views.scenarios import scenarios
from tests.support.people import make_user
from tests.support.scenario_form import FORM
from tests.support.waiting import wait_for_lock_waits

pytestmark = pytest.mark.django_db
NEW = "/scenarios/new/"


@pytest.fixture
def alice(client):
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def to(name, scenario):
    return reverse(f"conversations:{name}", args=[scenario.pk])


def own(user, **fields):
    return Scenario.objects.create(owner=user, **{"name": "Mine"} | fields)


def test_a_new_one_is_stored_as_it_was_written(client, alice):
    assert client.post(NEW, FORM).url == "/scenarios/"
    scenario = alice.scenarios.get()
    assert (scenario.name, scenario.system_prompt, scenario.sampling) == (
        "Guide",
        "Be brief.\nBe kind.",
        {"temperature": 0.2},
    )
    assert "“Guide” is saved." in client.get("/scenarios/").text


def test_it_is_changed_and_stays_ones_own(client, alice):
    scenario = own(alice)
    fields = FORM | {"owner": make_user("bob").pk, "offered": "on", "is_default": "on", "cap_tokens": "900"}
    assert client.post(to("edit_scenario", scenario), fields).status_code == 302
    scenario.refresh_from_db()
    assert (scenario.owner, scenario.offered, scenario.is_default, scenario.cap_tokens) == (alice, False, False, 900)


def test_one_of_the_sites_can_be_made_ones_own(client, alice):
    offered = Scenario.objects.create(name="Guide", system_prompt="Quote first.", offered=True)
    url = f"{NEW}?scenario={offered.pk}"
    page = client.get(url).text
    assert "Guide (copy)" in page
    assert "Quote first." in page
    assert client.post(url, FORM | {"name": "My guide"}).status_code == 302
    offered.refresh_from_db()
    assert (offered.name, alice.scenarios.get().name) == ("Guide", "My guide")


ERRORS = [
    ({"name": ""}, "name"),
    ({"name": "x" * 101}, "name"),
    ({"name": "\x00"}, "name"),
    ({"system_prompt": "x" * 2**20}, "system_prompt"),
    ({"system_prompt": "long " * 5_000}, "system_prompt"),
    ({"language_model": "made-up"}, "language_model"),
    ({"policy_name": "os.system"}, "policy_name"),
    ({"policy_name": ""}, "policy_name"),
    ({"sampling": "{oops"}, "sampling"),
    ({"sampling": '{"seed": ' + "1" * 5_000 + "}"}, "sampling"),
    ({"sampling": "[" * 5_000}, "sampling"),
    ({"cap_tokens": "-1"}, "cap_tokens"),
    ({"cap_tokens": "7"}, "cap_tokens"),
    ({"message_cap_tokens": "0"}, "message_cap_tokens"),
    ({"reply_reserve_tokens": "1000000000000"}, "reply_reserve_tokens"),
    ({"reply_reserve_tokens": "4096"}, "reply_reserve_tokens"),
    ({"last_messages": "NaN"}, "last_messages"),
    ({"grounding_share": "1e400"}, "grounding_share"),
    ({"low_water_share": "NaN"}, "low_water_share"),
]


@pytest.mark.parametrize(("fields", "field"), ERRORS)
def test_what_makes_no_sense_is_refused_at_its_field_and_what_was_typed_stays(client, alice, fields, field):
    response = client.post(NEW, FORM | fields)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert len(response.context["form"].errors[field]) == 1
    assert response.context["form"][field].value() == fields[field]
    assert response.context["form"]["grounding_share"].value() == (FORM | fields)["grounding_share"]
    assert not alice.scenarios.exists()


def test_every_wrong_field_says_so_at_once_and_a_link_leads_to_it(client, alice):
    page = client.post(NEW, FORM | {"name": "", "cap_tokens": "-4", "sampling": "["}).text
    assert all(f'<a href="#id_{field}">' in page for field in ("name", "cap_tokens", "sampling"))


def test_the_heading_stays_what_is_stored(client, alice):
    page = client.post(to("edit_scenario", own(alice)), FORM | {"name": "Else", "cap_tokens": "-4"}).text
    assert "<h1>Mine</h1>" in page
    assert 'value="Else"' in page


def test_what_only_one_policy_asks_for_says_so(client, alice):
    page = client.get(NEW).text
    assert page.count('data-matters-to="sliding"') == 4
    assert page.count('data-matters-to="last-n-messages"') == 1


def test_policies_of_the_site_can_be_chosen(client, alice, settings):
    settings.WINDOW_POLICIES = ["tests.support.example_policy.LastFourMessages"]
    assert "tests.support.example_policy.LastFourMessages" in client.get(NEW).text


def test_one_too_many_is_refused_with_what_was_typed(client, alice, monkeypatch):
    monkeypatch.setattr("conversations.services.scenarios.scenarios.MOST_OF_ONE_PERSON", 0)
    response = client.post(NEW, FORM)
    assert "which is the limit" in response.text
    assert 'value="Guide"' in response.text


# Whose they are


@pytest.mark.parametrize("name", ["edit_scenario", "delete_scenario"])
@pytest.mark.parametrize("send", ["get", "post"])
@pytest.mark.parametrize("whose", ["the site's", "bob's"])
def test_only_ones_own_can_be_touched(client, alice, name, send, whose):
    owner = make_user("bob") if whose == "bob's" else None
    scenario = Scenario.objects.create(name="Untouched", owner=owner, offered=owner is None)
    assert getattr(client, send)(to(name, scenario), FORM).status_code == 404
    scenario.refresh_from_db()
    assert (scenario.name, scenario.owner) == ("Untouched", owner)


@pytest.mark.parametrize("path", ["/scenarios/{}/export/", "/scenarios/new/?scenario={}"])
def test_another_users_can_not_be_read(client, alice, path):
    theirs = own(make_user("bob"), system_prompt="A secret")
    response = client.get(path.format(theirs.pk))
    assert response.status_code == 404
    assert "A secret" not in response.text


def test_the_list_shows_ones_own_and_what_is_offered(client, alice):
    default_scenario()
    own(alice, name="Alice's")
    own(make_user("bob"), name="Bob's")
    page = client.get("/scenarios/").text
    assert "Alice&#x27;s" in page
    assert "Plain conversation" in page
    assert "Bob&#x27;s" not in page


@pytest.mark.parametrize("path", ["/scenarios/99999999999999999999/", "/scenarios/" + "9" * 5_000 + "/"])
def test_a_number_that_no_scenario_has_is_not_found(client, alice, path):
    assert client.get(path).status_code == 404


def test_what_a_person_wrote_is_never_markup(client, alice):
    hostile = "</textarea><script>alert(1)</script>"
    scenario = own(alice, name=hostile, system_prompt=hostile, sampling={"stop": hostile})
    for path in ("/scenarios/", to("edit_scenario", scenario), to("delete_scenario", scenario)):
        assert "<script>alert" not in client.get(path).text


# Taking away


def test_deleting_asks_with_what_its_conversations_go_on(client, alice):
    scenario, new = own(alice), own(alice, name="New")
    conversation = start_conversation(user=alice, public_id=uuid.uuid4(), scenario_id=scenario.pk)
    assert "1 conversation uses it" in client.get(to("delete_scenario", scenario)).text
    assert client.post(to("delete_scenario", scenario), {"scenario": new.pk}).url == "/scenarios/"
    conversation.refresh_from_db()
    assert conversation.scenario == new


# Files


def test_a_file_comes_back_as_it_left(client, alice):
    scenario = own(alice, name="Über alles!", system_prompt="Be brief.", policy_name="full")
    exported = client.get(to("export_scenario", scenario))
    assert exported["Content-Disposition"] == 'attachment; filename="uber-alles.json"'
    file = SimpleUploadedFile("mine.json", exported.content)
    assert client.post("/scenarios/from-file/", {"file": file}).status_code == 302
    again = alice.scenarios.exclude(pk=scenario.pk).get()
    assert write_document(again) == write_document(scenario)


def test_more_files_than_allowed_are_refused_and_pasted_text_is_not(client, alice):
    Limits.objects.create(user=alice, uploads_per_day=1)
    text = write_document(own(alice)).encode()
    for status in (302, 429):
        assert client.post("/scenarios/from-file/", {"file": SimpleUploadedFile("x.json", text)}).status_code == status
    assert client.post("/scenarios/from-file/", {"text": text.decode()}).status_code == 302


def test_a_file_larger_than_allowed_is_refused_in_words(client, alice):
    Limits.objects.create(user=alice, upload_kilobytes=1)
    file = SimpleUploadedFile("x.json", b" " * 1_001)
    response = client.post("/scenarios/from-file/", {"file": file})
    assert response.status_code == 413
    assert "larger than 1 kB" in response.text
    assert UploadCount.objects.get().uploads == 1


@pytest.mark.parametrize("content", [b"", b"nonsense", b" " * (MOST_BYTES + 1)])
def test_a_file_that_is_no_scenario_counts_too(client, alice, content):
    Limits.objects.create(user=alice, uploads_per_day=1)
    for status in (400, 429):
        file = SimpleUploadedFile("x.json", content)
        assert client.post("/scenarios/from-file/", {"file": file}).status_code == status


def test_a_file_that_is_refused_is_not_looked_at_and_the_text_beside_it_stays(client, alice):
    Limits.objects.create(user=alice, uploads_per_day=0)
    fields = {"file": SimpleUploadedFile("x.json", b"nonsense"), "text": "Typed with care"}
    response = client.post("/scenarios/from-file/", fields)
    assert response.status_code == 403
    assert "Typed with care" in response.text
    assert not response.context["problems"]


def test_a_files_text_can_be_pasted(client, alice):
    text = write_document(Scenario(name="Pasted", system_prompt="One\nTwo")).replace("\n", "\r\n")
    assert client.post("/scenarios/from-file/", {"text": text}).status_code == 302
    assert alice.scenarios.get().system_prompt == "One\nTwo"


def test_a_file_that_is_wrong_is_shown_with_what_is_wrong(client, alice):
    document = {"format": "windowseat.scenario", "version": 1, "name": "Mine", "policy": {"name": "os.system"}}
    file = SimpleUploadedFile("mine.json", json.dumps(document).encode())
    response = client.post("/scenarios/from-file/", {"file": file})
    assert response.status_code == 400
    assert "policy.name: This site does not offer" in response.text
    assert "os.system" in response.context["form"]["text"].value()
    assert not alice.scenarios.exists()


@pytest.mark.parametrize("fields", [{}, {"text": ""}, {"text": "\x00"}, {"text": "x" * (2 * 2**20 + 1)}])
def test_no_file_at_all_is_refused_in_words(client, alice, fields):
    response = client.post("/scenarios/from-file/", fields)
    assert response.status_code == 400
    assert response.context["form"].errors or response.context["problems"]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, b" " * (3 * 2**20)])
def test_a_hostile_file_is_refused_in_words(client, alice, content):
    response = client.post("/scenarios/from-file/", {"file": SimpleUploadedFile("x.json", content)})
    assert response.status_code == 400
    assert response.context["problems"] or response.context["form"].errors


def test_the_copys_name_fits_its_column():
    assert scenarios.NAME_CHARACTERS + len(" (copy)") <= Scenario._meta.get_field("name").max_length


@pytest.mark.django_db(transaction=True)
def test_a_scenario_that_is_deleted_while_it_is_edited_stays_deleted(client, alice):
    scenario = own(alice)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            delete_scenario(user=alice, scenario_id=scenario.pk)
            answer = pool.submit(_post_and_close, client, to("edit_scenario", scenario), FORM)
            wait_for_lock_waits()
        assert answer.result().status_code == 404
    assert not Scenario.objects.filter(pk=scenario.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_scenario_that_is_deleted_while_it_is_chosen_is_not_found(client, alice):
    scenario, conversation = own(alice), start_conversation(user=alice, public_id=uuid.uuid4())
    choosing = f"/c/{conversation.public_id}/scenario/", {"scenario": scenario.pk}
    posting = f"/c/{uuid.uuid4()}/messages/post/", {"scenario": scenario.pk, "content": "Hi", "client_id": uuid.uuid4()}
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            delete_scenario(user=alice, scenario_id=scenario.pk)
            answers = [pool.submit(_post_and_close, client, *asked) for asked in (choosing, posting)]
            wait_for_lock_waits(2)
        assert [answer.result().status_code for answer in answers] == [404, 404]


def _post_and_close(client, path, form):
    """Post as a script does, in a thread of its own."""
    try:
        return client.post(path, form, headers={"accept": "application/json"})
    finally:
        connection.close()


def test_each_language_model_says_what_it_costs(client, settings):
    client.force_login(make_user("alice"), "allauth.account.auth_backends.AuthenticationBackend")
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "gpt-4o-mini, odd context_window=4096"
    page = client.get(reverse("conversations:new_scenario")).text
    assert "gpt-4o-mini · $0.15 in / $0.60 out per million tokens</option>" in page
    assert "odd · price unknown</option>" in page


OPEN = '<details class="advanced" open>'


def test_what_few_people_need_is_folded_while_it_is_as_it_was(client, alice):
    assert '<details class="advanced">' in client.get(NEW).text
    assert '<details class="advanced">' in client.get(to("edit_scenario", own(alice))).text


@pytest.mark.parametrize("changed", [{"recall_share": 0}, {"policy_name": "full"}, {"sampling": {"temperature": 0.2}}])
def test_it_is_open_where_something_in_it_was_changed(client, alice, changed):
    assert OPEN in client.get(to("edit_scenario", own(alice, **changed))).text


def test_it_is_open_where_something_in_it_is_wrong(client, alice):
    answer = client.post(NEW, FORM | {"sampling": "{}", "cap_tokens": "many"})
    assert answer.status_code == 400
    assert OPEN in answer.text
    assert OPEN not in client.post(NEW, FORM | {"sampling": "{}", "name": ""}).text
