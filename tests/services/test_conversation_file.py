"""The JSON file of one conversation: read back and exported again, it has the same bytes."""

from __future__ import annotations

import datetime as dt
import io
import json
import uuid
from functools import cache

import pytest
from django.utils import timezone
from PIL import Image

from conversations.core.errors import InvalidHistory
from conversations.core.prompt.summary_text import render_summary
from conversations.models import Conversation, Message, Summary
from conversations.models.rating import Verdict
from conversations.parsing import read_picture
from conversations.providers.tokens.tokenizer import count_text
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.conversations.notes import save_notes
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message, pin_message
from conversations.services.messages.rate_reply import rate_reply
from conversations.services.portability.conversation_json import whole_conversation_json
from conversations.services.portability.read_conversation_json import read_conversation
from conversations.services.replies.end_reply import COMPLETE, STOPPED, end_reply
from conversations.services.replies.reasoning import Reasoning
from conversations.wording.import_reports import report_lines
from tests.admin.stored import make_completion
from tests.support.exports import as_zip
from tests.support.imports import import_files, report_of
from tests.support.people import begin, make_user, post
from tests.support.pictures import store_picture
from tests.support.tool_steps import add_call, end_step

pytestmark = pytest.mark.django_db
ROWS_TOKENS = count_text("cl100k_base")(render_summary("Rows.").content)


@pytest.fixture
def alice(settings):
    settings.MESSAGES_PER_MINUTE = 0
    return make_user("alice")


@cache
def picture_as_read():
    """What a picture is when it is sent: encoded again, by a process that would take longer than most tests."""
    file = io.BytesIO()
    Image.new("RGB", (4, 3), "navy").save(file, "PNG")
    return read_picture(file.getvalue())


def store_read(conversation):
    found = picture_as_read()
    return store_picture(conversation, found.content, media_type=found.media_type, width=4, height=3)


@pytest.fixture
def talk(alice):
    """A conversation with versions, marks, a rating, steps, thinking, a picture, a failure, notes and a summary."""
    talk = begin(alice)
    save_notes(talk, "Window seats, “please”.")
    first = post(talk, "Which seat?")
    make_completion(alice, reply=first.reply, language_model="model-a", cost_usd="0.0012", window={"parts": []})
    end_reply(first.reply.pk, COMPLETE, content="12A", reasoning=Reasoning("Hm.", 2.5, 17))
    rate_reply(conversation=talk, reply_id=first.reply.pk, verdict=Verdict.GOOD)
    edited = edit_message(
        user=alice, conversation=talk, message_id=first.message.pk, content="Which row?\u2028", client_id=uuid.uuid4()
    )
    end_reply(edited.reply.pk, COMPLETE, content="Row 12")
    pin_message(conversation=talk, message_id=edited.message.pk, pinned=True)
    counted = post(talk, "What is 17 × 23?")
    add_call(counted.reply, "calculator", '{"expression": "17*23"}', result="391")
    end_step(counted.reply, text="Let me see.")
    end_reply(counted.reply.pk, COMPLETE, content="391")
    exclude_message(conversation=talk, message_id=counted.reply.pk, excluded=True)
    seen = post(talk, "What is this?", pictures=[store_read(talk).pk])
    end_reply(seen.reply.pk, STOPPED, content="It is")
    Summary.objects.create(
        conversation=talk, number=1, text="Rows.", tokens=ROWS_TOKENS, encoding="cl100k_base",
        covers_before=2, messages=2, last_message=edited.reply, language_model="model-a",
    )  # fmt: skip
    Conversation.objects.filter(pk=talk.pk).update(metadata={"topic": "seats"})
    talk.refresh_from_db()
    return talk


def exported(conversation) -> str:
    found = Conversation.objects.select_related("scenario").get(pk=conversation.pk)
    return "".join(whole_conversation_json(found))


def read(user, text):
    return read_conversation(user=user, lines=lines_of(text))


def lines_of(text):
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]


def test_it_has_the_same_bytes_after_it_was_read_back(talk, alice):
    before = exported(talk)
    talk.messages.all().delete()
    talk.delete()
    copy = read(alice, before)
    assert exported(copy) == before
    assert copy.messages.filter(active=True).count() == 8
    assert copy.has_pins


def test_a_file_that_was_written_before_programs_noted_anything_is_read_back(talk):
    before = exported(talk).replace(', "metadata": {"topic": "seats"}', "")
    assert "metadata" not in before
    assert read(make_user("bob"), before).metadata == {}


def test_it_is_whole_json_with_every_version_and_nothing_of_the_ledger(talk):
    told = json.loads(exported(talk))
    assert [message["content"] for message in told["messages"]][:4] == [
        "Which seat?",
        "12A",
        "Which row?\u2028",
        "Row 12",
    ]
    assert [message["id"] for message in told["messages"]] == list(range(1, len(told["messages"]) + 1))
    assert told["notes"] == "Window seats, “please”."
    assert told["pictures"][0]["content"].startswith("data:image/")
    assert told["metadata"] == {"topic": "seats"}
    assert not any({"requests", "parameters"} & message.keys() for message in told["messages"])


def test_only_the_id_differs_where_the_conversation_is_still_there(talk):
    bob = make_user("bob")
    before = exported(talk)
    copy = read(bob, before)
    assert copy.owner == bob
    assert exported(copy) == before.replace(str(talk.public_id), str(copy.public_id))


def test_moments_keep_their_microseconds(talk, alice):
    Message.objects.filter(conversation=talk).update(created_at=dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC))
    before = exported(talk)
    talk.messages.all().delete()
    talk.delete()
    assert exported(read(alice, before)) == before


# Imported


def counts_of_import(user, *contents):
    report = report_of(import_files(user, *contents))
    return report.formats.get("windowseat-file", {}), list(report_lines(report))[-1]


@pytest.mark.parametrize("packed", [False, True])
def test_an_import_takes_it_as_it_was_and_once(talk, packed):
    bob = make_user("bob")
    file = exported(talk).encode()
    content = as_zip({"a.json": file}) if packed else file
    talk.messages.all().delete()
    talk.delete()
    counts, last = counts_of_import(bob, content)
    copy = Conversation.objects.get(owner=bob)
    assert exported(copy) == file.decode()
    stored = copy.messages.count()
    assert (counts["new"], counts["messages_taken"], last) == (1, stored, f"{stored} of {stored} messages taken")
    counts, last = counts_of_import(bob, content)
    assert (counts["known"], last) == (1, f"{stored} of {stored} messages taken")
    assert bob.conversations.count() == 1
    delete_conversation(copy)
    assert counts_of_import(bob, content)[0]["deleted"] == 1


def test_an_import_leaves_its_own_conversation_as_it_is(talk, alice):
    messages = Message.objects.count()
    assert counts_of_import(alice, exported(talk).encode())[0]["known"] == 1
    assert (Message.objects.count(), Conversation.objects.count()) == (messages, 1)


def test_an_import_names_a_file_that_was_cut_and_goes_on(talk):
    bob = make_user("bob")
    file = exported(talk).encode()
    counts, _last = counts_of_import(bob, as_zip({"a.json": file[: len(file) // 2], "b.json": file}))
    assert (counts["broken"], counts["new"]) == (1, 1)


def test_the_language_model_of_a_reply_comes_along(talk):
    told = json.loads(exported(talk))
    assert [message["copied_model"] for message in told["messages"]][1] == "model-a"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]\n",
        lambda text: text.replace("windowseat-conversation-1", "windowseat-conversation-9"),
        lambda text: text.replace('"follows": 1', '"follows": 7'),
        lambda text: text.replace('"id": 2', '"id": 9999999999'),
        lambda text: text.replace('"state": "complete"', '"state": "streaming"', 1),
        lambda text: text.replace('"position": 1', '"position": -5'),
        lambda text: text.replace("base64,", "base64,!"),
        lambda text: text.replace('{"topic": "seats"}', '{"topic": ["seats"]}'),
    ],
)  # fmt: skip
def test_a_file_that_is_cut_or_changed_stores_nothing(talk, alice, spoil):
    text = exported(talk)
    spoiled = spoil(text)
    assert spoiled != text
    messages = Message.objects.count()
    with pytest.raises(InvalidHistory):
        read(alice, spoiled)
    assert (Message.objects.count(), Conversation.objects.count()) == (messages, 1)


# Files that were edited


def edited(text, change):
    """Return the file with *change* made to its values, in the form in which it was written."""
    about, _, listed = text.partition(', "pictures": [')
    pictures, _, messages = listed.partition('\n], "messages": [')
    told = json.loads(about + "}")
    told["pictures"], told["messages"] = (
        json.loads(f"[{pictures}]"),
        json.loads("[" + messages.rpartition("]}")[0] + "]"),
    )
    change(told)
    rows = told.pop("messages"), told.pop("pictures")
    messages, pictures = (",\n".join(json.dumps(row) for row in each) for each in rows)
    return f'{json.dumps(told).removesuffix("}")}, "pictures": [\n{pictures}\n], "messages": [\n{messages}\n]}}\n'


def test_tokens_that_were_edited_are_counted_again(talk):
    """What windows and reservations rely on is never less than the text has."""

    def make_light(told):
        for message in told["messages"]:
            message |= {"content": "seat " * 5_000, "content_tokens": 0}
        told["summaries"][0] |= {"text": "row " * 5_000, "tokens": 0}
        told["messages"][0]["encoding"] = "of my own"

    copy = read(make_user("bob"), edited(exported(talk), make_light))
    assert min(copy.messages.values_list("content_tokens", flat=True)) >= 5_000
    assert copy.summaries.get().tokens >= 5_000
    assert set(copy.messages.values_list("encoding", flat=True)) <= {"cl100k_base", "o200k_base"}


def test_a_conversation_is_no_longer_active_than_until_now(talk):
    """Or no rule of retention would ever reach it."""
    copy = read(make_user("bob"), edited(exported(talk), lambda told: told.update(last_active_at="2150-01-01T00:00Z")))
    assert copy.last_active_at <= timezone.now()


def change_first(**values):
    return lambda told: told["messages"][0].update(values)


def change_rating(**values):
    return lambda told: next(message for message in told["messages"] if message["rating"])["rating"].update(values)


def change_picture_count(told):
    message = next(message for message in told["messages"] if message["pictures"])
    message["pictures"] *= 101


EDITS = {
    "an id that is none": lambda told: told.update(id="mine"),
    "a title of another kind": lambda told: told.update(title=["x"]),
    "a star that is none": lambda told: told.update(starred="maybe"),
    "long notes": lambda told: told.update(notes="x" * 5_000),
    "a picture that is none": lambda told: told["pictures"][0].update(content="data:image/png;base64,AAAA"),
    "the year 10000": change_first(created_at="9999-12-31T23:59:59-12:00"),
    "the year 0": lambda told: told.update(last_active_at="0001-01-01T00:00:00+14:00"),
    "no time zone": change_first(created_at="2026-01-01T00:00:00"),
    "a role that is none": change_first(role="system"),
    "a place far away": lambda told: told["messages"][-1].update(position=2_000_000_000),
    "a gap": lambda told: told["messages"][3].update(shown=False),
    "passages that are none": change_first(grounding=[1]),
    "words that are none": change_first(grounding=[{"text": 1}]),
    "calls that are none": change_first(tool_calls=[{"id": 1}]),
    "an error that is none": change_first(error=None),
    "params that are none": change_first(error_params=["x"]),
    "a long remark": change_rating(remark="x" * 100_000),
    "a verdict that is none": change_rating(verdict="x"),
    "many pictures": change_picture_count,
    "a number that is none": change_first(reasoning_seconds="soon"),
    "many tokens": change_first(content_tokens=10**30),
    "more tokens than characters": change_first(content_tokens=2**31 - 1),
    "NUL": change_first(content="a\x00b"),
    "a surrogate": change_first(content="a\ud800b"),
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_an_import_names_a_file_that_was_edited_and_goes_on(talk, change):
    bob = make_user("bob")
    file = exported(talk)
    counts, _last = counts_of_import(bob, edited(file, change).encode(), file.encode())
    assert (counts["broken"], counts["new"]) == (1, 1)
    assert exported(Conversation.objects.get(owner=bob)) == file.replace(
        str(talk.public_id), str(Conversation.objects.get(owner=bob).public_id)
    )


def test_deep_json_is_named_too(talk):
    file = exported(talk)
    deep = file.replace('"grounding": []', '"grounding": ' + "[" * 100_000 + "]" * 100_000, 1)
    counts, _last = counts_of_import(make_user("bob"), deep.encode(), file.encode())
    assert (counts["broken"], counts["new"]) == (1, 1)


def test_an_unchanged_file_is_what_the_edits_begin_with(talk):
    counts, _last = counts_of_import(make_user("bob"), edited(exported(talk), lambda told: None).encode())
    assert counts["new"] == 1


def test_all_that_a_file_brings_counts_as_imported_text(talk, settings):
    settings.IMPORTED_TEXT_MEGABYTES = 1
    heavy = edited(exported(talk), change_first(grounding=[{"text": "x" * 1_000_000, "source": "a.txt"}]))
    bob = make_user("bob")
    assert import_files(bob, heavy.encode()).error_code == "imported_text_full"
    assert not bob.conversations.exists()
