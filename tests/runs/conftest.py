from __future__ import annotations

import io
import json
import logging

import pytest

from chatsite.configuration.logs import line_formatter
from conversations.runs.worker import Worker
from tests.support.upstream import serve_upstream


@pytest.fixture(scope="session")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
def provider(settings, upstream):
    """Return a function that configures the fake provider with one language model, named after its fault."""
    upstream.reset()
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = upstream.base_url, "sk-canary-1234567890"
    settings.OPENAI_TIMEOUT_SECONDS = settings.TOOL_SECONDS = settings.TOOL_CALL_SECONDS = 600  # what is held is held

    def use(model: str) -> None:
        settings.LANGUAGE_MODELS = (
            f"{model} context_window=4096 encoding=o200k_base input_usd=1 output_usd=2 cached_input_usd=0.5"
        )

    return use


@pytest.fixture
def log_lines():
    """A function that returns the lines of the site's log with an event, with the ids of what they are about."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(line_formatter(log_format="json"))
    logger = logging.getLogger("conversations")
    logger.addHandler(handler)
    yield lambda event: [line for line in map(json.loads, written.getvalue().splitlines()) if event in line["event"]]
    logger.removeHandler(handler)


@pytest.fixture
async def worker(transactional_db):
    worker = Worker()
    await worker.start()
    yield worker
    await worker.drain(timeout_seconds=0)
