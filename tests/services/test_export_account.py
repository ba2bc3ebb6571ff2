"""Everything of a person in one file: all that is theirs, nothing of anybody else, and no secret."""

from __future__ import annotations

import csv
import io
import json
import uuid

import pytest
from django.conf import settings
from django.utils import timezone

from chatsite.accounts.models import Session
from conversations.core.text.file_names import clean_file_name
from conversations.models import Completion, Conversation, Message, Reading, Run, Scenario
from conversations.selectors.review.content_search import conversations_with
from conversations.services.conversations.conversations import rename_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import pin_message
from conversations.services.portability.export_account import AT_ONCE, exported_files
from conversations.services.replies.end_reply import COMPLETE, STOPPED, end_reply
from conversations.services.replies.reasoning import Reasoning
from conversations.services.review.readings import log_hits, open_reading, open_search
from tests.admin.stored import make_completion
from tests.support.documents import add
from tests.support.people import begin, make_user, post
from tests.support.sockets import sign_in
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def exported(user, language_code="en") -> dict[str, bytes]:
    return {name: b"".join(chunks) for name, chunks in exported_files(user, language_code=language_code)}


def conversations_in(files) -> list[dict]:
    return [json.loads(content) for name, content in files.items() if name.startswith("conversations/")]


def table_in(files, name) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode("utf-8-sig"))))


def answered(conversation, content):
    posted = post(conversation, content)
    make_completion(conversation.owner, reply=posted.reply, window={"parts": []}, cost_usd="0.0012")
    end_reply(posted.reply.pk, COMPLETE, content=f"Indeed, {content}")
    return posted


def test_a_conversation_has_all_its_versions_marks_windows_and_costs(alice):
    conversation = begin(alice)
    first = answered(conversation, "Which seat?")
    pin_message(conversation=conversation, message_id=first.message.pk, pinned=True)
    edited = edit_message(
        user=alice, conversation=conversation, message_id=first.message.pk, content="Which row?", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="Row 12")
    [told] = conversations_in(exported(alice))
    contents = [(message["content"], message["shown"], message["pinned"]) for message in told["messages"]]
    assert contents[:3] == [
        ("Which seat?", False, True), ("Indeed, Which seat?", False, False), ("Which row?", True, False)
    ]  # fmt: skip
    [request] = told["messages"][1]["requests"]
    assert (request["window"], request["cost_usd"]) == ({"parts": []}, "0.0012000000")


def test_what_a_program_noted_and_asked_for_is_in_it(alice):
    conversation = begin(alice)
    Conversation.objects.filter(pk=conversation.pk).update(metadata={"topic": "seats"})
    answered(conversation, "Which seat?")
    parameters = {"instructions": "Be brief.", "echo": {"metadata": {"a": "b"}}}
    Run.objects.filter(reply=answered(conversation, "And which row?").reply).update(parameters=parameters)
    [told] = conversations_in(exported(alice))
    assert told["metadata"] == {"topic": "seats"}
    assert [message["parameters"] for message in told["messages"]] == [{}, {}, {}, parameters]


def test_the_steps_of_a_reply_stand_before_it_with_what_became_of_each_call(alice):
    posted = post(begin(alice), "What is 17 × 23?")
    add_call(posted.reply, result="391", decided_at=timezone.now())
    end_step(posted.reply, text="Let me see.")
    end_reply(posted.reply.pk, COMPLETE, content="It is 391.", reasoning=Reasoning("Hm.", 2.5, 17))
    post(posted.message.conversation, "Thanks")
    [told] = conversations_in(exported(alice))
    question, asked, result, reply = told["messages"][:4]
    assert [each["content"] for each in (question, asked, result, reply)] == [
        "What is 17 × 23?", "Let me see.", "391", "It is 391."
    ]  # fmt: skip
    assert [reply[f"reasoning{what}"] for what in ("", "_tokens", "_seconds")] == ["Hm.", 17, 2.5]
    assert reply["reasoning_tokens_estimated"] is False
    assert (question["reasoning"], question["reasoning_tokens"]) == ("", None)
    assert asked["step_of"] == result["step_of"] == reply["id"]
    [call] = reply["calls"]
    assert (call["state"], call["message_id"], call["result"]) == ("succeeded", result["id"], "")
    assert call["decided_at"]


def test_a_call_that_was_stopped_comes_with_the_reply_that_asked_for_it(alice):
    posted = post(begin(alice), "What is 17 × 23?")
    add_call(posted.reply, state="stopped", arguments='{"expression": "17 * 23"}')
    end_reply(posted.reply.pk, STOPPED)
    [told] = conversations_in(exported(alice))
    assert [call["arguments"] for call in told["messages"][1]["calls"]] == ['{"expression": "17 * 23"}']


def test_documents_come_as_they_were_sent(alice):
    conversation, scenario = begin(alice), Scenario.objects.create(name="Trips", owner=alice)
    content = bytes(range(256)) * 20
    ours = [add(alice, place, "plan: A/B.txt", content) for place in (conversation, scenario)]
    files = exported(alice)
    rows = table_in(files, "documents.csv")
    assert [files[row["file"]] for row in rows] == [content, content]
    assert [row["conversation"] for row in rows] == [str(conversation.public_id), ""]
    assert {row["name"] for row in rows} == {clean_file_name("plan: A/B.txt")}
    assert len(ours) == 2


def test_every_request_is_in_the_table_also_of_what_is_deleted(alice):
    conversation = begin(alice)
    answered(conversation, "Hello")
    Completion.objects.update(conversation=None, reply=None)
    [row] = table_in(exported(alice), "usage.csv")
    assert (row["conversation"], row["cost_usd"], row["purpose"]) == ("", "0.0012000000", "reply")


def test_readings_say_who_why_and_what_where_the_site_tells(alice, settings):
    reviewer = make_user("grace", role="reviewer")
    open_reading(reviewer, begin(alice), "Somebody complained about it")
    [row] = table_in(exported(alice), "readings.csv")
    assert (row["by"], row["reason"]) == ("grace@example.org", "Somebody complained about it")
    settings.READINGS_SHOWN_TO_OWNERS = False
    assert "readings.csv" not in exported(alice)


def test_searches_that_led_to_a_conversation_are_among_the_readings(alice):
    found = begin(alice)
    answered(found, "Hello")
    log_hits(open_search(make_user("grace", role="reviewer"), "hello", "A complaint"), conversations_with("hello"))
    [row] = table_in(exported(alice), "readings.csv")
    assert (row["conversation"], row["what"]) == (str(found.public_id), "search hello")


def test_nothing_of_anybody_else_is_in_it(alice):
    bob = make_user("bob", role="reviewer")
    hers, his = begin(alice), begin(bob)
    answered(hers, "Hello")
    answered(his, "canary")
    add(bob, his, "canary.txt", b"canary")
    Scenario.objects.create(name="canary", system_prompt="canary", owner=bob, offered=True)
    open_reading(alice_as_reviewer(alice), his, "canary reason of mine")
    files = exported(alice)
    everything = b"\n".join([*files.values(), *(name.encode() for name in files)])
    assert b"Hello" in everything
    assert b"canary" not in everything
    assert bob.email.encode() not in everything
    assert len(table_in(files, "usage.csv")) == 1


def alice_as_reviewer(alice):
    alice.role = "reviewer"
    alice.save()
    return alice


def test_no_secret_is_in_it(alice):
    alice.set_password("window seat 12A, please")
    alice.save()
    key = sign_in(alice)
    everything = b"".join(exported(alice).values()).decode()
    secrets = [alice.password, key, Session.objects.get(session_key=key).session_data, settings.SECRET_KEY]
    assert not [secret for secret in secrets if secret in everything]
    [session] = json.loads(exported(alice)["account.json"])["sessions"]
    assert "session_key" not in session


def test_what_is_deleted_is_not_in_it(alice):
    answered(conversation := begin(alice), "Hello")
    delete_conversation(conversation)
    files = exported(alice)
    assert conversations_in(files) == []
    assert table_in(files, "documents.csv") == []


@pytest.mark.parametrize(
    "title",
    ["../../etc/passwd", 'a\\b:c*?<>|"', "x" * 200, "座" * 200, "\U0001fa91" * 200, "=1+1", "..", "\u202egnp.exe"],
)
def test_no_name_of_a_file_leads_anywhere_else(alice, title):
    conversation = begin(alice)
    answered(conversation, "Hello")
    rename_conversation(conversation, title=title)
    Scenario.objects.create(name=title[:100], owner=alice)
    for name in exported(alice):
        folder, _, file = name.rpartition("/")
        assert folder in ("", "conversations", "scenarios")
        assert not set('<>:"\\|?*\n\u202e') & set(file)
        assert (file.startswith("."), len(file.encode()) < 255) == (False, True)


def test_formulas_stay_text(alice):
    answered(conversation := begin(alice), "Hello")
    reading = open_reading(make_user("grace", role="reviewer"), conversation, "=HYPERLINK(1) is why")
    assert Reading.objects.get() == reading
    assert table_in(exported(alice), "readings.csv")[0]["reason"].startswith("'=")


def test_it_says_what_is_what_in_the_person_s_language(alice):
    assert "usage.csv" in exported(alice)["README.txt"].decode()
    assert "usage.csv" in exported(alice, language_code="zh-hans")["README.txt"].decode()


def test_what_goes_away_meanwhile_does_not_break_it(alice):
    for number in range(3):
        answered(begin(alice), f"Hello {number}")
    files = exported_files(alice, language_code="en")
    names = []
    for name, chunks in files:
        names.append(name)
        if len(names) == 3:  # the first conversation: read its beginning, then all are gone
            next(iter(chunks))
            Conversation.objects.all().delete()
        b"".join(chunks)
    assert names[-1] == "readings.csv"


def test_the_number_of_statements_grows_with_slices_and_not_with_messages(alice, django_assert_max_num_queries):
    conversation = begin(alice)
    rows = [
        Message(conversation=conversation, position=0, active=False, role="user", content=str(number), encoding="x")
        for number in range(2 * AT_ONCE)
    ]
    Message.objects.bulk_create(rows)
    with django_assert_max_num_queries(27):
        [told] = conversations_in(exported(alice))
    assert len(told["messages"]) == 2 * AT_ONCE
