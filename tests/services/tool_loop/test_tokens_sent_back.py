"""What kept reasoning takes in the next prompt: a provider's report is believed only as far as it can be true."""

from __future__ import annotations

import pytest

from conversations.core.errors import KeptReasoningTooLong
from conversations.core.money.usage import Usage
from conversations.providers.openai_api.completion_stream import CompletionEnd
from conversations.services.language_models.model_context import named_model_context
from conversations.services.replies.step_progress import StepProgress

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _model(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "m context_window=8192 encoding=o200k_base wire=responses"


def tokens_of(items, *, reported):
    model = named_model_context("m")
    usage = Usage(5, reported + 3, reasoning_tokens=reported)
    end = CompletionEnd("tool_calls", usage, "", "m", kept={"items": items})
    return StepProgress(model=model, end=end).kept_reasoning().tokens


def reasoning(**fields):
    return {"type": "reasoning", "id": "r", "summary": [], **fields}


def test_a_report_of_encrypted_reasoning_is_believed():
    assert tokens_of([reasoning(encrypted_content="gAAA" * 2_000)], reported=1_500) == 1_500


def test_more_encrypted_text_than_a_report_can_mean_is_counted():
    assert tokens_of([reasoning(encrypted_content="gAAA" * 200_000)], reported=1) >= 12_500


def test_text_that_is_not_encrypted_is_counted_whatever_is_reported():
    said = [{"type": "reasoning_text", "text": "one two three four " * 1_000}]
    assert tokens_of([reasoning(content=said)], reported=1) > 4_000
    assert tokens_of([reasoning(content=said, encrypted_content="gAAA")], reported=1) > 4_000


def test_many_small_items_are_counted():
    assert tokens_of([reasoning(encrypted_content="x")] * 1_000, reported=1) > 10_000


def test_more_than_is_kept_ends_the_step():
    with pytest.raises(KeptReasoningTooLong):
        tokens_of([reasoning(encrypted_content="gAAA" * 300_000)], reported=100_000)
