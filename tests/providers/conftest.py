import pytest

from conversations.core.prompt.messages import PromptMessage
from conversations.providers.clients.completions import CompletionClient
from conversations.providers.openai_api.completion_request import CompletionRequest
from conversations.providers.openai_api.provider_connection import Timeouts
from tests.support.upstream import serve_upstream

PROMPT = (PromptMessage("user", "hi there"),)
IMPATIENT = Timeouts(connect_seconds=1, first_byte_seconds=0.8, idle_seconds=0.5, total_seconds=1.2, alive_seconds=0.9)


@pytest.fixture(scope="session")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
async def client(upstream):
    client = CompletionClient(upstream.base_url, "sk-canary-1234567890")
    yield client
    await client.aclose()


@pytest.fixture
def ask(client):
    """Return a function that asks a model of the fake provider and lists the events."""

    async def ask_model(language_model, **fields):
        request = CompletionRequest(language_model, PROMPT, **fields)
        return [event async for event in client.stream(request)]

    return ask_model
