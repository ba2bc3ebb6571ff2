"""Names that people type on pages: what is stored of them, what is refused, and how they stand in sentences."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from conversations.models import Scenario
from conversations.services.saved_prompts.saved_prompts import save_prompt
from tests.support.people import begin, make_user
from tests.views.test_scenarios import FORM

pytestmark = pytest.mark.django_db(transaction=True)
REFUSAL = "at least one character that can be seen"
INVISIBLE = ["\u200b", "\u202e", "\u3164", "\u2800", "\u200d\ufe0f\u200f"]
SCRAMBLED, CLEANED = "\u202eevil\u2066\n name\u2069\u2069", "evil name"
PERSIAN = "می\u200cخواهم!"


@pytest.fixture
def alice(client):
    user = make_user("alice")
    user.name = ""
    user.save()
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return user


def name_conversation(client, user, name):
    conversation = user.conversations.first() or begin(user)
    answer = client.post(reverse("conversations:rename", args=[conversation.public_id]), {"title": name})
    conversation.refresh_from_db()
    return answer, conversation.title


def name_scenario(client, user, name):
    answer = client.post("/scenarios/new/", FORM | {"name": name})
    return answer, getattr(user.scenarios.first(), "name", "")


def name_scenario_in_file(client, user, name):
    text = json.dumps({"format": "windowseat.scenario", "version": 1, "name": name}, ensure_ascii=False)
    answer = client.post("/scenarios/from-file/", {"text": text})
    return answer, getattr(user.scenarios.first(), "name", "")


def name_prompt(client, user, name):
    answer = client.post(reverse("conversations:new_saved_prompt"), {"name": name, "content": "Sum it up."})
    return answer, getattr(user.saved_prompts.first(), "name", "")


def name_oneself(client, user, name):
    answer = client.post("/account/", {"name": name})
    user.refresh_from_db()
    return answer, user.name


FORMS = [name_conversation, name_scenario, name_scenario_in_file, name_prompt, name_oneself]


@pytest.mark.parametrize("name_it", FORMS)
def test_what_is_stored_of_a_name_is_what_can_be_seen(client, alice, name_it):
    assert name_it(client, alice, SCRAMBLED)[1] == CLEANED


@pytest.mark.parametrize("name_it", FORMS)
def test_a_name_from_right_to_left_is_stored_as_it_is(client, alice, name_it):
    assert name_it(client, alice, PERSIAN)[1] == PERSIAN


@pytest.mark.parametrize("name", INVISIBLE)
@pytest.mark.parametrize("name_it", FORMS)
def test_a_name_that_can_not_be_seen_is_refused_and_stays_in_its_field(client, alice, name_it, name):
    answer, stored = name_it(client, alice, name)
    assert stored == ""
    assert REFUSAL in answer.text
    assert name in answer.text


def test_what_a_script_stores_is_cleaned_too(alice):
    scenario = Scenario.objects.create(owner=alice, name=SCRAMBLED)
    assert scenario.name == CLEANED
    Scenario.objects.filter(pk=scenario.pk).update(name="\u202dother")
    Scenario.objects.bulk_create([Scenario(owner=alice, name="\u202dthird")])
    assert set(alice.scenarios.values_list("name", flat=True)) == {"other", "third"}


def test_two_prompts_can_not_look_the_same(client, alice):
    save_prompt(alice, name="Weekly", content="one")
    answer, _ = name_prompt(client, alice, "\u200bWeekly\u2060")
    assert "another saved prompt of this name" in answer.text
