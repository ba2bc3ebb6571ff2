"""What would be sent: the figures of the meter and the preview, from the same window as the request itself."""

from __future__ import annotations

import asyncio
import re

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import AsyncClient
from django.urls import reverse

from conversations.core.window.policies import WindowPolicy
from conversations.models import Completion, Message, Scenario
from conversations.providers.catalog.language_models import default_language_model, language_models
from conversations.services.messages import estimate_draft
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.wording.window_labels import PART_LABELS
from tests.grounding.documents import store_document
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db(transaction=True)
IN_VIEW = re.compile(r"Messages in view</dt><dd>(\d+)</dd>")
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


class NotOnTheLoop(WindowPolicy):
    """Sends no older messages, and works only where no event loop runs."""

    def choose(self, older, room):
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return []


class Broken(WindowPolicy):
    def choose(self, older, room):
        raise RuntimeError("SECRET DETAIL")


@pytest.fixture
def conversation(client, settings):
    settings.MESSAGES_PER_MINUTE = 0
    conversation = begin(make_user("alice"))
    client.force_login(conversation.owner, BACKEND)
    for content in ("one", "two", "three"):
        end_reply(post(conversation, content).reply.pk, COMPLETE, content=f"Reply to {content}")
    return conversation


def ask(client, name, conversation, content="And now?", **extra):
    fields = {"conversation": str(conversation.public_id), "content": content}
    return client.post(reverse(f"conversations:{name}"), fields, **extra)


def message_of(conversation, content):
    return conversation.messages.get(content=content)


def test_the_estimate_is_the_window_that_is_then_sent(client, conversation):
    figures = ask(client, "estimate", conversation).json()["window"]
    record = prepare_reply(post(conversation, "And now?").reply.pk).window.record
    assert (figures["prompt_tokens"], figures["first_position"]) == (record.prompt_tokens, record.first_position)
    assert dict(figures["parts"]) == {**record.parts, "reserve": record.reply_reserve_tokens}
    assert [part for part, _ in figures["parts"]] == [*PART_LABELS, "free", "reserve"]


def test_the_estimate_tells_which_messages_are_pinned_and_which_are_out(client, conversation):
    pin_message(conversation=conversation, message_id=message_of(conversation, "one").pk, pinned=True)
    excluded = message_of(conversation, "two")
    exclude_message(conversation=conversation, message_id=excluded.pk, excluded=True)
    figures = ask(client, "estimate", conversation).json()["window"]
    assert figures["pins"] == [message_of(conversation, "one").pk]
    assert figures["excluded"] == [excluded.pk]
    assert figures["left_out"] == {str(excluded.pk): "excluded"}


@pytest.mark.parametrize("name", ["estimate", "preview"])
def test_a_long_draft_holds_no_connection_while_it_is_counted(client, conversation, name, monkeypatch):
    held, count = [], estimate_draft.draft_message

    def look(content, **named):
        held.append(connection.connection is not None)
        return count(content, **named)

    monkeypatch.setattr(estimate_draft, "draft_message", look)
    for content in ("short", "long " * 5_000):
        assert ask(client, name, conversation, content).status_code == 200
    assert held == [True, False]


def test_a_draft_that_does_not_fit_has_no_window_but_a_reason(client, conversation):
    answer = ask(client, "estimate", conversation, "window " * 5_000).json()
    assert answer["window"] is None
    assert "tokens too long" in answer["problem"]
    assert answer["prompt_tokens"] > answer["budget_tokens"]


@pytest.mark.parametrize("name", ["estimate", "preview"])
def test_a_broken_policy_is_told_without_its_details(client, conversation, name):
    Scenario.objects.update(policy_name=f"{__name__}.Broken")
    answer = ask(client, name, conversation)
    assert answer.status_code == 200
    assert "Choose another policy" in answer.text
    assert "SECRET DETAIL" not in answer.text


def test_the_preview_shows_every_message_and_stores_nothing(client, conversation):
    before = list(Message.objects.values())
    preview = ask(client, "preview", conversation, "<b>And now?</b>", headers={"hx-request": "true"}).text
    assert preview.count('class="row row-') == 7
    assert "&lt;b&gt;And now?&lt;/b&gt;" in preview
    assert "What would be sent now" in preview
    assert list(Message.objects.values()) == before
    assert not Completion.objects.exists()


def test_the_preview_of_an_empty_draft_counts_no_message_for_it(client, conversation):
    shown = [ask(client, "preview", conversation, draft).text for draft in ("", "And now?")]
    assert ["Nothing is written yet." in text for text in shown] == [True, False]
    assert [IN_VIEW.search(text)[1] for text in shown] == ["6", "7"]


def test_the_preview_names_the_model_as_the_page_does(client, conversation):
    name = conversation.language_model or default_language_model().name
    configured = language_models()[name]
    assert configured.label != name
    shown = ask(client, "preview", conversation).text
    assert f"<dd><bdi>{configured.label}</bdi> <small>{name}</small></dd>" in shown


def test_the_preview_says_what_is_not_in_it_yet(client, conversation):
    assert "looked up" not in ask(client, "preview", conversation).text
    store_document(conversation, ["Herons stand."])
    assert "one document is searched" in ask(client, "preview", conversation).text
    store_document(conversation.scenario, ["Herons wade."])
    store_document(conversation, ["Not read yet."], name="new.txt", state="waiting")
    assert "2 documents are searched" in ask(client, "preview", conversation).text


def test_the_preview_of_a_conversation_that_has_not_begun_needs_none(client, conversation):
    fields = {"conversation": "", "content": "Hello"}
    assert "Hello" in client.post(reverse("conversations:preview"), fields).text


@pytest.mark.parametrize("name", ["estimate", "preview"])
def test_it_is_not_worked_out_on_the_event_loop(conversation, name):
    Scenario.objects.update(policy_name=f"{__name__}.NotOnTheLoop")
    client = AsyncClient()
    client.force_login(conversation.owner, BACKEND)

    async def ask_in_a_loop():
        return await ask(client, name, conversation)

    answer = async_to_sync(ask_in_a_loop)()
    assert answer.status_code == 200
    assert "Choose another policy" not in answer.text


@pytest.mark.parametrize("messages", [1, 20])
def test_the_page_asks_the_database_as_often_for_many_messages(
    client, conversation, django_assert_max_num_queries, messages
):
    for number in range(messages):
        end_reply(post(conversation, f"message {number}").reply.pk, COMPLETE, content="Yes")
    with django_assert_max_num_queries(22):
        client.get(reverse("conversations:conversation", args=[conversation.public_id]))


def test_the_tools_are_in_the_meter_and_by_name_in_the_preview(client, conversation):
    Scenario.objects.filter(pk=conversation.scenario_id).update(tools=["current_time", "calculator"])
    parts = dict(ask(client, "estimate", conversation, "hello").json()["window"]["parts"])
    assert parts["tools"] > 50
    assert "calculator, current_time" in ask(client, "preview", conversation, "hello").text
