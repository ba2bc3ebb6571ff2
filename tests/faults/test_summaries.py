"""A language model that fails in every way while it writes summaries: no word is lost, no request waits, no cent more.

The window slides a few dozen times; `make soak` lets it slide a thousand times.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest

from conversations.models import Completion, Spending, Summary
from conversations.models.completion import Purpose
from conversations.providers.clients.completions import CompletionClient
from conversations.services.recall.index_messages import index_conversation
from conversations.services.summaries import store_summary
from conversations.services.summaries.claim_summary import MOST_ATTEMPTS
from conversations.services.summaries.write_next_summary import write_next_summary
from tests.support.message_index import recounted, stored
from tests.support.summaries import begin_summarised, configure, first_position, say, slide, state_of, write_all
from tests.support.upstream import serve_upstream
from tests.support.waiting import in_thread, wait_until

from .conftest import ROUNDS

pytestmark = pytest.mark.django_db(transaction=True)
SLIDES_OF_EACH = 3 if ROUNDS == 1 else 112
# Model → what the state says after it, and whether another attempt may help.
FAULTS = {
    "words-30": ("", 1),
    "status-500": ("provider_unavailable", MOST_ATTEMPTS),
    "role-only": ("written_summary_empty", MOST_ATTEMPTS),
    "tokens-100000": ("written_summary_too_long", MOST_ATTEMPTS),
    "chinese": ("written_summary_foreign", MOST_ATTEMPTS),
    "endless-100": ("provider_timed_out", MOST_ATTEMPTS),
    "cut-after-5": ("stream_broken", MOST_ATTEMPTS),
    "eof-after-5": ("stream_broken", MOST_ATTEMPTS),
    "length": ("written_summary_cut_off", MOST_ATTEMPTS),
}
DOLLARS_A_TOKEN = Decimal("0.000001")


@pytest.fixture(scope="module")
def upstream():
    with serve_upstream() as running:
        yield running


@pytest.fixture
def patient(settings, upstream, monkeypatch):
    """Return a function that chooses who writes summaries. Between attempts nothing is waited for."""
    monkeypatch.setattr(store_summary, "PAUSES_SECONDS", (0.0, 0.0))
    settings.MESSAGES_PER_MINUTE = settings.REPLIES_PER_USER = 0
    settings.SUMMARY_SECONDS = 600

    def use(model):
        configure(settings, upstream, model, *(each for each in (*FAULTS, "held-20") if each != model))

    use("words-30")
    return use


async def test_whatever_the_model_does_nothing_is_lost_delayed_or_paid_twice(patient, settings):
    conversation = await in_thread(begin_summarised)
    number, attempts = 0, 0
    for _ in range(SLIDES_OF_EACH):
        for model, (error_code, most_attempts) in FAULTS.items():
            patient(model)
            settings.SUMMARY_SECONDS = 0.3 if model.startswith("endless") else 600
            number = await in_thread(slide, conversation, number)
            before = (await in_thread(state_of, conversation)).current
            made = await write_all(settings)
            attempts += made
            state = await in_thread(state_of, conversation)
            assert made <= most_attempts
            assert (state.due_at, state.worker, state.error_code) == (None, "", error_code)
            assert (state.current != before) == (error_code == "")
    await in_thread(everything_is_accounted_for, conversation, attempts)


def everything_is_accounted_for(conversation, attempts):
    index_conversation(conversation.pk)
    assert stored(conversation) == recounted(conversation)
    rows = Completion.objects.filter(purpose=Purpose.SUMMARY)
    assert rows.count() == attempts
    assert not rows.filter(ended_at=None).exists()
    for row in rows:
        assert row.cost_usd <= row.reserved_usd
        assert row.reserved_usd <= DOLLARS_A_TOKEN * (row.estimated_input_tokens + 2 + 2 * 4_096)
    assert not Spending.objects.exclude(reserved_usd=0).exists()
    assert Summary.objects.filter(conversation=conversation).count() == min(SLIDES_OF_EACH, store_summary.MOST_VERSIONS)


async def test_no_request_waits_for_a_summary(patient, settings, upstream):
    """While the model holds back the rest of a summary, people ask on, and the window slides again."""
    conversation = await in_thread(begin_summarised)
    patient("held-20")
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
    assert state.current is not None
    assert state.due_at is not None  # the window has moved on meanwhile
    assert state.current.covers_before < await in_thread(first_position, conversation)
    await in_thread(say, conversation, number)
    await client.aclose()


async def test_one_that_is_stopped_in_the_middle_is_written_again(patient, settings, upstream):
    conversation = await in_thread(begin_summarised)
    patient("held-20")
    await in_thread(slide, conversation)
    upstream.reset()
    client = CompletionClient(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
    writing = asyncio.create_task(write_next_summary("test", client))
    await wait_until(lambda: upstream.log() and len(upstream.log()[-1]["emitted"]) == 20)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await client.aclose()
    patient("words-30")
    assert await write_all(settings) == 1
    state = await in_thread(state_of, conversation)
    assert (state.error_code, state.current.number) == ("", 1)
    await in_thread(no_row_is_open)


def no_row_is_open():
    assert Completion.objects.filter(purpose=Purpose.SUMMARY).count() == 2
    assert not Completion.objects.filter(ended_at=None, purpose=Purpose.SUMMARY).exists()
