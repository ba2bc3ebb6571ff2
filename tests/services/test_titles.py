"""Titles that a cheap model writes: once, after the first complete reply, and never over one that a person wrote."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.db import connection

from chatsite.accounts.models import Limits
from conversations.models import Completion, Conversation, TitleState
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_stream import CompletionReader
from conversations.services.conversations.conversations import rename_conversation
from conversations.services.conversations.deletion import delete_conversation
from conversations.services.messages.edit_message import edit_message
from conversations.services.messages.mark_message import exclude_message
from conversations.services.messages.switch_version import switch_version
from conversations.services.replies.end_reply import COMPLETE, STOPPED, end_reply
from conversations.services.titles import write_title
from conversations.services.titles.claim_title import LEASE_SECONDS, MOST_ATTEMPTS, claim_title
from conversations.services.titles.write_title import write_next_title
from tests.support.people import begin, make_user
from tests.support.titles import QUESTION, ask, configure, is_due, says, title_of, write_titles
from tests.support.unknown_errors import raise_unknown_error, tracebacks
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
TITLE = "Night train to Bergen"


@pytest.fixture(scope="module")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture(autouse=True)
def provider(settings, upstream, monkeypatch):
    upstream.reset()
    monkeypatch.setattr(write_title, "PAUSES_SECONDS", (0.0, 0.0))
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    configure(settings, upstream, says(f'"{TITLE}"'))


@pytest.fixture
async def conversation(transactional_db):
    return await in_thread(lambda: begin(make_user("alice")))


def rows():
    return list(Completion.objects.filter(purpose=Purpose.TITLE).order_by("id"))


async def test_it_is_written_once_after_the_first_complete_reply(conversation, settings, upstream):
    await in_thread(lambda: ask(conversation, ending=STOPPED))
    assert await write_titles(settings) == 0
    await in_thread(ask, conversation)
    assert await in_thread(title_of, conversation) == QUESTION
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) == TITLE
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 0
    [sent] = [each["body"] for each in upstream.log()]
    assert "At seven, from track 3." in sent["messages"][-1]["content"]
    [row] = await in_thread(rows)
    assert (row.conversation_id, row.user_id) == (conversation.pk, conversation.owner_id)
    assert row.cost_usd > 0
    assert row.ended_at


async def test_input_and_output_are_bounded(conversation, settings, upstream):
    await in_thread(ask, conversation, QUESTION + " word" * 800)
    assert await write_titles(settings) == 1
    [row] = await in_thread(rows)
    assert row.estimated_input_tokens < 800
    assert upstream.log()[-1]["body"]["max_tokens"] <= 1_060


async def test_what_can_not_be_seen_of_it_is_not_stored(conversation, settings, upstream):
    configure(settings, upstream, says("\u202eNight\u2066 train\u200b \u2764\ufe0f\u200d\U0001f525\u2069\u3164"))
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) == "Night train \u2764\ufe0f\u200d\U0001f525"


@pytest.mark.parametrize(
    "writer", [says("\u200b\u3164\u2800"), says(""), "tokens-5000", says("<think>They ask for"), "chinese", "length"]
)
async def test_what_is_no_title_leaves_the_first_words(writer, conversation, settings, upstream):
    configure(settings, upstream, writer)
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) == QUESTION
    [row] = await in_thread(rows)
    assert row.ended_at


@pytest.mark.parametrize("reason", ["end_turn", "STOP", "eos"])
async def test_a_title_is_whole_in_the_words_of_every_provider(reason, conversation, settings, upstream):
    configure(settings, upstream, f"ends-{reason}")
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) != QUESTION


async def test_a_failure_is_tried_again_and_then_given_up(conversation, settings, upstream):
    configure(settings, upstream, "status-503")
    await in_thread(ask, conversation)
    assert await write_titles(settings) == MOST_ATTEMPTS
    assert await in_thread(title_of, conversation) == QUESTION
    assert [row.cost_usd for row in await in_thread(rows)] == [0] * MOST_ATTEMPTS


async def test_an_error_that_is_not_known_leaves_no_row_open(conversation, settings, monkeypatch, caplog):
    monkeypatch.setattr(CompletionReader, "_read", raise_unknown_error)
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 1
    [row] = await in_thread(rows)
    assert (row.error_code, bool(row.ended_at)) == ("malformed_stream", True)
    assert tracebacks(caplog) == ["BufferError"]


async def test_a_refusal_is_not_repeated(conversation, settings, upstream):
    configure(settings, upstream, "status-400")
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 1


async def test_a_person_who_names_it_first_wins(conversation, settings, upstream):
    await in_thread(ask, conversation)
    await in_thread(lambda: rename_conversation(conversation, title=QUESTION))
    assert await write_titles(settings) == 1
    assert upstream.log() == []
    assert await in_thread(title_of, conversation) == QUESTION
    assert not await in_thread(is_due, conversation)


async def held_writing(conversation, settings, upstream):
    """Return the task that writes the title, once the model has begun to."""
    configure(settings, upstream, "held-3")
    await in_thread(ask, conversation)
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    writing = asyncio.create_task(write_next_title("test", client))
    await wait_until(lambda: upstream.log() and len(upstream.log()[-1]["emitted"]) == 3)
    return writing, client


async def test_a_person_who_names_it_meanwhile_wins(conversation, settings, upstream):
    writing, client = await held_writing(conversation, settings, upstream)
    await in_thread(lambda: rename_conversation(conversation, title="Mine"))
    upstream.release()
    await writing
    await write_titles(settings)
    await client.aclose()
    assert await in_thread(title_of, conversation) == "Mine"
    assert not await in_thread(is_due, conversation)
    assert len(await in_thread(rows)) == 1


async def test_one_that_begins_differently_meanwhile_is_named_after_that(conversation, settings, upstream):
    writing, client = await held_writing(conversation, settings, upstream)
    await in_thread(edit_first, conversation, "And the ferry?")
    upstream.release()
    await writing
    await client.aclose()
    assert await in_thread(title_of, conversation) == "And the ferry?"
    configure(settings, upstream, says("Ferry"))
    await in_thread(lambda: end_reply(newest_reply(conversation), COMPLETE, content="At nine."))
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) == "Ferry"
    await in_thread(switch_to_first, conversation)
    assert await in_thread(title_of, conversation) == QUESTION


def edit_first(conversation, content):
    first = conversation.messages.get(position=0, active=True)
    client_id = "7f0d0f6e-0f4c-4f0e-9a39-1d1f6d4c5b0a"
    edit_message(
        user=conversation.owner, conversation=conversation, message_id=first.pk, content=content, client_id=client_id
    )


def newest_reply(conversation):
    return conversation.messages.get(active=True, role="assistant", state="streaming").pk


def switch_to_first(conversation):
    first = conversation.messages.filter(position=0).order_by("id").first()
    switch_version(conversation=conversation, message_id=first.pk)


async def test_never_two_workers_write_the_same(conversation, settings, upstream):
    writing, client = await held_writing(conversation, settings, upstream)
    assert not await write_next_title("another", client)
    upstream.release()
    await writing
    await client.aclose()
    assert await in_thread(title_of, conversation) == "word0 word1 word2"


async def test_one_whose_worker_died_is_written_by_another(conversation, settings):
    await in_thread(ask, conversation)
    for attempt in range(1, MOST_ATTEMPTS + 1):
        assert await in_thread(claim_title, "dead") == (conversation.pk, attempt)
        assert await in_thread(claim_title, "another") is None
        await in_thread(let_lease_end)
    assert await write_titles(settings) == 1  # which gives up: something about it ends workers
    assert await in_thread(title_of, conversation) == QUESTION


def let_lease_end():
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_titlestate SET lease_until = lease_until - make_interval(secs => %s)",
            [LEASE_SECONDS + 1],
        )


async def test_one_that_is_stopped_in_the_middle_is_written_again(conversation, settings, upstream):
    writing, client = await held_writing(conversation, settings, upstream)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await client.aclose()
    configure(settings, upstream, says(TITLE))
    assert await write_titles(settings) == 1
    assert await in_thread(title_of, conversation) == TITLE
    assert all(row.ended_at for row in await in_thread(rows))


async def test_money_that_does_not_cover_it_leaves_the_first_words(conversation, settings, upstream):
    await in_thread(ask, conversation)
    await in_thread(lambda: Limits.objects.create(user=conversation.owner, money_per_day_usd=0))
    assert await write_titles(settings) == 1
    assert upstream.log() == []
    assert await in_thread(title_of, conversation) == QUESTION


async def test_what_is_excluded_or_deleted_is_not_sent(conversation, settings, upstream):
    await in_thread(ask, conversation)
    await in_thread(exclude_first, conversation)
    assert await write_titles(settings) == 1
    other = await in_thread(lambda: begin(conversation.owner))
    await in_thread(ask, other)
    await in_thread(delete_conversation, other)
    assert await write_titles(settings) == 0
    assert upstream.log() == []


def exclude_first(conversation):
    first = conversation.messages.get(position=0, active=True)
    exclude_message(conversation=conversation, message_id=first.pk, excluded=True)


@pytest.mark.parametrize("model", ["", "unknown"])
async def test_without_a_model_nothing_is_due(model, conversation, settings):
    settings.TITLE_MODEL = model
    await in_thread(ask, conversation)
    assert not await in_thread(TitleState.objects.exists)
    assert await write_titles(settings) == 0


async def test_the_demo_model_names_nothing(conversation, settings):
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = ""
    settings.TITLE_MODEL = "demo"
    await in_thread(ask, conversation)
    assert not await in_thread(TitleState.objects.exists)


async def test_conversations_from_before_keep_their_titles(conversation, settings):
    model, settings.TITLE_MODEL = settings.TITLE_MODEL, ""
    await in_thread(ask, conversation)
    settings.TITLE_MODEL = model
    await in_thread(ask, conversation)
    assert await write_titles(settings) == 0


async def test_all_pages_of_its_owner_are_told(conversation, settings, monkeypatch):
    told = []
    monkeypatch.setattr(write_title, "publish", lambda topic, payload: told.append((topic, json.loads(payload))))
    await in_thread(ask, conversation)
    await write_titles(settings)
    frame = {"type": "conversation.renamed", "conversation": str(conversation.public_id), "title": TITLE}
    assert told == [(f"user.{conversation.owner_id}", frame)]
    assert not await in_thread(lambda: Conversation.objects.get(pk=conversation.pk).title_is_given)
