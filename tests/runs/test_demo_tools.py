"""The demo model and the built-in tools, through everything that lies between them."""

from __future__ import annotations

import pytest

from conversations.models import Completion, ToolCall
from tests.support.waiting import in_thread

from .answered_talk import answered

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick(settings):
    settings.DEMO_TOKENS_PER_SECOND = 0


async def test_two_questions_are_answered_by_two_tools(worker):
    reply = await answered("What time is it? And what is 17 × 23?")
    assert (reply.state, reply.position) == ("complete", 4)
    assert "**17 \\* 23 = 391**" in reply.content
    assert "The clock says" in reply.content
    assert await in_thread(lambda: set(ToolCall.objects.values_list("tool", "state"))) == {
        ("current_time", "succeeded"),
        ("calculator", "succeeded"),
    }


async def test_each_step_is_a_row_of_the_ledger(worker):
    reply = await answered("What is 17 × 23?")
    rows = await in_thread(lambda: list(Completion.objects.order_by("pk").values_list("reply", "purpose", "step")))
    assert rows == [(reply.pk, "tool_step", 1), (reply.pk, "reply", 2)]


async def test_it_finds_what_was_said(worker):
    reply = await answered("The invoice of the lamp shop is due on Monday.", "What did I say about the invoice?")
    assert reply.state == "complete"
    assert "> The invoice of the lamp shop is due on Monday." in reply.content


async def test_it_says_what_is_wrong_with_a_sum(worker):
    reply = await answered("What is 1 / 0?")
    assert "came to nothing" in reply.content


async def test_a_chinese_question_is_answered_in_chinese(worker):
    reply = await answered("17 乘以 23 等于多少？")
    assert "391" in reply.content
    assert "计算器" in reply.content
