from __future__ import annotations

import pytest

from conversations.core.errors import ContextTooLong
from conversations.models import Calibration
from conversations.services.replies.prepare_reply import prepare_reply, prepare_tighter
from tests.support.people import begin, make_user, post

pytestmark = pytest.mark.django_db
LIE = "maximum context length is 1,024 tokens"
REFUSAL = ContextTooLong(limit_tokens=1_024, detail=f"Invalid value: '{LIE}'")


@pytest.fixture
def conversation(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "qwen context_window=8192 reply_reserve=1000"
    return begin(make_user("alice"))


def refuse(conversation, content="Hello"):
    """Prepare a reply to *content*, which the provider refuses though it is short: nothing smaller is left to send."""
    prepared = prepare_reply(post(conversation, content).reply.pk)
    with pytest.raises(ContextTooLong):
        prepare_tighter(prepared, REFUSAL)


def test_a_limit_in_a_refusal_is_learned_for_everybody(conversation):
    refuse(conversation)
    assert Calibration.objects.get().limit_tokens == 1_024


@pytest.mark.parametrize("sampling", [{LIE: 1}, {"response_format": {"type": LIE}}, {"stop": ["a", LIE.upper()]}])
def test_a_limit_that_a_refusal_may_quote_from_the_sampling_is_not_learned(conversation, sampling):
    conversation.scenario.sampling = sampling
    conversation.scenario.save()
    refuse(conversation)
    assert not Calibration.objects.exists()


def test_a_limit_that_a_refusal_may_quote_from_a_message_is_not_learned(conversation):
    refuse(conversation, f"It said: {LIE}")
    assert not Calibration.objects.exists()
