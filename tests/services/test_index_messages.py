"""The index of messages equals a recount of the active path, whatever was done to the path before."""

from __future__ import annotations

import datetime as dt
import random
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import DataError, InternalError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg import errors

from conversations.models import Message, MessageIndex, MessagePassage, MessagePostings, PathChange
from conversations.services.conversations.deletion import delete_conversation, restore_conversation
from conversations.services.message_index import index_messages
from conversations.services.message_index.index_messages import index_conversation, index_next_batch, rebuild_index
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.portability.chat_history import ChatHistory
from conversations.services.portability.delete_account import delete_account
from conversations.services.replies.end_reply import COMPLETE, INTERRUPTED, STOPPED, Ending, end_reply
from conversations.services.replies.regenerate_reply import regenerate_reply
from tests.support.hypothesis_profile import count_cases
from tests.support.idle_transactions import ending_idle_transactions
from tests.support.message_index import is_behind, recounted, stored
from tests.support.people import begin, make_user, post
from tests.support.tool_steps import add_call, end_step
from tests.support.waiting import wait_for_lock_waits

WORDS = [
    "the",
    "night",
    "train",
    "leaves",
    "Bergen",
    "at",
    "ten",
    "and",
    "my",
    "sister",
    "Ada",
    "waits",
    "by",
    "the",
    "old",
    "harbour",
    "火车",
    "明天",
    "开",
    "Zürich",
]


@pytest.fixture
def conversation(db):
    return begin(make_user("alice"))


def fail_with(error):
    def fail(*_, **__):
        raise error

    return fail


def say(conversation, question="Where is the train?", answer="The train is in Bergen.", ending=COMPLETE):
    conversation.refresh_from_db()
    posted = post(conversation, question)
    end_reply(posted.reply.pk, ending, content=answer)
    return posted


def indexed(conversation):
    """Bring the index up to date and check that it is what a recount says."""
    index_conversation(conversation.pk)
    assert not is_behind(conversation)
    found = stored(conversation)
    assert found == recounted(conversation)
    return [row[0] for row in found[0]]


def test_what_was_said_is_indexed_when_its_reply_has_ended(conversation):
    posted = post(conversation, "Where is the train?")
    assert not index_next_batch()
    end_reply(posted.reply.pk, COMPLETE, content="In Bergen.")
    assert index_next_batch()
    assert not index_next_batch()
    assert indexed(conversation) == [posted.message.pk, posted.reply.pk]


def test_a_reply_that_failed_is_not_indexed_and_one_that_was_stopped_is(conversation):
    failed = say(conversation, ending=Ending("failed", "provider_unavailable"))
    stopped, interrupted = say(conversation, ending=STOPPED), say(conversation, ending=INTERRUPTED)
    found = indexed(conversation)
    assert failed.reply.pk not in found
    assert {failed.message.pk, stopped.reply.pk, interrupted.reply.pk} <= set(found)


def test_what_tools_said_is_not_indexed(conversation):
    posted = post(conversation, "What is two and two?")
    add_call(posted.reply)
    end_step(posted.reply)
    end_reply(posted.reply.pk, COMPLETE, content="Four.")
    assert indexed(conversation) == [posted.message.pk, posted.reply.pk]


def test_messages_without_a_word_have_no_passage_and_hold_up_none(conversation):
    say(conversation, "?!", "👍")
    posted = say(conversation)
    assert indexed(conversation) == [posted.message.pk, posted.reply.pk]


def test_a_pause_begins_a_session_and_so_do_many_words(conversation):
    first, second = say(conversation), say(conversation, "Ships.", "Ships, please. " * 1_500)
    later = say(conversation)
    Message.objects.filter(pk=first.message.pk).update(created_at=first.message.created_at - dt.timedelta(hours=4))
    indexed(conversation)
    sessions = dict(MessagePassage.objects.order_by("-ordinal").values_list("message_id", "session"))
    assert [sessions[each.message.pk] for each in (first, second, later)] == [0, 1, 2]
    assert sessions[first.reply.pk] == 1


def test_an_imported_conversation_is_indexed(db):
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"message {n} on trains"} for n in range(50)]
    conversation = ChatHistory.from_openai(user=make_user("alice"), messages=messages).conversation
    assert index_next_batch()
    assert len(indexed(conversation)) == 50


def test_an_edit_takes_what_left_the_path_out_of_the_index(conversation):
    first, second = say(conversation), say(conversation, "Where is the ferry?", "In Oslo.")
    indexed(conversation)
    conversation.refresh_from_db()
    edited = edit_message(
        user=conversation.owner,
        conversation=conversation,
        message_id=second.message.pk,
        content="Where is the bus?",
        client_id=uuid.uuid4(),
    )
    assert indexed(conversation)[-1] == edited.message.pk
    assert not MessagePostings.objects.filter(lexeme="ferri").exists()
    end_reply(edited.reply.pk, COMPLETE, content="In Turku.")
    assert indexed(conversation) == [first.message.pk, first.reply.pk, edited.message.pk, edited.reply.pk]


def random_step(rng, conversation, texts):
    """Do one thing that people do with messages."""
    conversation.refresh_from_db()
    messages = list(conversation.messages.filter(step_of=None))
    active = [each for each in messages if each.active]
    what = rng.choice(("say", "say", "edit", "regenerate", "switch", "exclude", "add", "index"))
    if what == "say" or not active:
        say(conversation, rng.choice(texts), rng.choice(texts), rng.choice((COMPLETE, COMPLETE, STOPPED)))
    elif what == "edit":
        question = rng.choice([each for each in active if each.role == "user"])
        edited = edit_message(
            user=conversation.owner,
            conversation=conversation,
            message_id=question.pk,
            content=rng.choice(texts),
            client_id=uuid.uuid4(),
        )
        end_reply(edited.reply.pk, COMPLETE, content=rng.choice(texts))
    elif what == "regenerate" and not active[-1].parent.excluded:
        reply = regenerate_reply(user=conversation.owner, conversation=conversation, reply_id=active[-1].pk)
        end_reply(reply.pk, COMPLETE, content=rng.choice(texts))
    elif what == "switch":
        shown = {each.pk for each in active}
        versions = [each for each in messages if each.parent_id is None or each.parent_id in shown]
        switch_version(conversation=conversation, message_id=rng.choice(versions).pk)
    elif what == "exclude":
        exclude_message(conversation=conversation, message_id=rng.choice(active).pk, excluded=rng.random() < 0.7)
    elif what == "add":
        ChatHistory(conversation).add("user", rng.choice(texts))
        ChatHistory(conversation).add("assistant", rng.choice(texts))
    else:
        index_next_batch()


@pytest.mark.parametrize("seed", range(count_cases(300)))
def test_the_index_equals_a_recount_after_whatever_was_done(conversation, monkeypatch, seed):
    rng = random.Random(seed)
    monkeypatch.setattr(index_messages, "MESSAGES_AT_ONCE", rng.choice((1, 2, 3, 200)))
    monkeypatch.setattr(index_messages, "TOKENS_AT_ONCE", rng.choice((1, 200, 50_000)))
    conversations = [conversation, begin(conversation.owner), begin(make_user("bob"))][: rng.randint(1, 3)]
    texts = [" ".join(rng.choices(WORDS, k=rng.choice((1, 3, 10, 100, 400)))) + rng.choice(".?") for _ in range(12)]
    for _ in range(rng.randint(1, 25)):
        random_step(rng, rng.choice(conversations), texts)
    while index_next_batch():
        pass
    for each in conversations:
        indexed(each)
    listed = MessagePostings.objects.filter(is_listed=True).values_list("owner_id", "lexeme")
    assert sorted(listed) == sorted(set(MessagePostings.objects.values_list("owner_id", "lexeme")))


def test_more_conversations_take_no_more_statements(conversation, django_assert_num_queries):
    others = [begin(make_user(f"person{number}")) for number in range(4)]
    for each in (conversation, *others):
        say(each)
        indexed(each)
    say(conversation)
    with CaptureQueriesContext(connection) as of_one:
        assert index_next_batch()
    for each in (conversation, *others):
        say(each)
    with django_assert_num_queries(len(of_one)):
        assert index_next_batch()
    for each in (conversation, *others):
        assert not is_behind(each)
        assert len(indexed(each)) == (6 if each == conversation else 4)


def test_long_messages_of_many_are_not_indexed_at_once(conversation, monkeypatch):
    monkeypatch.setattr(index_messages, "TOKENS_AT_ONCE", 100)
    conversations = [conversation, *(begin(make_user(f"person{number}")) for number in range(3))]
    for each in conversations:
        say(each, "train " * 1_000)
    assert index_next_batch()
    assert MessagePassage.objects.values("message").distinct().count() == 1
    while index_next_batch():
        pass
    assert all(len(set(indexed(each))) == 2 for each in conversations)


def test_a_cut_in_the_second_chunk_leaves_the_first(db, monkeypatch):
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"train {n}"} for n in range(2_060)]
    conversation = ChatHistory.from_openai(user=make_user("alice"), messages=messages).conversation
    indexed(conversation)
    for position in (2_050, 2_048, 2_046):
        PathChange.objects.create(conversation=conversation, position=position)
        index_messages.index_batch([conversation.pk])
        assert stored(conversation) == recounted(conversation)
    conversation.messages.filter(position__gte=2_047).update(active=False)
    PathChange.objects.create(conversation=conversation, position=2_047)
    assert len(indexed(conversation)) == 2_047


def test_rebuilding_makes_the_same_index(conversation):
    for number in range(5):
        say(conversation, f"Where is train {number}?")
    before = indexed(conversation)
    MessagePassage.objects.filter(ordinal=3).delete()
    MessagePostings.objects.filter(lexeme="train").delete()
    call_command("rebuild_message_index", "--conversation", str(conversation.public_id))
    assert indexed(conversation) == before


def of_the_server(kind, cause):
    error = kind(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        ValueError("can't be split"),
        DataError("can't be read"),
        of_the_server(InternalError, errors.IdleInTransactionSessionTimeout("it took too long")),
        of_the_server(OperationalError, errors.QueryCanceled("it took too long")),
    ],
)
def test_a_conversation_that_cannot_be_indexed_does_not_hold_up_another(conversation, monkeypatch, error):
    other = begin(make_user("bob"))
    say(conversation, "This can't be split.")
    say(other)
    make = index_messages.make_rows

    def fail_for_one(drafts, *arguments, **named):
        if drafts[0].text == "This can't be split.":
            raise error
        return make(drafts, *arguments, **named)

    monkeypatch.setattr(index_messages, "make_rows", fail_for_one)
    assert index_next_batch()
    assert len(indexed(other)) == 2
    assert not index_next_batch()
    monkeypatch.undo()
    assert len(indexed(conversation)) == 2


def test_an_outage_puts_off_no_conversation(conversation, monkeypatch):
    say(conversation)
    monkeypatch.setattr(index_messages, "make_rows", fail_with(of_the_server(OperationalError, errors.AdminShutdown())))
    with pytest.raises(OperationalError):
        index_next_batch()


@pytest.mark.django_db(transaction=True)
def test_a_message_that_takes_long_to_split_is_indexed(monkeypatch):
    """The server ends transactions that are idle for seconds."""
    conversation = begin(make_user("alice"))
    say(conversation)
    make = index_messages.make_rows
    monkeypatch.setattr(index_messages, "LONG_CHARACTERS", 1)
    with ending_idle_transactions() as be_idle:

        def make_slowly(*arguments, **named):
            be_idle()
            return make(*arguments, **named)

        monkeypatch.setattr(index_messages, "make_rows", make_slowly)
        assert index_next_batch()
    assert len(indexed(conversation)) == 2


def test_deleted_conversations_wait_until_they_are_restored_or_gone(conversation):
    say(conversation)
    delete_conversation(conversation)
    assert not index_next_batch()
    restore_conversation(user=conversation.owner, public_id=conversation.public_id)
    assert len(indexed(conversation)) == 2
    say(conversation)
    conversation.delete()
    assert not index_next_batch()
    assert not any(model.objects.exists() for model in (MessageIndex, MessagePassage, MessagePostings, PathChange))


@pytest.mark.django_db(transaction=True)
def test_a_crash_in_the_middle_of_a_batch_leaves_the_index_as_it_was(monkeypatch):
    conversation = begin(make_user("alice"))
    say(conversation)
    before = indexed(conversation)
    say(conversation, "Where is the ferry?")

    def crash(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(index_messages, "append_postings", crash)
    with pytest.raises(KeyboardInterrupt):
        index_next_batch()
    assert [row[0] for row in stored(conversation)[0]] == before
    assert is_behind(conversation)
    monkeypatch.undo()
    assert len(indexed(conversation)) == 4


def closing(function, *arguments):
    try:
        return function(*arguments)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_two_processes_never_index_one_conversation_at_once():
    conversation = begin(make_user("alice"))
    say(conversation)
    with ThreadPoolExecutor(1) as crew, transaction.atomic():
        assert index_messages.index_batch([conversation.pk])
        assert crew.submit(closing, index_next_batch).result(timeout=60) is False
    assert len(indexed(conversation)) == 2


@pytest.mark.django_db(transaction=True)
def test_rebuilding_waits_for_a_process_that_is_at_it(monkeypatch):
    conversation = begin(make_user("alice"))
    say(conversation)
    index_conversation(conversation.pk)
    MessagePostings.objects.all().delete()
    waits = threading.Event()
    monkeypatch.setattr(index_messages.time, "sleep", lambda _: waits.set())
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            assert index_messages._hold([conversation.pk])
            rebuilding = crew.submit(closing, rebuild_index, conversation.pk)
            assert waits.wait(60)
        rebuilding.result(timeout=60)
    assert stored(conversation) == recounted(conversation)
    assert MessagePostings.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_processes_index_many_conversations_together():
    people = [make_user(f"person{number}") for number in range(3)]
    conversations = [begin(person) for person in people for _ in range(3)]
    for conversation in conversations * 3:
        say(conversation)

    def index_all():
        while PathChange.objects.exists():
            index_next_batch()

    with ThreadPoolExecutor(2) as crew:
        for each in [crew.submit(closing, index_all) for _ in range(2)]:
            each.result(timeout=60)
    assert all(len(indexed(conversation)) == 6 for conversation in conversations)


@pytest.mark.django_db(transaction=True)
def test_an_account_is_deleted_while_its_messages_are_indexed(monkeypatch):
    conversation = begin(make_user("alice"))
    say(conversation)
    monkeypatch.setattr("conversations.services.portability.delete_account.TRIES", 1)
    with ThreadPoolExecutor(1) as crew:
        with transaction.atomic():
            assert index_messages.index_batch([conversation.pk])
            deleting = crew.submit(closing, delete_account, conversation.owner)
            wait_for_lock_waits()
        deleting.result(timeout=60)
    assert not any(model.objects.exists() for model in (Message, MessageIndex, MessagePassage, MessagePostings))


def test_a_message_of_one_word_of_a_megabyte_is_indexed(conversation):
    say(conversation, answer="a" * 1_000_000)
    index_conversation(conversation.pk)
    assert MessagePassage.objects.filter(words__gt=255).count() == 0
    assert MessagePassage.objects.count() == 1_001


def test_rebuilding_takes_today_s_search_language(conversation, settings):
    say(conversation, "Die Züge fahren.")
    indexed(conversation)
    settings.SEARCH_LANGUAGE = "german"
    rebuild_index(conversation.pk)
    assert MessageIndex.objects.get().search_language == "german"
    assert MessagePostings.objects.filter(lexeme="zug").exists()


def test_what_others_say_is_indexed_before_the_rest_of_a_large_import(conversation, monkeypatch):
    monkeypatch.setattr(index_messages, "CONVERSATIONS_AT_ONCE", 1)
    imported = [conversation, *(begin(conversation.owner) for _ in range(3))]
    for each in imported:
        say(each)
    other = begin(make_user("bob"))
    say(other)
    assert index_next_batch()
    assert [each for each in (*imported, other) if not is_behind(each)] == [other]
    assert index_next_batch()
    assert [each for each in imported if not is_behind(each)] == [conversation]
