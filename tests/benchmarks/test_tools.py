"""The benchmark `tools` measures what it says: windows with tool turns in them, and windows that leave them out."""

from __future__ import annotations

import pytest

from conversations.models import Message
from tests.benchmarks.tools import RESULTS, report


@pytest.fixture
def conversation(db, settings):
    from tests.benchmarks._long_conversations import make_long_conversation

    settings.LANGUAGE_MODELS = "fake context_window=8192 reply_reserve=1024 encoding=o200k_base"
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    return make_long_conversation(60)


def with_results(conversation, result):
    from tests.benchmarks._tool_turns import call_tools

    call_tools(conversation, result)
    return conversation.window()


def test_every_second_reply_has_called_a_tool(conversation):
    with_results(conversation, "It is noon.")
    calls = Message.objects.exclude(tool_calls=[]).values_list("position", flat=True)
    results = Message.objects.filter(role="tool").values_list("position", flat=True)
    assert [position - 1 for position in results] == list(calls) == list(range(3, 60, 6))


def test_small_results_are_in_the_window_and_large_ones_are_left_out(conversation):
    small, large = (with_results(conversation, result) for result in RESULTS.values())
    assert any(message.role == "tool" for message in small.prompt)
    assert not any(message.role == "tool" for message in large.prompt)
    assert "oversized" in {out.reason for out in large.record.left_out}


def test_the_report_says_what_was_missed(capsys):
    row = {"window_us": 100.0, "to_plain": 3.0, "older_messages": 5}
    schemas = {"tools": 500, "tokens": 9, "first_ms": 1.0, "again_ms": 30.0}
    report({"messages": 10, "rounds": 1, "windows": {"plain": row}, "schemas": schemas})
    assert capsys.readouterr().out.count("missed") == 2
