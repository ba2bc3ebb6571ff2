"""No page of the admin shows a word of anybody's without a reading, and with one only that conversation's.

Every address of the admin is asked for, by a reviewer and by an admin, for a person whose title, messages, sources,
documents, scenario, prompt and request have a canary in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import reverse

from chatsite.accounts.models import User
from conversations.core.window.window_record import RecallRecord
from conversations.models import Completion, Conversation, Document, KeptText, Message, Reading, Run, Scenario, ToolCall
from conversations.services.conversations.notes import save_about_me, save_notes
from conversations.services.replies.end_reply import COMPLETE, end_reply
from conversations.services.replies.prepare_reply import prepare_reply
from conversations.services.replies.reasoning import Reasoning
from tests.access_matrix.routes import Route, routes
from tests.admin.readings import page_of, read_by
from tests.admin.stored import make_completion
from tests.support.documents import add, grounded, make_ready
from tests.support.people import begin, post
from tests.support.recall import entry_of, store_recall
from tests.support.tool_steps import add_call, end_step

SENT = ("prompt", "about me", "notes", "question", "stop", "recalled […]")
ASKED_BY_LETTERS = {
    "conversation": ["title", "title__startswith", "scenario__system_prompt__contains", "messages__content__contains"],
    "message": ["content", "content__startswith", "grounding__icontains", "conversation__title__contains"],
    "completion": ["request__icontains", "conversation__title__contains", "system_prompt__text__contains"],
    "document": ["name", "name__startswith", "passages__text__contains"],
    "scenario": ["name__startswith", "system_prompt__contains"],
    "run": ["reply__content__contains"],
    "toolcall": ["arguments__contains", "result__startswith", "tool__startswith", "reply__content__contains"],
}
PARAMETERS = {"app_label": "conversations", "content_type_id": 1, "by": "conversation", "picture_id": 1}


class Person:
    """A user all of whose words begin with *canary*."""

    def __init__(self, owner: User, canary: str) -> None:
        fields = {"name": f"{canary} scenario", "system_prompt": f"{canary} prompt"}
        self.scenario = Scenario.objects.create(owner=owner, **fields)
        self.conversation = begin(owner)
        changes = {"title": f"{canary} title", "metadata": {"note": f"{canary} metadata"}}
        Conversation.objects.filter(pk=self.conversation.pk).update(scenario=self.scenario, **changes)
        save_notes(self.conversation, f"{canary} notes")
        save_about_me(owner, f"{canary} about me")
        self.conversation.refresh_from_db()
        self.document = make_ready(add(owner, self.conversation, f"{canary}.txt", canary.encode()), f"{canary} passage")
        add(owner, self.scenario, f"{canary} of a scenario.txt", f"{canary} of a scenario".encode())
        self.reply = self._answered(canary)
        self.completion = self.reply.completions.get()

    def _answered(self, canary: str) -> Message:
        recalled = self._said_before(canary)
        posted = post(self.conversation, f"{canary} question")
        grounded(posted.message, self.document, text=f"{canary} source")
        prepared = prepare_reply(posted.reply.pk)
        request = {"model": "demo", "stop": [f"{canary} stop"]}
        system_message = prepared.window.prompt[0].content
        make_completion(
            self.conversation.owner,
            reply=posted.reply,
            window=prepared.window.record.to_json(),
            request=request,
            scenario=self.scenario,
            system_prompt=KeptText.objects.create(digest=f"digest of {canary}", text=system_message),
        )
        entry = entry_of(recalled, end=len(canary) + len(" recalled"), why=("words",))
        store_recall(posted.reply, RecallRecord(12, 40, (entry,), is_looked_up=True), first_position=2)
        add_call(posted.reply, "calculator", f'{{"expression": "{canary} sum"}}', result=f"{canary} result")
        end_step(posted.reply, text=f"{canary} before")
        thoughts = Reasoning(f"{canary} thoughts", 2.0)
        made_up = {"source": "", "state": "failed", "result": f"{canary} failed", "error_code": "tool_unknown"}
        add_call(posted.reply, f"{canary}_tool", f'{{"note": "{canary} note"}}', step=2, **made_up)
        end_reply(posted.reply.pk, COMPLETE, content=f"{canary} answer", reasoning=thoughts)
        Message.objects.filter(pk=posted.reply.pk).update(error_params={"said": f"{canary} error"})
        Run.objects.filter(reply=posted.reply).update(parameters={"instructions": f"{canary} instructions"})
        return posted.reply

    def _said_before(self, canary: str) -> Message:
        posted = post(self.conversation, f"{canary} recalled, and more")
        end_reply(posted.reply.pk, COMPLETE, content=f"{canary} answered before")
        self.conversation.refresh_from_db()
        return posted.message

    def rows(self) -> dict[str, int]:
        """Return an id of each model that the admin shows."""
        return {
            "conversation": self.conversation.pk,
            "message": self.reply.pk,
            "completion": self.completion.pk,
            "toolcall": ToolCall.objects.get(reply=self.reply, step=1).pk,
            "document": self.document.pk,
            "scenario": self.scenario.pk,
            "run": Run.objects.get(reply=self.reply).pk,
            "user": self.conversation.owner_id,
            "reading": Reading.objects.values_list("pk", flat=True).first() or 0,
        }


@pytest.fixture
def robin(alice) -> Person:
    return Person(alice, "robin")


@pytest.fixture(params=["reviewer", "admin"])
def browser(request, admin_browser, reviewer_browser) -> Client:
    return {"admin": admin_browser, "reviewer": reviewer_browser}[request.param]


def addresses(person: Person) -> Iterator[str]:
    """Yield every address of the admin that can be asked for, each with the ids of *person*'s rows."""
    for route in routes():
        if route.name.startswith("admin:") and route.name != "admin:logout":
            yield reverse(route.name, kwargs=_ids(route, person.rows()))
    for name in ("message", "completion", "document"):
        yield f"{reverse(f'admin:conversations_{name}_changelist')}?conversation={person.conversation.pk}"
    for call in ToolCall.objects.filter(reply=person.reply):
        yield reverse("admin:conversations_toolcall_change", args=[call.pk])
    for message in person.conversation.messages.all():
        yield reverse("admin:conversations_message_change", args=[message.pk])


def _ids(route: Route, rows: dict[str, int]) -> dict[str, object]:
    model = route.name.removeprefix("admin:").split("_")[1] if "_" in route.name else ""
    ids = dict.fromkeys(("object_id", "pk", "id", "user_id"), rows.get(model, rows["user"]))
    return {name: {**PARAMETERS, **ids}[name] for name in route.parameters}


def words_in(browser: Client, address: str) -> str:
    """Return what an address answers, or leads to. Files that are streamed are asked for in the tests of exports."""
    response = browser.get(address, follow=True)
    return "" if response.streaming else response.content.decode()


def pages_with(canary: str, browser: Client, person: Person) -> list[str]:
    return [address for address in addresses(person) if canary in words_in(browser, address)]


def test_without_a_reading_no_page_shows_a_word(browser, robin):
    assert pages_with("robin", browser, robin) == []


def test_with_a_reading_only_that_conversation_is_shown(reviewer_browser, robin):
    wren = Person(User.objects.create_user("bob@example.org"), "wren")
    read_by(User.objects.get(email="grace@example.org"), robin.conversation)
    assert pages_with("wren", reviewer_browser, wren) == []
    assert page_of(robin.conversation) in pages_with("robin", reviewer_browser, robin)


def test_with_a_reading_all_of_its_words_are_there(reviewer_browser, robin):
    read_by(User.objects.get(email="grace@example.org"), robin.conversation)
    thread = words_in(reviewer_browser, page_of(robin.conversation))
    prompt = words_in(reviewer_browser, reverse("admin:conversations_completion_prompt", args=[robin.completion.pk]))
    assert [what for what in ("title", "question", "answer", "source") if f"robin {what}" not in thread] == []
    assert [what for what in SENT if f"robin {what}" not in prompt] == []


@pytest.mark.parametrize(
    ("model", "lookup"), [(model, lookup) for model, lookups in ASKED_BY_LETTERS.items() for lookup in lookups]
)
def test_no_word_is_guessed_by_its_letters(admin_browser, robin, model, lookup):
    response = admin_browser.get(reverse(f"admin:conversations_{model}_changelist"), {lookup: "robin"})
    assert response.status_code in (302, 400)


@pytest.mark.parametrize("model", sorted(ASKED_BY_LETTERS))
def test_no_list_searches_in_words(admin_browser, robin, model):
    response = admin_browser.get(reverse(f"admin:conversations_{model}_changelist"), {"q": "robin"})
    assert list(response.context["cl"].result_list) == []


def test_no_column_sorts_by_words(admin_browser, robin):
    for model in (Conversation, Message, Completion, Document, Scenario):
        url = reverse(f"admin:conversations_{model._meta.model_name}_changelist")
        columns = admin_browser.get(url).context["cl"].list_display
        for number in range(len(columns)):
            ordered = admin_browser.get(url, {"o": number}).context["cl"].queryset.query.order_by
            assert not {"title", "name", "content", "system_prompt"} & {str(by).lstrip("-") for by in ordered}


def test_a_person_s_own_scenario_is_theirs_to_change(admin_browser, robin):
    url = reverse("admin:conversations_scenario_change", args=[robin.scenario.pk])
    assert admin_browser.post(url, {"name": "forged"}).status_code == 403
    assert "system_prompt" not in admin_browser.get(url).content.decode()


def test_what_is_shown_of_a_request_is_what_was_sent(reviewer_browser, robin):
    read_by(User.objects.get(email="grace@example.org"), robin.conversation)
    url = reverse("admin:conversations_completion_prompt_json", args=[robin.completion.pk])
    body = json.loads(reviewer_browser.get(url).content)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
