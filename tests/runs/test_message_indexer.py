from __future__ import annotations

import pytest

from conversations.live.fanout import MESSAGES, publish
from conversations.models import Completion, MessageIndex, PathChange
from conversations.providers.clients.client_pool import close_clients
from conversations.runs import repeated_work
from conversations.runs.message_indexer import MessageIndexer
from conversations.services.message_index import index_messages
from conversations.services.replies.end_reply import COMPLETE, end_reply
from tests.support.people import begin, make_user, post
from tests.support.tiny_model import write_tiny_model
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def say():
    conversation = begin(make_user("alice"))
    end_reply(post(conversation, "Where is the train?").reply.pk, COMPLETE, content="In Bergen.")
    return conversation


@pytest.fixture
async def indexer(transactional_db):
    indexer = MessageIndexer()
    await indexer.start()
    yield indexer
    await indexer.drain()


async def test_what_was_said_is_indexed_as_soon_as_it_is_announced(monkeypatch, indexer):
    monkeypatch.setattr(repeated_work, "POLL_SECONDS", 3_600.0)
    publish(MESSAGES, "begin to wait that long")
    conversation = await in_thread(say)
    index = await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, passages=2).first())
    assert index.next_position == 2
    await wait_until(lambda: not PathChange.objects.exists())


async def test_what_was_behind_at_the_start_is_caught_up(transactional_db):
    conversation = await in_thread(say)
    indexer = MessageIndexer()
    await indexer.start()
    await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, passages=2).exists())
    await indexer.drain()


async def test_an_error_does_not_end_the_duty(monkeypatch, indexer):
    monkeypatch.setattr(repeated_work, "POLL_SECONDS", 0.05)
    make, failures = index_messages.make_rows, iter((ValueError("once"),))

    def fail_once(*arguments, **named):
        for error in failures:
            raise error
        return make(*arguments, **named)

    monkeypatch.setattr(index_messages, "make_rows", fail_once)
    conversation = await in_thread(say)
    await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, passages=2).exists())


@pytest.fixture
async def embeddings(settings, upstream):
    upstream.reset()
    settings.OPENAI_EMBEDDING_BASE_URL = upstream.base_url
    settings.OPENAI_EMBEDDING_MODEL = "words input_usd=1"
    yield upstream
    await close_clients()


async def test_passages_get_vectors_that_their_owner_pays(embeddings, indexer):
    conversation = await in_thread(say)
    await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, embedded_passages=2).first())
    row = await Completion.objects.aget(purpose="embedding")
    assert (row.user_id, row.conversation_id, row.reply_id) == (conversation.owner_id, conversation.pk, None)
    assert row.cost_usd > 0


async def test_a_model_on_this_machine_makes_them_for_nothing(settings, tmp_path, indexer):
    write_tiny_model(tmp_path / "tiny")
    settings.LOCAL_EMBEDDINGS = str(tmp_path / "tiny")
    conversation = await in_thread(say)
    index = await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, embedded_passages=2).first())
    row = await Completion.objects.aget(purpose="embedding")
    assert (row.language_model, row.cost_usd) == (index.embedding_model, 0)
    assert row.input_tokens > 0
    await close_clients()


async def test_without_vectors_messages_are_indexed_and_the_failure_is_put_off(embeddings, indexer, settings):
    settings.OPENAI_EMBEDDING_MODEL = "status-400"
    conversation = await in_thread(say)
    index = await wait_until(lambda: MessageIndex.objects.filter(pk=conversation.pk, embed_attempt=1).first())
    assert (index.passages, index.embedded_passages) == (2, 0)
    assert index.embed_after is not None
