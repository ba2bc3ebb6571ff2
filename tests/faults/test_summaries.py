"""People who ask on while a summary is being written, and a worker that is stopped in the middle of one.

A language model that fails in every other way, over many slides: tests/benchmarks/summary.py.
"""

from __future__ import annotations

import asyncio

import pytest

from conversations.models import Completion
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.services.summaries.write_next_summary import write_next_summary
from tests.support.summaries import (
    begin_summarised,
    configure,
    current_of,
    first_position,
    say,
    slide,
    state_of,
    write_all,
)
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
def let_write(settings, upstream):
    """Return a function that chooses the model that writes summaries."""
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    settings.SUMMARY_SECONDS = 600
    return lambda model: configure(settings, upstream, model)


async def test_no_request_waits_for_a_summary(let_write, settings, upstream):
    """While the model holds back the rest of a summary, people ask on, and the window slides again."""
    conversation = await in_thread(begin_summarised)
    let_write("held-20")
    number = await in_thread(slide, conversation)
    upstream.reset()
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    writing = asyncio.create_task(write_next_summary("test", client))
    await wait_until(lambda: upstream.log() and len(upstream.log()[-1]["emitted"]) == 20)
    number = await in_thread(slide, conversation, number)
    assert not await write_next_summary("another", client)  # never two at once for one conversation
    assert not writing.done()
    upstream.release()
    await writing
    state = await in_thread(state_of, conversation)
    current = await in_thread(current_of, conversation)
    assert current is not None
    assert state.due_at is not None  # the window has moved on meanwhile
    assert current.covers_before < await in_thread(first_position, conversation)
    await in_thread(say, conversation, number)
    await client.aclose()


async def test_one_that_is_stopped_in_the_middle_is_written_again(let_write, settings, upstream):
    conversation = await in_thread(begin_summarised)
    let_write("held-20")
    await in_thread(slide, conversation)
    upstream.reset()
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    writing = asyncio.create_task(write_next_summary("test", client))
    await wait_until(lambda: upstream.log() and len(upstream.log()[-1]["emitted"]) == 20)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await client.aclose()
    let_write("words-30")
    assert await write_all(settings) == 1
    state = await in_thread(state_of, conversation)
    assert (state.error_code, (await in_thread(current_of, conversation)).number) == ("", 1)
    await in_thread(no_row_is_open)


def no_row_is_open():
    assert Completion.objects.filter(purpose=Purpose.SUMMARY).count() == 2
    assert not Completion.objects.filter(ended_at=None, purpose=Purpose.SUMMARY).exists()
