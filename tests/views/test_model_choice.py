"""The language model on pages: the menu, choosing by HTTP, the line in the thread, what is passed over."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from conversations.models import Completion, Conversation, Run
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
JSON, FRAGMENT = {"accept": "application/json"}, {"HX-Request": "true"}
MODELS = (
    'plain context_window=8192 input_usd=1 output_usd=2 label="Plain one",'
    "deep context_window=16384 efforts=low|high, secret context_window=8192 for=admin"
)


@pytest.fixture
def conversation(client, settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", MODELS
    settings.MESSAGES_PER_MINUTE = 0
    user = make_user("alice")
    client.force_login(user, "allauth.account.auth_backends.AuthenticationBackend")
    return begin(user)


def address(name, conversation, *ids):
    return reverse(f"conversations:{name}", args=[conversation.public_id, *ids])


def page(client, conversation):
    return client.get(address("conversation", conversation)).text


def makers(text):
    names = re.findall(r'<bdi class="message-name">([^<]+)</bdi>', text)
    return [name for name in names if name != "You"]


def say(conversation, content):
    posted = post(Conversation.objects.select_related("scenario").get(pk=conversation.pk), content)
    end_reply(posted.reply.pk, COMPLETE, content="Fine")
    return posted.reply


def choose(client, conversation, headers=JSON, **fields):
    return client.post(address("choose_model", conversation), fields, headers=headers)


def test_the_header_names_the_model_and_offers_the_others(client, conversation):
    text = page(client, conversation)
    assert "Language model: Plain one" in text
    menu = text[text.index('id="model-menu"') : text.index("</form>", text.index('id="model-menu"'))]
    assert "8,192 tokens" in menu
    assert "16,384 tokens" in menu
    assert "$1" in menu
    assert "deep" in menu
    assert "secret" not in menu
    assert "How hard it thinks" not in menu


def test_a_model_and_an_effort_are_chosen_and_shown(client, conversation):
    assert choose(client, conversation, language_model="deep", effort="high").status_code == 200
    text = page(client, conversation)
    assert "Language model: deep" in text
    assert '<span class="model-effort">High</span>' in text
    assert "How hard it thinks" in text
    stored = Conversation.objects.get(pk=conversation.pk)
    assert (stored.language_model, stored.effort) == ("deep", "high")


def test_a_form_leads_back_and_a_script_gets_the_part_of_the_header(client, conversation):
    answer = choose(client, conversation, headers={}, language_model="deep")
    assert answer.headers["Location"] == address("conversation", conversation)
    fragment = client.get(address("choose_model", conversation), headers=FRAGMENT).text
    assert fragment.lstrip().startswith('<div class="model"')
    assert "deep answers from the next reply on." in fragment


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"language_model": "secret"}, 403, "language_model_not_offered"),
        ({"language_model": "deep", "effort": "medium"}, 400, "effort_not_accepted"),
        ({"language_model": "x" * 300}, 400, "frame_invalid"),
        ({"language_model": "plain", "effort": "\x00"}, 400, "frame_invalid"),
    ],
)
def test_what_may_not_be_chosen_changes_nothing(client, conversation, fields, status, code):
    answer = choose(client, conversation, **fields)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert Conversation.objects.get(pk=conversation.pk).language_model == ""


def test_the_first_message_begins_with_the_model_that_the_page_names(client, conversation):
    text = client.get(reverse("conversations:new"), {"language_model": "deep", "effort": "low"}).text
    assert "Language model: deep" in text
    assert '<input type="hidden" data-beginning name="language_model" value="deep">' in text
    assert '<input type="hidden" data-beginning name="effort" value="low">' in text
    text = client.get(reverse("conversations:new"), {"language_model": "secret"}).text
    assert "Language model: Plain one" in text
    assert '<input type="hidden" data-beginning name="language_model" value="">' in text


def test_replies_say_who_made_them_and_a_line_stands_where_that_changes(client, conversation):
    say(conversation, "One")
    say(conversation, "Two")
    choose(client, conversation, language_model="deep")
    say(conversation, "Three")
    say(conversation, "Four")
    text = page(client, conversation)
    assert re.findall(r"<span>([^<]+) answers from here on</span>", text) == ["deep"]
    assert makers(text) == ["Plain one"] * 2 + ["deep"] * 2


def test_the_line_stands_on_a_page_that_begins_with_the_reply(client, conversation):
    say(conversation, "One")
    choose(client, conversation, language_model="deep")
    say(conversation, "Two")
    snapshot = client.get(address("sync", conversation), {"from": 3}).json()
    assert "deep answers from here on" in snapshot["messages"][0]["html"]
    assert snapshot["model_key"].startswith("deep|")


def test_what_the_ledger_says_is_believed_before_what_was_to_make_it(client, conversation):
    say(conversation, "One")
    found = Conversation.objects.select_related("scenario").get(pk=conversation.pk)
    reply = post(found, "Two").reply
    window = prepare_reply(reply.pk).window.record.to_json()
    end_reply(reply.pk, COMPLETE, content="Fine")
    Completion.objects.create(
        reply=reply, conversation=found, language_model="gone-model", estimated_input_tokens=1, window=window
    )
    assert "gone-model answers from here on" in page(client, conversation)


def test_a_reply_is_regenerated_with_another_model(client, conversation):
    reply = say(conversation, "One")
    dialog = client.get(address("regenerate_with", conversation, reply.pk), headers=FRAGMENT).text
    assert 'value="deep"' in dialog
    assert "secret" not in dialog
    whole = client.get(address("regenerate_with", conversation, reply.pk)).text
    assert 'value="deep"' in whole
    regenerate = address("regenerate", conversation, reply.pk)
    assert client.post(regenerate, {"language_model": "secret"}, headers=JSON).status_code == 403
    again = client.post(regenerate, {"language_model": "deep"}, headers=JSON).json()["reply"]
    assert Run.objects.get(reply_id=again).language_model == "deep"
    end_reply(again, COMPLETE, content="Other words")
    text = page(client, conversation)
    assert "Previous version · Plain one" in text
    assert "Language model: Plain one" in text  # the conversation's choice stays


def test_the_model_that_made_the_version_is_marked_among_those_on_offer(client, conversation):
    def marked(reply):
        dialog = client.get(address("regenerate_with", conversation, reply), headers=FRAGMENT).text
        rows = re.findall(r'<button class="model-row".*?</button>', dialog, re.DOTALL)
        return [re.search('value="(.*?)"', row)[1] for row in rows if "made this version" in row]

    reply = say(conversation, "One")
    assert marked(reply.pk) == ["plain"]
    regenerate = address("regenerate", conversation, reply.pk)
    again = client.post(regenerate, {"language_model": "deep"}, headers=JSON).json()["reply"]
    assert marked(again) == ["deep"]
    assert "made this version" not in page(client, conversation)


def test_a_version_by_another_model_says_by_which_and_begins_nothing(client, conversation):
    say(conversation, "One")
    reply = say(conversation, "Two")
    regenerate = address("regenerate", conversation, reply.pk)
    again = client.post(regenerate, {"language_model": "deep"}, headers=JSON).json()["reply"]
    end_reply(again, COMPLETE, content="Other words")
    text = page(client, conversation)
    assert "<span>By deep</span>" in text
    assert "answers from here on" not in text


@pytest.mark.parametrize(
    "models", ["plain context_window=8192", "plain context_window=8192, deep context_window=9 for=admin"]
)
def test_a_model_that_is_gone_is_said_and_never_an_error(client, conversation, settings, models):
    choose(client, conversation, language_model="deep", effort="high")
    say(conversation, "One")
    settings.LANGUAGE_MODELS = models
    text = page(client, conversation)
    assert "“deep” is not on offer to you here. plain answers in its place." in text
    assert makers(text) == ["deep"]  # also where there is no choice any more
    say(conversation, "Two")
    assert "plain answers from here on" in page(client, conversation)
