"""Names that people type on pages: what is stored of them, what is refused, and how they stand in sentences."""

from __future__ import annotations

import html
import json
import re

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from conversations.models import Scenario
from conversations.services.saved_prompts.saved_prompts import save_prompt
from tests.support.people import begin, make_user, post
from tests.support.scenario_form import FORM
from tests.support.source import PROJECT

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


def test_a_name_is_looked_for_as_it_is_stored_whatever_was_typed(alice):
    scenario = Scenario.objects.create(owner=alice, name="mine")
    mine = Scenario.objects.filter(owner=alice)
    assert mine.get(name="\u202emine\u200b") == scenario
    assert [mine.filter(name=typed).count() for typed in INVISIBLE] == [0] * len(INVISIBLE)


@pytest.mark.parametrize("name", INVISIBLE)
def test_a_row_with_a_name_that_can_not_be_seen_is_not_valid(alice, name):
    with pytest.raises(ValidationError) as refused:
        Scenario(owner=alice, name=name).full_clean()
    assert REFUSAL in refused.value.message_dict["name"][0]


def test_two_prompts_can_not_look_the_same(client, alice):
    save_prompt(alice, name="Weekly", content="one")
    answer, _ = name_prompt(client, alice, "\u200bWeekly\u2060")
    assert "another saved prompt of this name" in answer.text


# In sentences

HEBREW = "שלום!"
ISOLATED = f"\u2068{HEBREW}\u2069"


def read(answer):
    return html.unescape(answer.text)


@pytest.fixture
def titled(client, alice):
    """Return a conversation with a title from right to left."""
    conversation = begin(alice)
    post(conversation, "Hello")
    name_conversation(client, alice, HEBREW)
    return conversation


def test_a_title_changes_the_order_of_no_word_around_it(client, titled):
    page = read(client.get(reverse("conversations:conversation", args=[titled.public_id])))
    assert f"<title>{ISOLATED} · Windowseat</title>" in page
    assert f'aria-label="Actions for “{ISOLATED}”"' in page
    assert f'dir="auto" data-entry-title>{HEBREW}<' in page
    deleted = client.post(reverse("conversations:delete", args=[titled.public_id]), follow=True)
    assert f"“{ISOLATED}” is deleted." in read(deleted)


def test_a_title_from_left_to_right_stands_as_it_is(client, alice, titled):
    name_conversation(client, alice, "Lofoten (2)!")
    page = read(client.get(reverse("conversations:conversation", args=[titled.public_id])))
    assert "<title>Lofoten (2)! · Windowseat</title>" in page
    assert "Actions for “Lofoten (2)!”" in page


def test_names_of_scenarios_and_prompts_stand_in_sentences_the_same_way(client, alice):
    name_scenario(client, alice, HEBREW)
    listed = read(client.get("/scenarios/"))
    assert f"“{ISOLATED}” is saved." in listed
    assert f"with {ISOLATED}<" in listed
    scenario = alice.scenarios.get()
    assert f"Delete “{ISOLATED}”?" in read(client.get(f"/scenarios/{scenario.pk}/delete/"))
    assert f"“{ISOLATED}” is deleted." in read(client.post(f"/scenarios/{scenario.pk}/delete/", follow=True))
    prompt = save_prompt(alice, name=HEBREW, content="text")
    assert f'aria-label="Delete “{ISOLATED}”"' in read(client.get("/account/prompts/"))
    gone = client.post(reverse("conversations:delete_saved_prompt", args=[prompt.pk]), follow=True)
    assert f"“{ISOLATED}” is deleted." in read(gone)


def test_ones_own_name_stands_in_sentences_the_same_way(client, alice):
    name_oneself(client, alice, HEBREW)
    page = read(client.get("/"))
    assert f"Where to, {ISOLATED}?" in page
    assert f'aria-label="{ISOLATED}: account and site"' in page


SENTENCE = re.compile(r"{% blocktranslate([^%]*)%}(.*?){% endblocktranslate %}", re.DOTALL)
GIVEN = re.compile(r"\w+=([\w.]*?([^\W_]+))(?=[\s|])(\S*)")  # what stands in it, the last word of that, and its filters
WITHIN_BDI = re.compile(r"<bdi\b[^>]*>.*?</bdi>", re.DOTALL)
STANDS = re.compile(r"{{ *(\w*?([^\W_]+)) *}}")
NAMES = {"title", "name", "email", "label", "model", "entry", "authenticator"}
OURS = {
    "cl.opts.verbose_name",
    "current_site.name",
    "site_name",
    "change.detail_label",
}  # kinds of rows, the site, roles


def test_every_name_in_a_sentence_of_a_template_is_isolated():
    templates = [path for ending in ("html", "txt") for path in (PROJECT / "templates").rglob(f"*.{ending}")]
    names = [
        (path.name, *found)
        for path in templates
        for given, body in SENTENCE.findall(path.read_text(encoding="utf-8"))
        for found in names_in_sentence(given, body)
    ]
    assert len(names) > 30
    assert [(file, what) for file, what, filters in names if not filters.endswith("|isolate")] == []


@pytest.mark.parametrize(
    ("given", "body", "names"),
    [
        (" with title=entry.title|isolate ", "Rename {{ title }}", [("entry.title", "|isolate")]),
        (" with title=entry.title|truncatechars:9 ", "Rename {{ title }}", [("entry.title", "|truncatechars:9")]),
        (" with count=entries|length ", "{{ count }} of {{ last_title }}", [("last_title", "")]),
        (
            "",
            "Ask <bdi data-line-model>{{ model }}</bdi> in {{ site_name }} or {{ scenario_name }}",
            [("scenario_name", "")],
        ),
    ],
)
def test_the_names_in_a_sentence_are_those_that_are_given_and_those_of_the_page(given, body, names):
    assert names_in_sentence(given, body) == names


def names_in_sentence(given, body):
    """Return (what stands there, its filters) for each name that a sentence of a template is given, or has itself."""
    found = [each.groups() for each in GIVEN.finditer(given)]
    own = WITHIN_BDI.sub("", body)
    found += [(what, word, "") for what, word in STANDS.findall(own) if f"{what}=" not in given]
    return [(what, filters) for what, word, filters in found if word in NAMES and what not in OURS]
