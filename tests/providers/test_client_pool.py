import asyncio

import pytest

from conversations.core.prompt.messages import PromptMessage
from conversations.providers.clients.client_pool import close_clients, completion_client
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.provider_connection import Timeouts


@pytest.fixture(autouse=True)
def provider(settings):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://localhost:1/v1", ""
    settings.OPENAI_TIMEOUT_SECONDS, settings.REPLY_TIMEOUT_SECONDS = 7, 70
    settings.DEMO_TOKENS_PER_SECOND = 0
    return settings


async def test_an_event_loop_has_one_client():
    client = completion_client()

    assert completion_client() is client
    await close_clients()
    assert completion_client() is not client


def test_two_event_loops_do_not_share_a_client():
    async def get():
        return completion_client()

    assert asyncio.run(get()) is not asyncio.run(get())


async def test_the_settings_say_where_and_how_long():
    client = completion_client()

    assert client.base_url == "http://localhost:1/v1"
    assert client.timeouts == Timeouts(first_byte_seconds=7, idle_seconds=7, total_seconds=70)


async def test_without_a_provider_the_demo_model_answers(provider):
    provider.OPENAI_BASE_URL = ""
    request = CompletionRequest("windowseat-demo", (PromptMessage("user", "count to 3"),))
    events = [event async for event in completion_client().stream(request)]

    assert "".join(event.text for event in events[:-1]) == "1, 2, 3"
