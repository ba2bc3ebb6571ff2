"""The process of a model on this machine: started when it is needed, again when it has died, and ended with us."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from conversations.core.errors import ProviderTimedOut, ProviderUnavailable
from conversations.providers.catalog.embedding_models import embedding_model, parse_local_model
from conversations.providers.clients.client_pool import close_clients, embedding_client
from conversations.providers.clients.embeddings import embedding_requests
from conversations.providers.clients.local_embeddings import MOST_TEXTS_AT_ONCE, LocalEmbeddingClient
from tests.support.tiny_model import slow_vector, token_numbers, write_tiny_model
from tests.support.waiting import wait_until

TEXTS = ["The night train leaves Bergen at ten", "Ada waits", "my sister " * 20]


@pytest.fixture
def folder(tmp_path):
    write_tiny_model(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
async def client(folder):
    client = LocalEmbeddingClient(str(folder))
    yield client
    await client.aclose()


def request_for(folder, texts):
    [request] = embedding_requests(texts, parse_local_model(str(folder)), longest_tokens=500)
    return request


async def test_texts_become_the_vectors_of_the_slow_forward_pass(folder, client, tmp_path):
    tensors = write_tiny_model(tmp_path / "again")
    answer = await client.embed(request_for(folder, TEXTS))
    for vector, text in zip(answer.vectors, TEXTS, strict=True):
        assert vector == pytest.approx(slow_vector(tensors, token_numbers(text)), abs=1e-4)
    assert answer.usage.input_tokens == sum(len(token_numbers(text)) for text in TEXTS)


async def test_many_texts_are_asked_for_in_small_batches_and_keep_their_order(folder, client):
    texts = ["night " * (1 + n % 5) for n in range(3 * MOST_TEXTS_AT_ONCE + 1)]
    answer = await client.embed(request_for(folder, texts))
    alone = {text: (await client.embed(request_for(folder, [text]))).vectors[0] for text in set(texts)}
    assert all(
        vector == pytest.approx(alone[text], abs=1e-4) for vector, text in zip(answer.vectors, texts, strict=True)
    )


async def test_a_child_that_has_died_is_started_again(folder, client):
    first = await client.embed(request_for(folder, TEXTS))
    dead = client._child.pid
    os.kill(dead, signal.SIGKILL)
    await client._child.wait()
    again = await client.embed(request_for(folder, TEXTS))
    assert again.vectors == first.vectors
    assert client._child.pid != dead


async def test_a_child_that_dies_while_it_is_asked_fails_that_request_alone(folder, client):
    await client.embed(request_for(folder, TEXTS))
    os.kill(client._child.pid, signal.SIGSTOP)
    asking = asyncio.create_task(client.embed(request_for(folder, TEXTS)))
    await asyncio.sleep(0)
    os.kill(client._child.pid, signal.SIGKILL)
    with pytest.raises(ProviderUnavailable):
        await asking
    assert (await client.embed(request_for(folder, TEXTS))).vectors


async def test_what_takes_too_long_is_given_up_and_its_child_ended(folder):
    client = LocalEmbeddingClient(str(folder), batch_seconds=60.0)
    await client.embed(request_for(folder, TEXTS))
    child, client._batch_seconds = client._child, 0.05
    os.kill(child.pid, signal.SIGSTOP)
    with pytest.raises(ProviderTimedOut):
        await client.embed(request_for(folder, TEXTS))
    assert child.returncode == -signal.SIGKILL
    await client.aclose()


async def test_an_answer_that_was_given_up_is_not_taken_for_the_next(folder, client):
    expected = (await client.embed(request_for(folder, TEXTS[:1]))).vectors
    os.kill(client._child.pid, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.embed(request_for(folder, TEXTS[1:2]))
    os.kill(client._child.pid, signal.SIGCONT)
    assert (await client.embed(request_for(folder, TEXTS[:1]))).vectors == expected


async def test_a_start_that_one_question_does_not_wait_for_goes_on(folder, client):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await client.embed(request_for(folder, TEXTS))
    started = client._starting
    await client.embed(request_for(folder, TEXTS))
    assert started.result() is client._child


async def test_a_folder_that_can_not_be_loaded_says_so(tmp_path, folder):
    request = request_for(folder, TEXTS)
    (folder / "tokenizer.json").write_text("{}")
    client = LocalEmbeddingClient(str(folder))
    with pytest.raises(ProviderUnavailable) as raised:
        await client.embed(request)
    assert "could not be loaded" in raised.value.detail


async def test_the_child_ends_with_its_client(folder):
    client = LocalEmbeddingClient(str(folder))
    await client.embed(request_for(folder, TEXTS))
    child = client._child
    child.stdin.close()  # as when this process is gone
    await wait_until(lambda: child.returncode is not None)
    await client.aclose()


async def test_the_setting_chooses_it_and_its_tokens_cost_nothing(settings, folder):
    settings.LOCAL_EMBEDDINGS, settings.OPENAI_EMBEDDING_MODEL = f"{folder} floor=0.4", "words"
    model = embedding_model()
    assert (model.floor, model.context_window_tokens, model.given_prices.input_usd) == (0.4, 16, 0)
    assert model.label.startswith("tiny@")
    client = embedding_client()
    assert isinstance(client, LocalEmbeddingClient)
    await close_clients()
