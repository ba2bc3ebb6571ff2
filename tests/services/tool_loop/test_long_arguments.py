"""A call whose arguments are many thousands of characters, through a whole reply: run, stored whole, sent truncated."""

from __future__ import annotations

import json

import pytest

from conversations.core.window.truncation import TRUNCATION_MARK
from conversations.core.window.window_record import WindowRecord
from conversations.models import Completion
from conversations.providers.catalog.language_models import language_models
from conversations.providers.tokens.tokenizer import count_prompt
from conversations.selectors.conversations.sent_request import sent_request
from tests.support.waiting import in_thread

from .tools import NotedTool

# Three digits are a token. 16,384 tokens less 4,096 for the reply are left: the first fits whole, the second does not.
WHOLE, TOO_LONG = 20_000, 40_000


@pytest.mark.parametrize("digits", [WHOLE, TOO_LONG])
async def test_long_arguments_are_run_and_stored_whole_and_sent_as_far_as_they_fit(talk_to, digits):
    talk = await talk_to(f"tools-long-{digits}")
    first = await talk.ask("Look around.", tool := NotedTool())
    assert (first.state, first.error_params, first.content) == ("complete", {}, "That is what the tools say.")

    [ran] = tool.ran
    assert len(json.loads(ran)["x"]) == digits
    [row] = await talk.calls()
    assert (row.state, row.arguments) == ("succeeded", ran)
    assert (await talk.path())[1].tool_calls[0]["function"]["arguments"] == ran

    sent = talk.prompts()[1][1]["tool_calls"][0]["function"]["arguments"]
    if digits == WHOLE:
        assert sent == ran
    else:
        told = json.loads(sent)["truncated"]
        begin = told.removesuffix(f" {TRUNCATION_MARK}")
        assert told != begin
        assert ran.startswith(begin)
        assert len(begin) > TOO_LONG // 4


@pytest.mark.parametrize("digits", [WHOLE, TOO_LONG])
async def test_no_request_after_long_arguments_is_above_the_ceiling_or_other_than_its_record(talk_to, digits):
    talk = await talk_to(f"tools-long-{digits}")
    for question in ("Look around.", "And again?"):
        reply = await talk.ask(question, NotedTool())
        assert reply.state == "complete"

    language_model = language_models()[f"tools-long-{digits}"].language_model
    completions = await in_thread(list, Completion.objects.select_related("system_prompt", "tool_schemas"))
    assert len(completions) == 4
    for completion in completions:
        record, rebuilt = WindowRecord.from_json(completion.window), await in_thread(sent_request, completion)
        counted = count_prompt(rebuilt.prompt, language_model=language_model, tools=rebuilt.body["tools"])
        assert rebuilt.is_exact
        assert record.prompt_tokens == counted
        assert counted + record.reply_reserve_tokens <= language_model.context_window_tokens
